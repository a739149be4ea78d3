"""``restore``."""

from __future__ import annotations

from pathlib import Path

import click

from ..maintenance.reading import values_for
from ..maintenance.restore import restore_store
from ..words import counted
from .arguments import json_option, store_argument
from .output import note, printable, progress, say, show_json, size

__all__ = ["command"]


@click.command("restore", epilog="Example: jupyter ypress restore .jupyter_ystore.db")
@store_argument
@click.option("--was", metavar="CODEC", help="What wrote rows that say nothing of themselves; see `compress`.")
@json_option
def command(store: Path, was: str | None, as_json: bool) -> None:
    """Make a store what pycrdt-store would have written.

    Updates, metadata, timestamps and order come back exactly; what ypress added to the file goes. Servers that compress
    would pack it again: set their compression to None first. It may be interrupted and run again.
    """
    with progress("restoring", 1.0) as show:
        result = restore_store(
            store,
            values_for(None, None, was),
            progress=lambda done, total, _: show(done / max(1, total), counted(done, "update")),
        )
    if as_json:
        show_json(vars(result))
        return
    say(f"{printable(str(store))}: {size(result.before)} before, {size(result.after)} now, a stock store")
    say(f"{counted(result.unpacked, 'update')} unpacked, {counted(result.values, 'value')} decompressed, "
        f"in {result.seconds:.1f} s")  # fmt: skip
    if result.checkpoints_removed:
        note(f"note: {counted(result.checkpoints_removed, 'checkpoint')} removed, to be made anew when needed")
    if result.aside:
        note(f"note: {counted(result.aside, 'record')} moved aside before, left in the table yaside")
