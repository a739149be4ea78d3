"""Writes into rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from .schema import has_table
from .worker import Write

__all__ = ["insert", "last_timestamp"]

_Row = tuple[str, bytes | None, bytes | None, float]
_INSERT = "INSERT INTO yupdates VALUES (?, ?, ?, ?)"
# Values from this size on are written in pieces of that size, in bytes.
_LARGE = 4 << 20
_PIECE = 1 << 20


def last_timestamp(connection: sqlite3.Connection, path: str) -> float:
    """The latest timestamp in a document's history; minus infinity if it has none."""
    query = "SELECT max(timestamp) FROM yupdates WHERE path = ? AND typeof(timestamp) = 'real'"
    latest = connection.execute(query, (path,)).fetchone()[0]
    if latest is None and has_table(connection, "ysegments"):
        query = "SELECT last_timestamp FROM ysegments WHERE path = ? ORDER BY seq DESC LIMIT 1"
        row = connection.execute(query, (path,)).fetchone()
        latest = row and row[0]
    return float("-inf") if latest is None else float(latest)


def insert(connection: sqlite3.Connection, writes: Iterable[Write]) -> None:
    """Add rows for encoded writes, in order, with timestamps that never decrease within a document."""
    latest: dict[str, float] = {}
    rows: list[_Row] = []
    for write in writes:
        path = write.path
        if path not in latest:
            latest[path] = last_timestamp(connection, path)
        timestamp = latest[path] = max(latest[path], write.timestamp)
        row = (path, write.value, write.metadata, timestamp)
        if write.value is not None and len(write.value) >= _LARGE:
            connection.executemany(_INSERT, rows)
            rows = []
            _insert_large(connection, row, write.value)
        else:
            rows.append(row)
    connection.executemany(_INSERT, rows)


def _insert_large(connection: sqlite3.Connection, row: _Row, value: bytes) -> None:
    """Add a row piece by piece: as a parameter its value would be copied as a whole, under the interpreter lock."""
    path, _, metadata, timestamp = row
    query = "INSERT INTO yupdates VALUES (?, zeroblob(?), ?, ?)"
    rowid = connection.execute(query, (path, len(value), metadata, timestamp)).lastrowid
    assert rowid is not None
    view = memoryview(value)
    with connection.blobopen("yupdates", "yupdate", rowid) as blob:
        for begin in range(0, len(value), _PIECE):
            blob.write(view[begin : begin + _PIECE])
