"""``compress``."""

from __future__ import annotations

import time
from pathlib import Path

import click

from ..maintenance.readable import refuse_unreadable
from ..maintenance.reading import WAS, values_for
from ..maintenance.rewrite import Compressed, compress_store
from ..words import counted
from .arguments import json_option, store_argument
from .output import note, printable, progress, say, show_json, size

__all__ = ["command"]


@click.command("compress", epilog="Example: jupyter ypress compress .jupyter_ystore.db")
@store_argument
@click.option("--codec", type=click.Choice(["zstd", "lz4", "brotli", "none"]), default="zstd", show_default=True,
              help="How single values are written: checkpoints, and with --no-pack rows.")  # fmt: skip
@click.option("--level", type=int, help="The codec's level; of zstd, that of segments, too.")
@click.option("--was", metavar="CODEC", help=f"What wrote the rows that say nothing of themselves: {', '.join(WAS)}, "
              "numcodecs:<id>, or the dotted path of a function.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Do everything but write.")
@click.option("--no-pack", is_flag=True, help="Leave rows where they are, and write only their values anew.")
@click.option("--force", is_flag=True, help="Also where Jupyter's configuration could not read the result.")
@json_option
def command(
    store: Path,
    codec: str,
    level: int | None,
    was: str | None,
    dry_run: bool,
    no_pack: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Make a store smaller in place. Every update stays as it is, byte for byte.

    Servers may go on using it. It may be interrupted at any moment and run again: it goes on where it stopped, and
    does nothing where nothing is left to do. `restore` takes it back.
    """
    values = values_for(None if codec == "none" else codec, level, was)
    if not (force or dry_run or (no_pack and codec == "none")):
        refuse_unreadable(store)
    begun = time.monotonic()
    before = store.stat().st_size if store.is_file() else 0
    with progress("compressing", 1.0) as show:

        def tell(done: int, total: int, saved: int) -> None:
            share = done / max(1, total)
            rate = before * share / max(1e-3, time.monotonic() - begun)
            show(share, f"{size(rate)}/s, saved {size(saved)}")

        result = compress_store(
            store,
            values,
            pack_history=not no_pack,
            level=level if codec == "zstd" and level is not None and level > 0 else None,
            dry_run=dry_run,
            progress=tell,
        )
    if as_json:
        show_json(vars(result))
    else:
        _show(store, result, dry_run)


def _show(store: Path, result: Compressed, dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    if not result.changed:
        say(f"{printable(str(store))}: nothing to do, everything is compressed already ({size(result.after)})")
    else:
        ratio = f"{result.before / max(1, result.after):.1f} times smaller"
        sizes = f"{size(result.before)} before, {would}{size(result.after)} now"
        say(f"{printable(str(store))}: {sizes}, {ratio}")
        done = [
            (result.packed, "update", "packed"),
            (result.segments, "segment", "written"),
            (result.values, "value", "rewritten"),
            (result.checkpoints, "checkpoint", "rewritten"),
        ]
        parts = ", ".join(f"{counted(number, noun)} {what}" for number, noun, what in done if number)
        rate = result.before / max(1e-3, result.seconds)
        say(f"{parts}, in {result.seconds:.1f} s ({size(rate)}/s)")
    if result.vacuumed:
        say("the file was rebuilt to give free pages back to the disk")
    if result.note:
        note(f"note: {result.note}")
    if result.left:
        note(
            f"note: {counted(len(result.left), 'record')} cannot be packed or read, and nothing was changed there; "
            "`jupyter ypress verify` tells more. The first:"
        )
        for path, place, reason in result.left[:5]:
            note(f"  {path}, {place}: {reason}")
