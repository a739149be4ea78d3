"""Moving a document's records aside when one of them is damaged, so that the document can be opened and written again.

Nothing is deleted: the records go, as they are, into a table of their own, and `take_back` brings them back.
"""

from __future__ import annotations

import sqlite3

from .connection import transaction
from .errors import StoreError
from .schema import add_aside, add_segments, has_table

__all__ = ["move_aside", "move_aside_within", "take_back"]


def move_aside(connection: sqlite3.Connection, path: str, reason: str, moved: float) -> int:
    """Move all records of a document aside, in a transaction of its own.

    Args:
        connection: the file.
        path: the document's path key.
        reason: why, in words.
        moved: seconds since the epoch; with the path, it names this set of records.

    Returns:
        How many records were moved.
    """
    with transaction(connection):
        return move_aside_within(connection, path, reason, moved)


def move_aside_within(connection: sqlite3.Connection, path: str, reason: str, moved: float) -> int:
    """`move_aside` in the caller's transaction."""
    add_aside(connection)
    before = connection.total_changes
    mark = (path, moved, reason)
    connection.execute(
        "INSERT INTO yaside SELECT ?1, ?2, ?3, 'update', rowid, yupdate, metadata, timestamp, "
        "NULL, NULL, NULL, NULL FROM yupdates WHERE path = ?1 ORDER BY rowid",
        mark,
    )
    connection.execute(
        "INSERT INTO yaside SELECT ?1, ?2, ?3, 'checkpoint', 0, checkpoint, NULL, timestamp, "
        "NULL, NULL, NULL, NULL FROM ycheckpoints WHERE path = ?1",
        mark,
    )
    if has_table(connection, "ysegments"):
        connection.execute(
            "INSERT INTO yaside SELECT ?1, ?2, ?3, 'segment', seq, data, NULL, first_timestamp, seq, "
            "last_timestamp, updates, raw_bytes FROM ysegments WHERE path = ?1",
            mark,
        )
    count = connection.total_changes - before
    if has_table(connection, "ypositions"):
        connection.execute(
            "INSERT INTO yaside SELECT ?1, ?2, ?3, 'position', first, NULL, NULL, NULL, NULL, NULL, NULL, NULL "
            "FROM ypositions WHERE path = ?1",
            mark,
        )
    for table in ("yupdates", "ycheckpoints", "ysegments", "ypositions"):
        if has_table(connection, table):
            connection.execute(f"DELETE FROM {table} WHERE path = ?", (path,))
    return count


def take_back(connection: sqlite3.Connection, path: str, moved: float | None = None) -> int:
    """Bring a document's records back, in a transaction of its own.

    Args:
        connection: the file.
        path: the document's path key.
        moved: which set; the latest if None.

    Returns:
        How many records were brought back.

    Raises:
        StoreError: nothing was moved aside, or the document has other records now.
    """
    with transaction(connection):
        if not has_table(connection, "yaside"):
            raise StoreError(f"document {path}: nothing was moved aside", path)
        if moved is None:
            (moved,) = connection.execute("SELECT max(moved) FROM yaside WHERE path = ?", (path,)).fetchone()
        mark = (path, moved)
        if connection.execute("SELECT 1 FROM yaside WHERE path = ? AND moved = ?", mark).fetchone() is None:
            raise StoreError(f"document {path}: nothing was moved aside", path)
        for table in ("yupdates", "ysegments"):
            query = f"SELECT 1 FROM {table} WHERE path = ?"
            if has_table(connection, table) and connection.execute(query, (path,)).fetchone():
                raise StoreError(
                    f"document {path} has been written since its records were moved aside; move the new ones first",
                    path,
                )
        before = connection.total_changes
        connection.execute(
            "INSERT INTO yupdates SELECT path, value, metadata, timestamp FROM yaside "
            "WHERE path = ?1 AND moved = ?2 AND kind = 'update' ORDER BY record",
            mark,
        )
        connection.execute(
            "INSERT OR REPLACE INTO ycheckpoints SELECT path, value, timestamp FROM yaside "
            "WHERE path = ?1 AND moved = ?2 AND kind = 'checkpoint'",
            mark,
        )
        add_segments(connection)
        connection.execute(
            "INSERT INTO ysegments SELECT path, seq, timestamp, last_timestamp, updates, raw_bytes, value FROM yaside "
            "WHERE path = ?1 AND moved = ?2 AND kind = 'segment'",
            mark,
        )
        count = connection.total_changes - before
        # What the checkpoint covers is not brought back: it is found out anew when the document is loaded.
        if has_table(connection, "ypositions"):
            connection.execute(
                "INSERT OR REPLACE INTO ypositions SELECT path, record, NULL FROM yaside "
                "WHERE path = ?1 AND moved = ?2 AND kind = 'position'",
                mark,
            )
        connection.execute("DELETE FROM yaside WHERE path = ? AND moved = ?", mark)
    return count
