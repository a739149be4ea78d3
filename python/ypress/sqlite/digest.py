"""A hash over a file's history, to see that it is the same."""

from __future__ import annotations

import hashlib
import sqlite3
import struct

from .history import placed_records, read_page
from .layout import Layout, layout
from .rewriting import documents
from .values import Values

__all__ = ["digest"]


def digest(connection: sqlite3.Connection, values: Values | None = None) -> str:
    """A hash over path, update, metadata and timestamp of all updates, document by document, in order.

    Args:
        connection: the file; best when nobody writes to it.
        values: how values are read.

    Raises:
        DamagedHistory: a value cannot be read.
    """
    known = Values() if values is None else values
    result = hashlib.sha256()
    for path in documents(connection):
        at: Layout = layout(connection, path)
        position: int | None = at.first if at.end > at.first else None
        result.update(struct.pack("<cq", b"d", len(path.encode())) + path.encode())
        while position is not None:
            page = read_page(connection, path, at, position)
            for _, (update, metadata, timestamp) in placed_records(page, path, known):
                length = -1 if metadata is None else len(metadata)
                result.update(struct.pack("<cqqd", b"u", len(update), length, timestamp))
                result.update(update)
                result.update(metadata or b"")
            position = page.next
    return result.hexdigest()
