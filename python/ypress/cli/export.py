"""``export``."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

import click

from ..maintenance.export import export_all, export_document
from ..maintenance.history import find_document
from ..maintenance.reading import values_for
from ..words import counted
from .arguments import store_option
from .output import count, note, progress, say, when

__all__ = ["command"]


class _Time(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer releases of click
    """A local time as people write it, or seconds since the epoch."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value)
        try:
            return float(text)
        except ValueError:
            pass
        try:
            return datetime.fromisoformat(text).timestamp()
        except ValueError:
            self.fail(f"{text!r} is no time; write 2026-11-30 or 2026-11-30T18:05, or seconds since 1970", param, ctx)


@click.command("export", epilog='Example: jupyter ypress export Untitled.ipynb --at "2026-11-30 18:00" -o before.ipynb')
@click.argument("document", metavar="[DOC]", required=False)
@store_option
@click.option("--at", type=_Time(), metavar="TIME", help="As it was then: 2026-11-30T18:05, or seconds since 1970.")
@click.option("--all", "everything", is_flag=True, help="Every document with its history, into a ZIP archive.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="The file; - is the terminal.")
@click.option("--was", metavar="CODEC", help="What wrote rows that say nothing of themselves; see `compress`.")
def command(
    document: str | None, store: Path, at: float | None, everything: bool, output: Path | None, was: str | None
) -> None:
    """Write a document into a file, as it is or as it was.

    DOC is a file's name, its id, a path key, or the beginning of one. Without -o, the file is named after the document,
    and one that is there already is not overwritten.
    """
    values = values_for(None, None, was)
    if everything:
        if output is None or document is not None or at is not None:
            raise click.UsageError("--all goes with -o ARCHIVE.zip, and with neither DOC nor --at")
        with progress("exporting", 1.0) as show:
            index = export_all(
                store,
                output,
                values=values,
                progress=lambda done, total: show(
                    done / max(1, total), f"{count(done)} of {counted(total, 'document')}"
                ),
            )
        say(f"{output}: {counted(len(index['documents']), 'document')} with all history")
        return
    if document is None:
        raise click.UsageError("name a document, or use --all")
    path = find_document(store, document)
    exported = export_document(store, path, at=at, values=values)
    if output is not None and str(output) == "-":
        sys.stdout.buffer.write(exported.content)
        return
    target = output or _named(path, exported.extension)
    if output is None and target.exists():
        raise click.UsageError(f"{target} exists; name another file with -o")
    target.write_bytes(exported.content)
    note(f"{target}: as of {when(exported.last)}, made of {counted(exported.updates, 'update')}")


def _named(path: str, extension: str) -> Path:
    from ..maintenance.locate import Names, file_id

    name = Path(Names().name(path) or file_id(path)).name or "document"
    return Path(name if name.endswith(extension) or "." in name else name + extension)
