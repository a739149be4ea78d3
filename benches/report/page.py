"""``docs/benchmarks.md``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

from .quoting import marked
from .results import Results
from .tables import TABLES
from .targets import reasons, targets_table

WIDTH = 120
_HEAD = """# Benchmarks

Made by `make bench`; do not edit. It takes about a quarter of an hour, and writes this page, the plot in it, and the
tables that other pages quote from it. `make bench QUICK=1` has a first look in a few minutes, and writes to
`target/bench-quick`. Each bench can be run by itself by the command above its tables.

Figures are of one machine. What can be relied on are the ratios: everything that is compared was measured in one run,
in interleaved rounds, and what is shown are medians.
"""


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Args:
        title: its heading.
        bench: whose results it shows.
        parts: paragraphs, and names of `TABLES` where a table is to be.
    """

    title: str
    bench: str
    parts: Sequence[str]


_SECTIONS = (
    Section(
        "Size of the file",
        "sizes",
        (
            "Three kinds of generated editing sessions, as a stock file, with every row compressed as callbacks do it, "
            "written through the store and closed, and after `ypress compress`.",
            "sizes",
        ),
    ),
    Section("Size of the file, stores that were given", "stores", ("stores",)),
    Section(
        "Rows",
        "rows",
        (
            "How many times as fast as others ypress compresses and decompresses single values, in this order. `kept` "
            "is a context that is kept between calls, as careful callers do; all else are one-call functions, which is "
            "what gets registered as callbacks.",
            "rows",
            "All of it: processor time for a value, how many times as long as ypress that is, and the size as a share "
            "of the raw bytes. ypress leaves values below 64 B as they are: compressing them gains nothing.",
            "all rows",
        ),
    ),
    Section(
        "Limits of the row codec",
        "limits",
        (
            "How much faster than the peer, with contexts kept, anyone can be who uses the same library with the same "
            "settings. For large values the limit is the peer's time without its call; in decompressing, the peer also "
            "reads what ypress wrote, where that is faster. For small ones it is the call of a C function that does "
            "nothing. ypress can be above it where it chooses other settings.",
            "limits",
            "lz4 can be told to look at fewer places. That is faster and larger:",
            "accelerations",
        ),
    ),
    Section(
        "Writing",
        "writing",
        (
            "Rooms open a fresh file together, type as fast as each write returns, and close. `rows only` packs "
            "nothing. Stock rooms that make the file together lose what they write (the most that was lost is shown), "
            "so the file is also made before.",
            "writing",
            "How late the event loop is while one update, half of which is noise, is compressed and written:",
            "late",
        ),
    ),
    Section(
        "Long histories",
        "history",
        (
            "One notebook, typed and run; a checkpoint lies 50 updates before the end.",
            "growth",
            "![Bytes of the file by updates](growth.svg)",
            "Opening the document (`apply_updates`), the first time in a process, and how far the process's peak "
            "memory rises by it. `incomplete` has loaded less than was written.",
            "open",
            "Reading all of the history (`read`):",
            "read",
        ),
    ),
    Section(
        "Compressing and restoring a large store",
        "rewriting",
        (
            "With nobody else at work; MB are of the stock file.",
            "rewriting",
            "What a server's rooms, that write 50 updates a second in all, wait for a write meanwhile:",
            "waits",
        ),
    ),
    Section("Importing", "importing", ("importing",)),
)


def all_tables(results: Results) -> dict[str, str]:
    """The tables of which there are results, by name."""
    return {name: make(results) for name, (bench, make) in TABLES.items() if bench in results}


def make_page(results: Results) -> str:
    """The page.

    Args:
        results: of all benches, or of some.
    """
    tables = all_tables(results)
    parts = [_HEAD]
    if results.quick:
        parts.append("**A first look: less of everything, with no figures to quote.**\n")
    parts.append(f"## Targets\n\n{targets_table(results)}\n")
    if missed := reasons(results):
        parts.append(f"Missed, and why:\n\n{missed}\n")
    machine, versions = results.facts("machine"), results.facts("versions")
    taking_part = ", ".join(f"{name} {version}" for name, version in versions.items())
    where = "{processor}, {cores} cores, {system}".format_map(machine)
    parts.append(f"## Machine and versions\n\n{where}.\n\n{fill(taking_part, WIDTH)}.\n")
    for section in _SECTIONS:
        if section.bench not in results:
            continue
        parts.append(f"## {section.title}\n\n`{results.command(section.bench)}`\n")
        for part in section.parts:
            parts.append(f"{marked(part, tables[part])}\n" if part in tables else f"{fill(part, WIDTH)}\n")
    return "\n".join(parts)
