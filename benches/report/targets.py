"""The targets: what they are, what was measured, and why one is missed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .markdown import megabytes, number, smaller, table, times
from .results import Results

# The longest history counts; what is measured differs by this much from run to run.
NOISE = 0.05
PACKED, NONE, STOCK = "ypress zstd", "ypress None", "stock"
MB = 1_000_000

# What was measured, in words, and whether it is enough.
Measured = tuple[str, bool]


@dataclass(frozen=True)
class Target:
    """One row.

    Args:
        what: is measured.
        against: what it is compared with.
        wanted: the target.
        measure: from the results; a KeyError where something was not run.
        why: it is missed, and what would change that; shown only then.
    """

    what: str
    against: str
    wanted: str
    measure: Callable[[Results], Measured]
    why: str = ""


def _sizes(form: str, wanted: tuple[float, ...]) -> Callable[[Results], Measured]:
    def measure(results: Results) -> Measured:
        stores = results["sizes"]["stores"]
        sizes = [stores[kind]["sizes"] for kind in ("keystrokes", "notebooks", "streams")]
        found = [size["stock"] / size[form] for size in sizes]
        return " / ".join(map(smaller, found)), all(map(float.__ge__, found, wanted))

    return measure


def _rows(peer: tuple[str, str], sets: tuple[str, ...], wanted: tuple[float, ...]) -> Callable[[Results], Measured]:
    """Of a method and a peer: compress and decompress so many times as fast, and perhaps a size at most so large."""

    def measure(results: Results) -> Measured:
        words, met = [], True
        for values in sets:
            row, own = results.row(values, *peer), results.row(values, peer[0], "ypress")
            shown = f"{times(row['compress_ratio'])}, {times(row['decompress_ratio'])}"
            met = met and row["compress_ratio"] >= wanted[0] and row["decompress_ratio"] >= wanted[1]
            if len(wanted) > 2:
                shown += f", size {own['size'] / row['size']:.3f}"
                met = met and own["size"] <= row["size"] * wanted[2]
            words.append(shown if len(sets) == 1 else f"{values}: {shown}")
        return "; ".join(words), met

    return measure


def _one_room(results: Results) -> Measured:
    stores = results["writing"]["rooms"]["1"]["stores"]
    own, stock = stores[PACKED], stores[STOCK]
    words = [f"{key[:3]} {number(own[key])} ms against {number(stock[key])}" for key in ("p50 ms", "p99 ms")]
    return "; ".join(words), all(own[key] <= stock[key] * (1 + NOISE) for key in ("p50 ms", "p99 ms"))


def _fifty_rooms(results: Results) -> Measured:
    stores = results["writing"]["rooms"]["50"]["stores"]
    own, stock = stores[PACKED], stores[STOCK]
    words = (
        f"{own['lost']:,.0f} lost, {own['updates/s']:,.0f} updates/s "
        f"(stock: {stock['lost']:,.0f} lost, {stock['updates/s']:,.0f})"
    )
    return words, own["lost"] == 0 and own["updates/s"] >= 5000


def _history(what: str) -> Callable[[Results], Measured]:
    def measure(results: Results) -> Measured:
        found = results["history"][what][str(results["history"]["updates"])]
        own = {name: found[name]["ms"] for name in (PACKED, NONE)}
        stock = found[STOCK]["ms"]
        words = f"{results['history']['updates']:,} updates: "
        words += ", ".join(f"{name} {number(ms)} ms" for name, ms in own.items()) + f"; stock {number(stock)} ms"
        if what == "read":
            words += f"; memory {megabytes(found[PACKED]['memory'])}, stock {megabytes(found[STOCK]['memory'])}"
        return words, all(ms <= stock * (1 + NOISE) for ms in own.values())

    return measure


def _compress(results: Results) -> Measured:
    found = results["rewriting"]["speed"]["compress"]
    memory = found["memory"]
    met = found["MB/s"] >= 30 and (memory is None or memory < 300 * MB)
    return f"{number(found['MB/s'])} MB/s of {megabytes(found['before'])}, {megabytes(memory)} of memory", met


def _felt(results: Results) -> Measured:
    found = results["rewriting"]["waits"]
    p99 = {what: found[what]["p99 ms"] for what in ("compress", "restore", "nothing")}
    words = ", ".join(f"{what} {number(ms)} ms" for what, ms in p99.items())
    return words, p99["compress"] <= 100 and p99["restore"] <= 100


def _import(results: Results) -> Measured:
    found = results["importing"]
    numpy = "numpy" in found["loaded"]
    return f"{number(found['import_ms'])} ms, {'with' if numpy else 'no'} numpy", found["import_ms"] < 15 and not numpy


_KEPT = ("zstd", "zstandard (kept)")
_ALL = ("below 64 B", "64 B to 1 KB", "17 KB", "1 MB")
_LARGER = ("17 KB", "1 MB")
_SAME_LIBRARY = (
    "Both run in the same C library, which does the same work: the table of limits shows by how much the peer's own "
    "call can be undercut."
)

TARGETS = (
    Target(
        "file of typed text / notebooks / printing loops, after `compress`",
        "stock file",
        "at least 40x / 9x / 400x smaller",
        _sizes("ypress, rewritten", (40, 9, 400)),
        "More than half of what is left of typed text is timestamps, of which every bit is kept; short histories also "
        "pay for a page of SQLite's for each table and index. Longer histories pack better.",
    ),
    Target(
        "file of the same, after a live session without maintenance",
        "stock file",
        "at least 25x / 6x / 150x smaller",
        _sizes("ypress, in use", (25, 6, 150)),
        "In use, segments are smaller, and there is a checkpoint beside them. Short histories also pay for a page of "
        "SQLite's for each table and index.",
    ),
    Target(
        "rows, values under 64 B, both ways",
        "zstandard, one call",
        "at least 10x as fast",
        _rows(("zstd", "zstandard"), ("below 64 B",), (10, 10)),
    ),
    Target(
        "rows, values under 64 B, both ways",
        "zstandard, contexts kept",
        "at least 10x as fast",
        _rows(_KEPT, ("below 64 B",), (10, 10)),
        "Such values are not compressed, so what is left is the call itself, beside which the table of limits puts "
        "that of a C function that does nothing.",
    ),
    Target(
        "rows, larger values, zstd 3",
        "zstandard, one call",
        "compress 1.1x, decompress 1.4x as fast, same size",
        _rows(("zstd", "zstandard"), _LARGER, (1.1, 1.4, 1.01)),
        f"{_SAME_LIBRARY} What decompressing gains at 1 MB comes from how ypress compresses (smaller tables, longer "
        "matches); more of that makes the value larger.",
    ),
    Target(
        "rows, larger values, zstd 3",
        "zstandard, contexts kept",
        "compress 1.1x, decompress 1.4x as fast, same size",
        _rows(_KEPT, _LARGER, (1.1, 1.4, 1.01)),
        _SAME_LIBRARY,
    ),
    Target(
        "rows, lz4",
        "lz4.block",
        "at least 1.2x as fast both ways",
        _rows(("lz4", "lz4.block"), _ALL, (1.2, 1.2)),
        f"{_SAME_LIBRARY} Faster compressing is to be had for size: the table of accelerations.",
    ),
    Target(
        "rows, brotli 4",
        "brotli",
        "compress at least 0.7x, decompress at least 1x as fast",
        _rows(("brotli", "brotli"), _ALL, (0.7, 1.0)),
        "With values of some hundred bytes the two decoders are equally fast, within what differs from run to run.",
    ),
    Target(
        "write, one room, compression and packing on",
        "stock, no compression",
        "p50 and p99 no worse",
        _one_room,
    ),
    Target(
        "write, 50 rooms on a fresh file",
        "stock, which loses what they write",
        "none lost, at least 5,000 updates/s",
        _fifty_rooms,
    ),
    Target(
        "open a document with the longest history",
        "stock, with its checkpoint",
        "no slower",
        _history("open"),
        "Both apply a checkpoint and what follows it, which is most of the time. ypress also decompresses it, hands it "
        "from thread to thread, and takes the account of clocks by which it finds what a history lacks.",
    ),
    Target(
        "`read()` of that history",
        "stock",
        "no slower; memory bounded",
        _history("read"),
        "The stock store fetches all rows at once into memory, in an open transaction. ypress reads pages of bounded "
        "size, without one, decodes each value, and hands pages from thread to thread.",
    ),
    Target(
        "`compress` of a large store",
        "",
        "at least 30 MB/s on 2 cores, memory under 300 MB",
        _compress,
        "Packing, and unpacking again to compare, takes the time.",
    ),
    Target(
        "p99 of what writers wait meanwhile",
        "with nothing else at work",
        "at most 100 ms",
        _felt,
        "",
    ),
    Target(
        "`import ypress`",
        "the interpreter alone",
        "under 15 ms more, no numpy",
        _import,
    ),
)


def targets_table(results: Results) -> str:
    """All targets; what was not measured says so."""
    rows = []
    for target in TARGETS:
        try:
            measured, met = target.measure(results)
        except KeyError:
            rows.append([target.what, target.against, target.wanted, "not measured", "-"])
            continue
        rows.append([target.what, target.against, target.wanted, measured, "met" if met else "**missed**"])
    return table(["what", "against", "target", "measured", ""], rows, text=5)


def reasons(results: Results) -> str:
    """Why targets are missed; empty if none is."""
    parts = []
    for target in TARGETS:
        try:
            measured, met = target.measure(results)
        except KeyError:
            continue
        if not met:
            against = f", against {target.against}" if target.against else ""
            parts.append(f"- **{target.what}{against}**: {measured}. {target.why}".rstrip())
    return "\n".join(parts)
