"""Moving single damaged records aside, and putting right what hangs on them, in one transaction each."""

from __future__ import annotations

import sqlite3

from .checkpoints import store_covered
from .connection import transaction
from .layout import SegmentPlace, layout, positions
from .rewriting import Changed
from .schema import add_aside, add_positions, add_segments
from .writing import last_timestamp

__all__ = ["add_recovered", "close_hole", "drop_checkpoint", "file_faults", "move_row_aside", "move_segment_aside"]


def move_row_aside(connection: sqlite3.Connection, path: str, rowid: int, reason: str, moved: float) -> None:
    """Move one row aside. What the checkpoint covers is then not known any more.

    Raises:
        Changed: it is not there any more.
    """
    with transaction(connection):
        add_aside(connection)
        query = (
            "INSERT INTO yaside SELECT path, ?, ?, 'update', rowid, yupdate, metadata, timestamp, NULL, NULL, NULL, "
            "NULL FROM yupdates WHERE rowid = ? AND path = ?"
        )
        if connection.execute(query, (moved, reason, rowid, path)).rowcount != 1:
            raise Changed
        connection.execute("DELETE FROM yupdates WHERE rowid = ?", (rowid,))
        if positions(connection, path)[1] is not None:
            store_covered(connection, path, None)


def move_segment_aside(connection: sqlite3.Connection, path: str, seq: int, reason: str, moved: float) -> None:
    """Move one segment aside. Those before it move up to its end, so that the history has no hole.

    Raises:
        Changed: it is not there any more.
    """
    with transaction(connection):
        add_aside(connection)
        add_segments(connection)
        add_positions(connection)
        at = layout(connection, path)
        places = {place.seq: place for place in at.segments}
        if seq not in places:
            raise Changed
        query = (
            "INSERT INTO yaside SELECT path, ?, ?, 'segment', seq, data, NULL, first_timestamp, seq, last_timestamp, "
            "updates, raw_bytes FROM ysegments WHERE path = ? AND seq = ?"
        )
        connection.execute(query, (moved, reason, path, seq))
        connection.execute("DELETE FROM ysegments WHERE path = ? AND seq = ?", (path, seq))
        _join(connection, path, [place for place in at.segments if place.seq < seq], places[seq].end)


def close_hole(connection: sqlite3.Connection, path: str, seq: int) -> None:
    """Have the segments before a position end there, in a transaction of its own: what lay between is lost."""
    with transaction(connection):
        add_positions(connection)
        at = layout(connection, path)
        _join(connection, path, [place for place in at.segments if place.seq < seq], seq)


def _join(connection: sqlite3.Connection, path: str, before: list[SegmentPlace], end: int) -> None:
    """Move segments up, so that they end at a position."""
    # From the last to the first, so that no two ever have the same position.
    for place in reversed(before):
        query = "UPDATE ysegments SET seq = ? WHERE path = ? AND seq = ?"
        connection.execute(query, (end - place.updates, path, place.seq))
        end -= place.updates
    query = "INSERT INTO ypositions (path, first) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET first = excluded.first"
    connection.execute(query, (path, end))
    store_covered(connection, path, None)


def drop_checkpoint(connection: sqlite3.Connection, path: str, reason: str, moved: float) -> None:
    """Move a checkpoint aside; the next opening of the document makes it anew."""
    with transaction(connection):
        add_aside(connection)
        query = (
            "INSERT INTO yaside SELECT path, ?, ?, 'checkpoint', 0, checkpoint, NULL, timestamp, NULL, NULL, NULL, "
            "NULL FROM ycheckpoints WHERE path = ?"
        )
        connection.execute(query, (moved, reason, path))
        connection.execute("DELETE FROM ycheckpoints WHERE path = ?", (path,))
        if positions(connection, path)[1] is not None:
            store_covered(connection, path, None)


def add_recovered(connection: sqlite3.Connection, path: str, update: bytes) -> None:
    """Add to a history, as its last update, what a checkpoint has and the history lacks."""
    with transaction(connection):
        timestamp = max(0.0, last_timestamp(connection, path))
        connection.execute("INSERT INTO yupdates VALUES (?, ?, ?, ?)", (path, update, b"", timestamp))


def file_faults(connection: sqlite3.Connection) -> list[str]:
    """What SQLite itself finds wrong with the file."""
    try:
        rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [str(row[0]) for row in rows if row[0] != "ok"]
