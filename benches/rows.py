"""The row codec against its peers, value by value: ``python benches/rows.py [--rounds N]``.

Figures are processor time, so that other work on the machine counts as little as possible, in interleaved short rounds
over the same values: microseconds are medians, ratios are medians of the ratios within a round. Peers that are not
installed are left out. ``(kept)`` keeps a context between calls, as careful callers do; without it, the module's
one-call functions are meant, which is what gets registered as callbacks.
"""

from __future__ import annotations

import operator
import statistics
import time
from functools import partial
from typing import Any

from measuring import parser, save, say_versions
from peers import Call, peers
from values import value_sets

# Seconds that one method's peers may take for one set and direction; slow ones are then done in fewer rounds.
PATIENCE = 6.0
LEAST_ROUNDS = 3


def medians(
    calls: dict[str, tuple[Call, list[bytes]]], rounds: int, seconds: float = 0.004
) -> dict[str, tuple[float, float]]:
    """Microseconds a value for each call over its values, and how many times as long as ypress took."""
    repeats, times = {}, {name: list[float]() for name in calls}
    a_round = 0.0
    for name, (call, values) in calls.items():
        start = time.process_time()
        for value in values:
            call(value)
        once = max(1e-6, time.process_time() - start)
        repeats[name] = max(1, round(seconds / once))
        a_round += repeats[name] * once
    for _ in range(min(rounds, max(LEAST_ROUNDS, int(PATIENCE / a_round)))):
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
            for name, (compress, decompress) in pairs.items():
                assert all(bytes(decompress(compress(value))) == value for value in values[:50]), name
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


def main() -> None:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=25)
    options.add_argument("--thresholds", action="store_true", help="print what small values gain, and nothing else")
    arguments = options.parse_args()
    if arguments.thresholds:
        thresholds()
        return
    results = measure(LEAST_ROUNDS if arguments.quick else arguments.rounds)
    save(arguments.json, {"rows": results}, arguments.quick)
    say_versions()
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
