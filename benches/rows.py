"""The row codec against its peers, value by value: ``python benches/rows.py [--json] [--rounds N]``.

Figures are processor time, so that other work on the machine counts as little as possible, in interleaved short rounds
over the same values: microseconds are medians, ratios are medians of the ratios within a round. Peers that are not
installed are left out. ``(reused)`` keeps a context between calls, as careful callers do; without it, the module's
one-call functions are meant, which is what gets registered as callbacks.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import operator
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from pycrdt import Array, Doc, Map, Text

import ypress

Call = Callable[[bytes], Any]
WORDS = "the of and to in is for on that with import numpy print return def class self data frame plot value".split()  # noqa: SIM905


def keystrokes(count: int, seed: int = 1) -> list[bytes]:
    """Updates of somebody typing: about 26 to 40 bytes each."""
    numbers = random.Random(seed)
    doc: Doc[Any] = Doc(client_id=numbers.randrange(1 << 31))
    doc["source"] = text = Text()
    updates: list[bytes] = []
    doc.observe(lambda event: updates.append(event.update))
    while len(updates) < count:
        for letter in numbers.choice(WORDS) + " ":
            text.insert(len(text), letter)
    return updates[:count]


def notebook(size: int, seed: int = 1) -> bytes:
    """The state of a notebook with outputs, of about this many bytes."""
    numbers = random.Random(seed)
    doc: Doc[Any] = Doc(client_id=numbers.randrange(1 << 31))
    doc["cells"] = cells = Array()
    written = 0
    while written < size:
        lines = [
            f"x{numbers.randrange(50)} = {numbers.choice(WORDS)}({numbers.randrange(1000)}, '{numbers.choice(WORDS)}')"
            for _ in range(8)
        ]
        table = "\n".join(f"{row:4} {numbers.random():.6f} {numbers.choice(WORDS)}" for row in range(30))
        output = Map({"output_type": "stream", "name": "stdout", "text": table})
        cell = {"id": f"{numbers.getrandbits(32):08x}", "cell_type": "code", "source": Text("\n".join(lines))}
        cells.append(Map({**cell, "outputs": Array([output]), "metadata": Map({})}))
        written += len(table) + sum(map(len, lines)) + 150
    return doc.get_update()


def value_sets() -> dict[str, list[bytes]]:
    """The values by size; the last set is a stream as a store sees it."""
    small = [update for update in keystrokes(1200) if len(update) < 64]
    return {
        "below 64 B": small,
        "64 B to 1 KB": [notebook(200, seed)[: 80 + 19 * seed] for seed in range(48)],
        "17 KB": [notebook(16_000, seed) for seed in range(6)],
        "1 MB": [notebook(1_000_000)],
        "mixed stream": [
            *small[:600],
            *(notebook(300, seed) for seed in range(30)),
            notebook(40_000),
            notebook(200_000),
        ],
    }


def peers() -> dict[str, dict[str, tuple[Call, Call]]]:
    """Pairs of compress and decompress, by method and name."""
    found: dict[str, dict[str, tuple[Call, Call]]] = {}
    for codec, level in (("zstd", 3), ("lz4", None), ("brotli", 4)):
        compress, decompress = ypress.callbacks(codec, level)
        assert compress is not None
        assert decompress is not None
        found[codec] = {"ypress": (compress, decompress)}

    def add(codec: str, name: str, module: str, make: Callable[[Any], tuple[Call, Call]]) -> None:
        try:
            found[codec][name] = make(importlib.import_module(module))
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)

    add("zstd", "zstandard", "zstandard", lambda m: (m.compress, m.decompress))
    add(
        "zstd",
        "zstandard (reused)",
        "zstandard",
        lambda m: (m.ZstdCompressor(level=3).compress, m.ZstdDecompressor().decompress),
    )
    add("zstd", "backports.zstd", "backports.zstd", lambda m: (partial(m.compress, level=3), m.decompress))
    add("zstd", "cramjam", "cramjam", lambda m: (partial(m.zstd.compress, level=3), m.zstd.decompress))
    add("zstd", "numcodecs", "numcodecs.zstd", lambda m: (m.Zstd(level=3).encode, m.Zstd().decode))
    add("lz4", "lz4.block", "lz4.block", lambda m: (m.compress, m.decompress))
    add("lz4", "numcodecs", "numcodecs.lz4", lambda m: (m.LZ4().encode, m.LZ4().decode))
    add("lz4", "cramjam", "cramjam", lambda m: (m.lz4.compress_block, m.lz4.decompress_block))
    add("brotli", "brotli", "brotli", lambda m: (partial(m.compress, quality=4), m.decompress))
    add("brotli", "cramjam", "cramjam", lambda m: (partial(m.brotli.compress, level=4), m.brotli.decompress))
    return found


def medians(
    calls: dict[str, tuple[Call, list[bytes]]], rounds: int, seconds: float = 0.004
) -> dict[str, tuple[float, float]]:
    """Microseconds a value for each call over its values, and how many times as long as ypress took."""
    repeats, times = {}, {name: list[float]() for name in calls}
    for name, (call, values) in calls.items():
        start = time.process_time()
        for value in values:
            call(value)
        repeats[name] = max(1, round(seconds / max(1e-6, time.process_time() - start)))
    for _ in range(rounds):
        for name, (call, values) in calls.items():
            start = time.process_time()
            for _ in range(repeats[name]):
                for value in values:
                    call(value)
            times[name].append((time.process_time() - start) / repeats[name] / len(values))
    own = times["ypress"]
    return {
        name: (statistics.median(found) * 1e6, statistics.median(map(operator.truediv, found, own)))
        for name, found in times.items()
    }


def measure(rounds: int) -> list[dict[str, Any]]:
    """One entry for each set, method and peer."""
    results = []
    for set_name, values in value_sets().items():
        for codec, pairs in peers().items():
            stored = {name: [bytes(compress(value)) for value in values] for name, (compress, _) in pairs.items()}
            packing = medians({name: (compress, values) for name, (compress, _) in pairs.items()}, rounds)
            opening = medians({name: (pair[1], stored[name]) for name, pair in pairs.items()}, rounds)
            for name in pairs:
                results.append(
                    {
                        "values": set_name,
                        "codec": codec,
                        "name": name,
                        "compress_us": packing[name][0],
                        "decompress_us": opening[name][0],
                        "compress_ratio": packing[name][1],
                        "decompress_ratio": opening[name][1],
                        "size": sum(map(len, stored[name])) / sum(map(len, values)),
                    }
                )
    return results


def thresholds() -> None:
    """What values of few bytes would gain, tried with the packages whose formats our frames hold: for SMALLEST."""
    import brotli
    import lz4.block
    import zstandard

    import sessions

    parameters = zstandard.ZstdCompressionParameters.from_level(
        3, format=zstandard.FORMAT_ZSTD1_MAGICLESS, write_content_size=False
    )
    zstd = zstandard.ZstdCompressor(compression_params=parameters)
    tries: dict[str, Call] = {
        "zstd": zstd.compress,
        "lz4": partial(lz4.block.compress, store_size=False),
        "brotli": partial(brotli.compress, quality=4),
    }
    small = {
        "keystrokes": {"documents": 3, "edits": 3000},
        "notebooks": {"documents": 3, "cells": 40},
        "streams": {"prints": 300, "saves": 3, "lines": 80},
    }
    updates = [row[1] for kind, sizes in small.items() for row in sessions.KINDS[kind](1, **sizes)]
    print("| bytes | updates | " + " | ".join(f"{name} gains in | bytes saved" for name in tries) + " |")
    print("|---|---:|" + "---:|" * 2 * len(tries))
    for low, high in ((16, 32), (32, 48), (48, 64), (64, 80), (80, 96), (96, 128), (128, 256)):
        values = [value for value in updates if low <= len(value) < high]
        cells = []
        for call in tries.values():
            # A tag of two bytes, a length of one or two, a check of four.
            saved = [len(value) - len(call(value)) - (7 if len(value) < 128 else 8) for value in values]
            gained = [number for number in saved if number > 0]
            share = 100 * len(gained) / max(1, len(values))
            cells.append(f"{share:.1f} % | {100 * sum(gained) / max(1, sum(map(len, values))):.1f} %")
        print(f"| {low} to {high - 1} | {len(values)} | " + " | ".join(cells) + " |")


def versions() -> dict[str, str]:
    """What took part."""
    found = {"python": platform.python_version(), "machine": f"{platform.machine()}, {platform.system()}"}
    for name in ("ypress", "zstandard", "backports.zstd", "lz4", "brotli", "cramjam", "numcodecs"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--thresholds", action="store_true", help="print what small values gain, and nothing else")
    arguments = parser.parse_args()
    if arguments.thresholds:
        thresholds()
        return
    results = measure(arguments.rounds)
    if arguments.json:
        print(json.dumps({"versions": versions(), "results": results}, indent=1))
        return
    print(", ".join(f"{name} {version}" for name, version in versions().items()))
    print("times: how many times as long as ypress takes; size: share of the raw bytes\n")
    print("| values | method | by | compress µs | times | decompress µs | times | size |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for row in results:
        print(
            f"| {row['values']} | {row['codec']} | {row['name']} | {row['compress_us']:.2f} | "
            f"{row['compress_ratio']:.2f} | {row['decompress_us']:.2f} | {row['decompress_ratio']:.2f} | "
            f"{row['size']:.3f} |"
        )


if __name__ == "__main__":
    main()
