"""``delete``."""

from __future__ import annotations

from pathlib import Path

import click

from ..maintenance.delete import delete_document
from ..maintenance.history import find_document
from ..maintenance.locate import Names
from ..words import counted
from .arguments import document_argument, store_option
from .group import INTERRUPTED
from .output import note, printable, say

__all__ = ["command"]


@click.command("delete", epilog="Example: jupyter ypress delete Untitled.ipynb")
@document_argument
@store_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(document: str, store: Path, yes: bool) -> None:
    """Remove a document's history from a store for good; its file stays.

    DOC is a file's name, its id, a path key, or the beginning of one. History, segments, checkpoint and what was moved
    aside are overwritten, not only marked as free. Close the document first: what is open is written again.
    """
    path = find_document(store, document)
    name = Names().name(path)
    label = printable(f"{path} ({name})" if name else path)
    if not yes and not click.confirm(f"Remove all history of {label} for good?", err=True):
        note("nothing was removed")
        click.get_current_context().exit(INTERRUPTED)
    deleted = delete_document(store, path)
    say(f"{label}: {counted(deleted.records, 'record')} removed")
    if deleted.note:
        note(f"note: free pages of the file may still hold some of it: {deleted.note}")
