"""Many threads on the same callables; buffers that change while they are read."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import ypress


def test_many_threads_on_the_same_callables() -> None:
    pairs = [
        ypress.callbacks(codec, level) for codec, level in [("zstd", 1), ("zstd", 9), ("lz4", None), ("brotli", 2)]
    ]

    def work(seed: int) -> int:
        numbers = random.Random(seed)
        done = 0
        for _ in range(60):
            size = numbers.choice([10, 100, 1000, 5000, 50_000, 1_500_000 if seed == 0 else 20_000])
            raw = bytes(numbers.choices(b"abcdef ", k=min(size, 5000))) * max(1, size // 5000)
            compress, decompress = numbers.choice(pairs)
            assert compress is not None
            assert decompress is not None
            stored = compress(raw)
            assert decompress(stored) == raw
            assert decompress(stored[:-1] + bytes([stored[-1]])) == raw
            done += 1
        return done

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(16))) == 16 * 60


@pytest.mark.parametrize("size", [1000, 200_000])
def test_a_bytearray_that_another_thread_changes(size: int) -> None:
    data = bytearray(size)
    stop = threading.Event()

    def change() -> None:
        fill = 0
        while not stop.is_set():
            fill = (fill + 1) % 251
            data[:] = bytes([fill]) * size
            try:
                data.extend(b"more")
                del data[size:]
            except BufferError:
                pass  # it is being read at this moment, which is what protects it

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for number in range(300):
            stored = ypress.compress(data, ("zstd", "lz4", "brotli")[number % 3], (1, None, 0)[number % 3])
            content = ypress.decompress(stored)
            assert size <= len(content) <= size + 4
            assert len(set(content[:size])) == 1, "bytes of two moments"
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("call", [ypress.decompress, ypress.row_info])
def test_a_stored_bytearray_that_another_thread_damages(call: Callable[[bytearray], object]) -> None:
    frame = ypress.compress(b"words and words " * 3000, "lz4")
    data = bytearray(frame)
    stop = threading.Event()

    def change() -> None:
        numbers = random.Random(1)
        while not stop.is_set():
            data[numbers.randrange(len(frame))] = numbers.randrange(256)
            data[:] = frame

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(500):
            try:
                call(data)
            except ypress.Error:
                continue
    finally:
        stop.set()
        thread.join()
