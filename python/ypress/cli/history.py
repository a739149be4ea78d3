"""``history``."""

from __future__ import annotations

from pathlib import Path

import click

from ..maintenance.history import find_document, sessions
from ..maintenance.reading import values_for
from ..words import counted
from .arguments import document_argument, json_option, store_option
from .output import console, count, printable, say, show_json, size, table, when

__all__ = ["command"]


@click.command("history", epilog="Example: jupyter ypress history Untitled.ipynb")
@document_argument
@store_option
@click.option("--gap", type=click.FloatRange(min=0), default=30, show_default=True, metavar="MINUTES",
              help="How long without an edit ends a session.")  # fmt: skip
@click.option("--was", metavar="CODEC", help="What wrote rows that say nothing of themselves; see `compress`.")
@json_option
def command(document: str, store: Path, gap: float, was: str | None, as_json: bool) -> None:
    """Show when a document was edited.

    DOC is a file's name, its id, a path key, or the beginning of one.
    """
    path = find_document(store, document)
    found = sessions(store, path, gap * 60, values_for(None, None, was))
    if as_json:
        show_json({"path": path, "sessions": [vars(session) for session in found]})
        return
    say(f"{printable(path)}: {counted(len(found), 'session')}")
    rows = table("<from", "<until", ">updates", ">bytes")
    for session in found:
        rows.add_row(when(session.first), when(session.last), count(session.updates), size(session.size))
    console().print(rows)
