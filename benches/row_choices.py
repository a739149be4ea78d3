"""The measurements behind the row codec's choices: ``python benches/row_choices.py lock|tuning``.

``lock``: what releasing the interpreter lock costs, by values just below and above the size from which it is released.
``tuning``: zstd level 3 with the tables and shortest match that ypress sets, against level 3 as it is.
Figures are processor time, the least of interleaved rounds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import zstandard

import ypress
from measuring import each, least
from values import notebook, value_sets

DETACH_FROM = 4096
# As in src/codec/zstd.rs.
TUNINGS: dict[str, tuple[int, dict[str, int]]] = {
    "500 B": (500, {"strategy": zstandard.STRATEGY_FAST, "min_match": 4}),
    "17 KB": (17_000, {"hash_log": 14, "chain_log": 13}),
    "100 KB": (100_000, {"hash_log": 15, "chain_log": 14, "min_match": 6}),
    "300 KB": (300_000, {"hash_log": 15, "chain_log": 14, "min_match": 7}),
    "1 MB": (1_000_000, {"hash_log": 15, "chain_log": 14, "min_match": 7}),
}


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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("lock", "tuning"))
    parser.add_argument("--rounds", type=int, default=25)
    arguments = parser.parse_args()
    {"lock": lock, "tuning": tuning}[arguments.what](arguments.rounds)


if __name__ == "__main__":
    main()
