"""The tables, each under the name by which pages quote it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .markdown import megabytes, number, smaller, table, times
from .results import Results

KINDS = {"keystrokes": "typed text", "notebooks": "notebooks", "streams": "printing loops"}
OURS = ("ypress, in use", "ypress, rewritten")
FORMS = {"stock": "stock store", "ypress, rewritten": "ypress, after `ypress compress`"}
SETS = ("below 64 B", "64 B to 1 KB", "17 KB", "1 MB", "mixed stream")
# What the summary of rows compares: method, peer, and how it is called there.
PEERS = (
    ("zstd", "zstandard", "zstd, against zstandard"),
    ("zstd", "zstandard (kept)", "against its contexts kept"),
    ("lz4", "lz4.block", "lz4, against lz4.block"),
    ("brotli", "brotli", "brotli, against brotli"),
)


def sizes(results: Results, name: str = "sizes") -> str:
    """The same history as a file, by kind of store."""
    stores = results[name]["stores"]
    heads = [
        f"{KINDS.get(kind, kind)}, {store['updates']:,}" + (" updates" if index == 0 else "")
        for index, (kind, store) in enumerate(stores.items())
    ]
    rows = []
    for form in next(iter(stores.values()))["sizes"]:
        cells = []
        for index, store in enumerate(stores.values()):
            size, stock = store["sizes"][form], store["sizes"]["stock"]
            ratio = smaller(stock / size)
            shown = f"(**{ratio}**)" if form in OURS else f"({ratio})"
            cells.append(f"{size:,}" + (f" {shown}" if form != "stock" else " bytes" if index == 0 else ""))
        rows.append([FORMS.get(form, form), *cells])
    return table(["", *heads], rows, text=1 + len(heads))


def stores(results: Results) -> str:
    """The sizes of stores that were given."""
    return sizes(results, "stores")


def rows(results: Results) -> str:
    """How many times as fast ypress is, both ways."""
    lines = []
    for values in SETS:
        cells = [values]
        for codec, peer, _ in PEERS:
            try:
                row = results.row(values, codec, peer)
            except KeyError:
                cells.append("-")
            else:
                cells.append(f"{times(row['compress_ratio'])}, {times(row['decompress_ratio'])}")
        lines.append(cells)
    return table(["values", *(title for *_, title in PEERS)], lines)


def all_rows(results: Results) -> str:
    """Everything that the rows bench found, a table for each set of values."""
    parts = []
    heads = ["method", "by", "compress µs", "times", "decompress µs", "times", "size"]
    for values in SETS:
        lines = [
            [
                row["codec"],
                row["name"],
                number(row["compress_us"]),
                number(row["compress_ratio"]),
                number(row["decompress_us"]),
                number(row["decompress_ratio"]),
                f"{row['size']:.3f}",
            ]
            for row in results["rows"]["rows"]
            if row["values"] == values
        ]
        parts.append(f"**Values: {values}**\n\n{table(heads, lines, text=2)}")
    return "\n\n".join(parts)


def limits(results: Results) -> str:
    """How much faster than the peer one can be, and what is reached."""
    lines = [
        [
            row["values"],
            f"{row['codec']} {row['what']}",
            number(row["peer_us"]),
            number(row["limit_us"]),
            number(row["ypress_us"]),
            times(row["at_most"]),
            times(row["is"]),
        ]
        for row in results["limits"]["limits"]
    ]
    return table(["values", "", "peer µs", "limit µs", "ypress µs", "at most", "is"], lines, text=2)


def accelerations(results: Results) -> str:
    """What speed costs lz4."""
    lines = [
        [row["values"], row["acceleration"], times(row["times_as_fast"]), f"{row['size']:.3f}"]
        for row in results["limits"]["accelerations"]
    ]
    return table(["values", "lz4 acceleration", "as fast as 1", "size, against 1"], lines)


def writing(results: Results) -> str:
    """Writing by rooms."""
    parts = []
    for rooms, found in results["writing"]["rooms"].items():
        lines = [
            [
                name,
                f"{one['updates/s']:,.0f}",
                number(one["p50 ms"]),
                number(one["p99 ms"]),
                f"{one['lost']:,.0f}",
                f"{one['bytes']:,.0f}",
            ]
            for name, one in found["stores"].items()
        ]
        title = f"**{rooms} {'room' if rooms == '1' else 'rooms'}, {found['edits']} updates each**"
        heads = ["store", "updates/s", "p50 ms", "p99 ms", "lost", "bytes of the file"]
        parts.append(f"{title}\n\n{table(heads, lines)}")
    return "\n\n".join(parts)


def late(results: Results) -> str:
    """How late the event loop is while a large update is written."""
    found = results["writing"]["late"]
    lines = [[name, number(one["late ms"]), number(one["seconds"])] for name, one in found["stores"].items()]
    return table([f"an update of {megabytes(found['size'])}", "event loop late by, ms", "written after, s"], lines)


def growth(results: Results) -> str:
    """The file by the length of the history."""
    found = results["history"]["sizes"]
    lengths = list(next(iter(found.values())))
    lines = [[name, *(f"{one[length]:,}" for length in lengths)] for name, one in found.items()]
    return table(["bytes of the file, after updates", *(f"{int(length):,}" for length in lengths)], lines)


def _by_length(what: str) -> Callable[[Results], str]:
    def make(results: Results) -> str:
        found = results["history"][what]
        heads = ["store"]
        for length in found:
            heads += [f"{int(length):,} updates, ms", "memory"]
        lines = []
        for name in next(iter(found.values())):
            cells = [name]
            for of_length in found.values():
                cells += _cells(of_length[name])
            lines.append(cells)
        return table(heads, lines)

    return make


def _cells(one: dict[str, Any]) -> list[str]:
    if "failed" in one:
        return ["fails", "-"]
    shown = number(one["ms"]) + ("" if one.get("whole", True) else " (incomplete)")
    return [shown, megabytes(one["memory"])]


def rewriting(results: Results) -> str:
    """Compress and restore."""
    lines = [
        [
            f"`{what}`",
            number(one["MB/s"]),
            number(one["seconds"]),
            megabytes(one["before"]),
            megabytes(one["after"]),
            megabytes(one["memory"]),
        ]
        for what, one in results["rewriting"]["speed"].items()
    ]
    return table(["", "MB/s", "seconds", "file before", "file after", "peak memory"], lines)


def waits(results: Results) -> str:
    """What writers felt."""
    names, keys = {"nothing": "nothing else"}, ("p50 ms", "p99 ms", "max ms")
    lines = [
        [names.get(what, f"`{what}`"), f"{one['writes']:,.0f}", *(number(one[key]) for key in keys)]
        for what, one in results["rewriting"]["waits"].items()
    ]
    return table(["while there runs", "writes", "p50 ms", "p99 ms", "longest ms"], lines)


def importing(results: Results) -> str:
    """The time that importing takes."""
    found = results["importing"]
    loaded = ", ".join(found["loaded"]) or "none"
    heads = ["interpreter alone, ms", "`import ypress`, ms more", "of numpy, pycrdt, traitlets, click loaded"]
    return table(heads, [[number(found["interpreter_ms"]), number(found["import_ms"]), loaded]], text=0)


# The name of each table, and the bench whose results it shows.
TABLES: dict[str, tuple[str, Callable[[Results], str]]] = {
    "sizes": ("sizes", sizes),
    "stores": ("stores", stores),
    "rows": ("rows", rows),
    "all rows": ("rows", all_rows),
    "limits": ("limits", limits),
    "accelerations": ("limits", accelerations),
    "writing": ("writing", writing),
    "late": ("writing", late),
    "growth": ("history", growth),
    "open": ("history", _by_length("open")),
    "read": ("history", _by_length("read")),
    "rewriting": ("rewriting", rewriting),
    "waits": ("rewriting", waits),
    "importing": ("importing", importing),
}
