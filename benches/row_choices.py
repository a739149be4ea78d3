"""The measurements behind the row codec's choices: ``python benches/row_choices.py lock|tuning|limit``.

``lock``: what releasing the interpreter lock costs, by values just below and above the size from which it is released.
``tuning``: zstd level 3 with the tables and shortest match that ypress sets, against level 3 as it is.
``limit``: how long the peer takes for the very payloads that ypress made. It includes the peer's own
call, so a reader by the same library can be a little faster than that, not much.
Figures are processor time, the least of interleaved rounds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import lz4.block
import zstandard
from rows import notebook, value_sets

import ypress

DETACH_FROM = 4096
# As in src/codec/zstd.rs.
TUNINGS: dict[str, tuple[int, dict[str, int]]] = {
    "500 B": (500, {"strategy": zstandard.STRATEGY_FAST, "min_match": 4}),
    "17 KB": (17_000, {"hash_log": 14, "chain_log": 13}),
    "100 KB": (100_000, {"hash_log": 15, "chain_log": 14, "min_match": 6}),
    "300 KB": (300_000, {"hash_log": 15, "chain_log": 14, "min_match": 7}),
    "1 MB": (1_000_000, {"hash_log": 15, "chain_log": 14, "min_match": 7}),
}


def least(calls: dict[str, Callable[[], object]], rounds: int, seconds: float = 0.005) -> dict[str, float]:
    """Microseconds of each call."""
    repeats: dict[str, int] = {}
    for name, call in calls.items():
        start = time.process_time()
        call()
        repeats[name] = max(1, round(seconds / max(1e-7, time.process_time() - start)))
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(repeats[name]):
                call()
            found[name] = min(found[name], (time.process_time() - start) / repeats[name] * 1e6)
    return found


def each(call: Callable[[bytes], object], values: list[bytes]) -> Callable[[], object]:
    """All values, one after the other."""

    def run() -> None:
        for value in values:
            call(value)

    return run


def lock(rounds: int) -> None:
    """One byte more: the same work, and the lock handed over."""
    print("| method | | µs below | µs above | difference |")
    print("|---|---|---:|---:|---:|")
    text = notebook(DETACH_FROM + 2000)[500:]
    below, above = text[: DETACH_FROM - 1], text[:DETACH_FROM]
    # Not lz4: it searches in another way from this very size on.
    compress, decompress = ypress.callbacks("zstd")
    assert compress is not None
    assert decompress is not None
    for what, call, pair in (
        ("compress", compress, (below, above)),
        ("decompress", decompress, (compress(below), compress(above))),
    ):
        found = least({"below": partial(call, pair[0]), "above": partial(call, pair[1])}, rounds)
        difference = found["above"] - found["below"]
        print(f"| zstd | {what} | {found['below']:.2f} | {found['above']:.2f} | {difference:.2f} |")


def tuning(rounds: int) -> None:
    """python-zstandard with both settings, in our frames' format."""
    opener = zstandard.ZstdDecompressor(format=zstandard.FORMAT_ZSTD1_MAGICLESS)
    print("| values | size | compress, times as fast | decompress, times as fast |")
    print("|---|---:|---:|---:|")
    for name, (size, settings) in TUNINGS.items():
        values = [notebook(size, seed) for seed in range(4)] if size >= 4096 else value_sets()["64 B to 1 KB"]
        packing: dict[str, Callable[[], object]] = {}
        opening: dict[str, Callable[[], object]] = {}
        sizes: dict[str, int] = {}
        for kind, chosen in (("plain", dict[str, int]()), ("tuned", settings)):
            parameters = zstandard.ZstdCompressionParameters.from_level(
                3,
                source_size=max(map(len, values)),
                format=zstandard.FORMAT_ZSTD1_MAGICLESS,
                write_content_size=False,
                **chosen,
            )
            compress = zstandard.ZstdCompressor(compression_params=parameters).compress
            stored = [compress(value) for value in values]
            sizes[kind] = sum(map(len, stored))
            packing[kind] = each(compress, values)
            opening[kind] = each(partial(opener.decompress, max_output_size=max(map(len, values))), stored)
        packed, opened = least(packing, rounds), least(opening, rounds)
        print(
            f"| {name} | {sizes['tuned'] / sizes['plain']:.4f} | {packed['plain'] / packed['tuned']:.2f} | "
            f"{opened['plain'] / opened['tuned']:.2f} |"
        )


def payload(frame: bytes) -> bytes:
    """What a compressed frame holds between its length and its check."""
    at = 2
    while frame[at] & 0x80:
        at += 1
    return frame[at + 1 : -4]


def limit(rounds: int) -> None:
    """The peer on its own bytes, the peer on our payloads, and ypress."""
    print("| values | method | peer µs | peer on our payload µs | ypress µs | possible | reached |")
    print("|---|---|---:|---:|---:|---:|---:|")
    magicless = zstandard.ZstdDecompressor(format=zstandard.FORMAT_ZSTD1_MAGICLESS)
    for name, values in list(value_sets().items())[2:4]:
        longest = max(map(len, values))
        for codec, pack, unpack, bare in (
            (
                "zstd",
                zstandard.ZstdCompressor(level=3).compress,
                zstandard.ZstdDecompressor().decompress,
                partial(magicless.decompress, max_output_size=longest),
            ),
            ("lz4", lz4.block.compress, lz4.block.decompress, partial(lz4.block.decompress, uncompressed_size=longest)),
        ):
            compress, decompress = ypress.callbacks(codec)
            assert compress is not None
            assert decompress is not None
            framed = [(value, frame) for value in values if len(frame := compress(value)) < len(value)]
            frames = [frame for _, frame in framed]
            calls: dict[str, Callable[[], Any]] = {
                "peer": each(unpack, [pack(value) for value, _ in framed]),
                "bare": each(bare, [payload(frame) for frame in frames]),
                "own": each(decompress, frames),
            }
            found = {kind: time / len(frames) for kind, time in least(calls, rounds).items()}
            print(
                f"| {name} | {codec} | {found['peer']:.2f} | {found['bare']:.2f} | {found['own']:.2f} | "
                f"{found['peer'] / found['bare']:.2f} | {found['peer'] / found['own']:.2f} |"
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("lock", "tuning", "limit"))
    parser.add_argument("--rounds", type=int, default=25)
    arguments = parser.parse_args()
    {"lock": lock, "tuning": tuning, "limit": limit}[arguments.what](arguments.rounds)


if __name__ == "__main__":
    main()
