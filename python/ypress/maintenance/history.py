"""A document's history: who edited when, and reading it up to a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike

from ..sqlite.history import Record, placed_records, read_page
from ..sqlite.layout import layout
from ..sqlite.rewriting import documents
from ..sqlite.values import Values
from .locate import Names
from .opening import opened

__all__ = ["Session", "find_document", "read_history", "records", "sessions"]


@dataclass
class Session:
    """Edits that followed each other closely.

    Args:
        first: time of the first one, in seconds since the epoch.
        last: time of the last one.
        updates: how many.
        size: their bytes, without compression.
    """

    first: float
    last: float
    updates: int
    size: int


def find_document(file: str | PathLike[str], wanted: str, names: Names | None = None) -> str:
    """The path key of a document in a store, by its name, path key, file id, or the beginning of one.

    Raises:
        Refused: there is none, or several; the message lists them.
    """
    known = Names() if names is None else names
    with opened(file) as (connection, _):
        return known.find(wanted, documents(connection))


def records(connection: sqlite3.Connection, path: str, values: Values) -> Iterator[Record]:
    """The history of a document, a page at a time.

    Raises:
        DamagedHistory: a value cannot be read; those before it have been yielded.
    """
    at = layout(connection, path)
    position: int | None = at.first if at.end > at.first else None
    while position is not None:
        page = read_page(connection, path, at, position)
        for _, record in placed_records(page, path, values):
            yield record
        position = page.next


def read_history(file: str | PathLike[str], path: str, values: Values | None = None) -> Iterator[Record]:
    """The history of a document in a store.

    Raises:
        Refused: it is not a store.
        DamagedHistory: a value cannot be read.
    """
    with opened(file) as (connection, _):
        yield from records(connection, path, values or Values())


def sessions(file: str | PathLike[str], path: str, gap: float = 1800.0, values: Values | None = None) -> list[Session]:
    """The sessions in which a document was edited.

    Args:
        file: the store.
        path: the document's path key.
        gap: seconds without an edit that end a session.
        values: how values are read.
    """
    found: list[Session] = []
    for update, metadata, timestamp in read_history(file, path, values):
        size = len(update) + len(metadata or b"")
        if not found or timestamp - found[-1].last > gap:
            found.append(Session(timestamp, timestamp, 0, 0))
        session = found[-1]
        session.last = max(session.last, timestamp)
        session.updates += 1
        session.size += size
    return found
