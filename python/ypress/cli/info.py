"""``info``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console

from ..maintenance.inspect import DocumentReport, StoreReport, inspect
from ..words import counted
from .arguments import json_option, store_argument
from .output import console, count, note, printable, show_json, shown, size, table, when

__all__ = ["command"]

_SORTS: dict[str, Callable[[DocumentReport], object]] = {
    "size": lambda document: -document.statistics.size,
    "name": lambda document: document.label,
    "updates": lambda document: -document.statistics.updates,
    "raw": lambda document: -document.statistics.raw,
    "first": lambda document: document.statistics.first or 0.0,
    "last": lambda document: -(document.statistics.last or 0.0),
    "saving": lambda document: document.after - document.statistics.size,
}


@click.command("info", epilog="Example: jupyter ypress info .jupyter_ystore.db --sort saving --limit 10")
@store_argument
@click.option("--sort", type=click.Choice(list(_SORTS)), default="size", show_default=True, help="What to sort by.")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Rows at most; 0 for all.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with charts there.")
@click.option("--long", "-l", is_flag=True, help="Everything on each document, however narrow the terminal is.")
@json_option
def command(store: Path, sort: str, limit: int, html: Path | None, long: bool, as_json: bool) -> None:
    """Show what is in a store, what takes the space, and what compressing would save.

    The store is only read. A terminal of 150 columns shows everything on each document, a narrower one with --long:
    when it was edited first and last, and how its share of the file is made up. What compressing would save is
    estimated by packing a sample.
    """
    report = inspect(store)
    report.documents.sort(key=_SORTS[sort])  # type: ignore[arg-type]
    if html is not None:
        from ..maintenance.report import write_report

        write_report(report, html)
        note(f"wrote {html}")
    if as_json:
        show_json(report.as_json())
    elif html is None:
        _show(report, limit, long)


def _show(report: StoreReport, limit: int, long: bool) -> None:
    out = console()
    facts = report.facts
    updates = report.total("updates")
    per_update = f", {facts.size / updates:.1f} B/update" if updates else ""
    out.print(f"{printable(str(report.file))}: {size(facts.size)}, {counted(updates, 'update')} of "
              f"{counted(len(report.documents), 'document')}{per_update}")  # fmt: skip
    parts = table("<holds", ">bytes", ">share")
    for words, number in (
        ("updates in rows", report.total("row_bytes")),
        ("updates in segments", report.total("segment_bytes")),
        ("checkpoints", report.total("checkpoint_bytes")),
        ("moved aside", report.total("aside_bytes")),
        ("paths, index, pages", facts.used - sum(report.total(f"{part}_bytes") for part in _PARTS)),
        ("free pages", facts.size - facts.used),
    ):
        if number:
            parts.add_row(words, count(number), f"{100 * number / max(1, facts.size):.1f} %")
    out.print()
    out.print(parts)
    chosen = report.documents[: limit or None]
    out.print()
    if out.width >= _WIDE:
        _wide(out, chosen)
    elif long:
        _blocks(out, chosen)
    else:
        _narrow(out, chosen)
    if len(chosen) < len(report.documents):
        out.print(f"... and {count(len(report.documents) - len(chosen))} more (--limit 0 shows all)")
    if chosen and not long and out.width < _WIDE:
        out.print("(--long: also the first edit, and what of a document takes the space)")
    saving = facts.size - report.estimated
    if saving * 20 > facts.size:
        out.print()
        out.print(f"`jupyter ypress compress` would make it about {size(report.estimated)}, "
                  f"{facts.size / max(1, report.estimated):.1f} times smaller.")  # fmt: skip


_PARTS = ("row", "segment", "checkpoint", "aside")
# Columns of a terminal in which a line has room for everything that is known of a document.
_WIDE = 150


def _narrow(out: Console, documents: list[DocumentReport]) -> None:
    rows = table("document", ">updates", "<last edit", ">raw", ">in file", ">after")
    for document in documents:
        entry = document.statistics
        rows.add_row(
            shown(document.label),
            count(entry.updates),
            when(entry.last),
            size(entry.raw),
            size(entry.size),
            size(document.after),
        )
    out.print(rows)


def _wide(out: Console, documents: list[DocumentReport]) -> None:
    """A line for each document, with everything."""
    heads = (">raw", ">in rows", ">in segments", ">checkpoint", ">paths, index", ">in file", ">after")
    rows = table("document", ">updates", "<first edit", "<last edit", *heads)
    for document in documents:
        entry = document.statistics
        rows.add_row(
            shown(document.label),
            count(entry.updates),
            when(entry.first),
            when(entry.last),
            size(entry.raw),
            *(size(part) if part else "" for part in (entry.row_bytes, entry.segment_bytes, entry.checkpoint_bytes)),
            size(entry.overhead),
            size(entry.size),
            size(document.after),
        )
    out.print(rows)


def _blocks(out: Console, documents: list[DocumentReport]) -> None:
    """Everything, in a few narrow lines for each document."""
    for document in documents:
        entry = document.statistics
        parts = [
            (entry.row_bytes, f"in rows ({count(entry.rows)})"),
            (entry.segment_bytes, f"in {counted(entry.segments, 'segment')} ({count(entry.packed)})"),
            (entry.checkpoint_bytes, "checkpoint"),
            (entry.aside_bytes, f"moved aside ({count(entry.aside)})"),
            (entry.overhead, "paths, index, pages"),
        ]
        out.print(shown(document.label))
        out.print(f"  {counted(entry.updates, 'update')} from {when(entry.first)} to {when(entry.last)}, "
                  f"{size(entry.raw)} raw")  # fmt: skip
        out.print(f"  {size(entry.size)} in the file, {size(document.after)} after compressing:")
        for number, words in parts:
            if number:
                share = 100 * number / max(1, entry.size)
                out.print(f"  {size(number):>9}  {share:3.0f} %  {words}")
