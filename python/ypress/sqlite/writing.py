"""Writes into rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from .schema import has_table
from .worker import Write

__all__ = ["insert", "last_timestamp"]


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
    rows = []
    for write in writes:
        path = write.path
        if path not in latest:
            latest[path] = last_timestamp(connection, path)
        timestamp = latest[path] = max(latest[path], write.timestamp)
        rows.append((path, write.value, write.metadata, timestamp))
    connection.executemany("INSERT INTO yupdates VALUES (?, ?, ?, ?)", rows)
