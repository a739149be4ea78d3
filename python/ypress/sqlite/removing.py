"""Removing a document for good."""

from __future__ import annotations

import sqlite3

from .connection import transaction
from .schema import has_table

__all__ = ["begin_secure", "remove_all_but_rows", "remove_rows"]


def begin_secure(connection: sqlite3.Connection) -> None:
    """Have what is removed overwritten with zeros."""
    connection.execute("PRAGMA secure_delete = ON").fetchall()


def remove_all_but_rows(connection: sqlite3.Connection, path: str) -> int:
    """Remove a document's segments, checkpoint, position and records that were moved aside. Returns how many."""
    removed = 0
    with transaction(connection):
        for table in ("ycheckpoints", "ysegments", "ypositions", "yaside"):
            if has_table(connection, table):
                removed += connection.execute(f"DELETE FROM {table} WHERE path = ?", (path,)).rowcount
    return removed


def remove_rows(connection: sqlite3.Connection, path: str, most: int) -> int:
    """Remove at most so many of a document's rows. Returns how many."""
    query = "DELETE FROM yupdates WHERE rowid IN (SELECT rowid FROM yupdates WHERE path = ? LIMIT ?)"
    with transaction(connection):
        return connection.execute(query, (path, most)).rowcount
