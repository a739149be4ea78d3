"""Many threads on the same callables; buffers that change while they are read."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import ypress

THREADS = 64


def together(work: Callable[[int], int]) -> list[int]:
    """Run it in so many threads, all of which begin at the same moment."""
    begin = threading.Barrier(THREADS)

    def one(number: int) -> int:
        begin.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def test_64_threads_on_the_same_callables(long_rounds: bool) -> None:
    """Contexts are kept per thread; one that two threads used would mix up what they compress."""
    codecs = [("zstd", -7), ("zstd", 1), ("zstd", 3), ("zstd", 9), ("lz4", None), ("brotli", 2), ("brotli", 5)]
    pairs = [ypress.callbacks(codec, level) for codec, level in codecs]
    rounds = 400 if long_rounds else 40

    def work(seed: int) -> int:
        numbers = random.Random(seed)
        for _ in range(rounds):
            size = numbers.choice([10, 100, 1000, 5000, 50_000, 1_500_000 if seed == 0 else 20_000])
            raw = bytes(numbers.choices(b"abcdef ", k=min(size, 5000))) * max(1, size // 5000)
            compress, decompress = numbers.choice(pairs)
            assert compress is not None
            assert decompress is not None
            stored = compress(raw)
            assert decompress(stored) == raw
            assert ypress.row_info(stored).raw_size == len(raw)
            # A refused value leaves the thread's context in order.
            broken = bytearray(stored)
            broken[-1] ^= 1
            if len(stored) < len(raw):
                with pytest.raises(ypress.CorruptData):
                    decompress(bytes(broken))
                assert decompress(stored) == raw
        return rounds

    assert together(work) == [rounds] * THREADS


def test_64_threads_compress_as_one_does() -> None:
    """The same bytes come out, whatever was compressed in the thread before."""
    numbers = random.Random(5)
    values = [bytes(numbers.choices(b"abcdef \n", k=size)) for size in (64, 200, 1500, 5000, 17_000, 70_000)]
    codecs = [("zstd", 3), ("zstd", 19), ("lz4", None), ("brotli", 4)]
    pairs = [(codec, value) for codec in codecs for value in values]
    alone = [ypress.compress(value, *codec) for codec, value in pairs]

    def work(seed: int) -> int:
        order = random.Random(seed).sample(range(len(pairs)), len(pairs))
        return sum(ypress.compress(pairs[at][1], *pairs[at][0]) == alone[at] for at in order)

    assert together(work) == [len(pairs)] * THREADS


def test_64_threads_pack_and_unpack() -> None:
    def history(seed: int) -> list[tuple[bytes, bytes | None, float]]:
        numbers = random.Random(seed)
        return [
            (
                bytes([1, 1, seed % 100, number % 128, 0x84, seed % 100, number % 128, 1, 97 + number % 26, 0])
                if number % 9
                else numbers.randbytes(numbers.randrange(400)),
                None if number % 5 == 0 else b"m",
                1.7e9 + number / 8,
            )
            for number in range(numbers.randrange(50, 400))
        ]

    shared = history(1000)
    blob = ypress.pack(shared)

    def work(seed: int) -> int:
        own = history(seed)
        for level in (1, 1, 12):
            packed = ypress.pack(own, level=level)
            assert list(ypress.unpack(packed)) == own
            assert ypress.segment_info(packed).updates == len(own)
            assert ypress.pack(shared) == blob
            assert list(ypress.unpack(blob)) == shared
            with pytest.raises(ypress.Error):
                ypress.unpack(packed[:-1])
        return 1

    assert sum(together(work)) == THREADS


def test_an_iterator_that_threads_share() -> None:
    """Each record comes to one of them; none is lost, and nothing worse than a refusal happens."""
    records = [(number.to_bytes(4, "big") * 3, b"m", 1.7e9 + number) for number in range(20_000)]
    iterator = ypress.unpack(ypress.pack(records))

    def work(_: int) -> int:
        taken = 0
        while True:
            try:
                update, metadata, timestamp = next(iterator)
            except StopIteration:
                return taken
            except RuntimeError:
                continue  # without the interpreter lock, two threads may meet in it
            assert (update, metadata) == (int(timestamp - 1.7e9).to_bytes(4, "big") * 3, b"m")
            taken += 1

    assert sum(together(work)) == len(records)


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


AT_THE_END = """
import sys, ypress
class Kept:
    def __del__(self, d=ypress.decompress, value=ypress.compress(b"abc" * 100), write=sys.stderr.write):
        assert d(value) == b"abc" * 100
        try:
            d(5)
        except TypeError:
            write("done")
sys.kept = Kept()
"""

SUB_INTERPRETER = """
import _xxsubinterpreters
_xxsubinterpreters.run_string(_xxsubinterpreters.create(), '''
import sys, ypress
assert ypress.decompress(ypress.compress(b"abc" * 100)) == b"abc" * 100
sys.stderr.write("done")
''')
"""
_SHARED = pytest.mark.skipif(sys.version_info >= (3, 12), reason="sub-interpreters have a lock of their own")


@pytest.mark.parametrize("code", [AT_THE_END, pytest.param(SUB_INTERPRETER, marks=_SHARED)], ids=["end", "sub"])
def test_decompress_wherever_python_runs(code: str) -> None:
    """It must not attach to the interpreter itself: that aborts at its end, and waits for ever in another one."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert (run.returncode, run.stderr) == (0, "done")
