"""Replacing what is stored by something smaller that says the same, beside servers that write to the same file.

Everything is read and prepared outside of transactions. A transaction then makes sure that what was read is still what
is stored, and replaces it; if it is not, nothing is changed, and the document is looked at again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .checkpoints import store_covered
from .connection import transaction
from .history import BATCH, Row, rows_at
from .layout import Layout, SegmentPlace, data_version, positions
from .schema import add_segments, has_table
from .segments import store_segment

__all__ = [
    "Change",
    "Changed",
    "count_rows",
    "documents",
    "read_checkpoint",
    "read_rows",
    "read_segment",
    "replace",
    "replace_checkpoint",
    "replace_values",
    "vacuum",
]


class Changed(Exception):
    """The document is not as it was: another process packed, squashed or removed something."""


@dataclass(frozen=True)
class Change:
    """Consecutive records of a document that become one segment.

    Args:
        path: the document's path key.
        start: the position of the first record.
        old: segments that go, each with its blob.
        rows: loose rows that go; the first ones of the document.
        stamp: the data version of the file when the document was looked at.
        ordered: whether the document's rows are in the order of their timestamps.
    """

    path: str
    start: int
    old: Sequence[tuple[SegmentPlace, bytes]]
    rows: Sequence[Row]
    stamp: tuple[int, int]
    ordered: bool


def documents(connection: sqlite3.Connection) -> Iterator[str]:
    """The path keys of all documents that have a history, one short statement for each.

    Those that are not text in UTF-8 are left out: no store can open them.
    """
    tables = [table for table in ("yupdates", "ysegments") if has_table(connection, table)]
    path: str | None = None
    while True:
        found = []
        for table in tables:
            where = "typeof(path) = 'text'" if path is None else "path > ? AND typeof(path) = 'text'"
            query = f"SELECT path FROM {table} WHERE {where} ORDER BY path LIMIT 1"
            found += connection.execute(query, () if path is None else (path,)).fetchall()
        if not found:
            return
        least = min(name.encode("utf-8", "surrogateescape") for (name,) in found)
        name = least.decode("utf-8", "surrogateescape")
        if not _is_text(name):
            yield from _behind_bad(connection, tables, path)
            return
        yield name
        path = name


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _behind_bad(connection: sqlite3.Connection, tables: list[str], behind: str | None) -> Iterator[str]:
    """The same where a path is not UTF-8, and cannot be the place to go on from."""
    names: set[str] = set()
    for table in tables:
        query = f"SELECT DISTINCT path FROM {table} WHERE typeof(path) = 'text'"
        names.update(name for (name,) in connection.execute(query) if _is_text(name))
    yield from (name for name in sorted(names, key=str.encode) if behind is None or name.encode() > behind.encode())


def count_rows(connection: sqlite3.Connection, path: str) -> int:
    """The loose rows of a document."""
    return int(connection.execute("SELECT count(*) FROM yupdates WHERE path = ?", (path,)).fetchone()[0])


def read_rows(connection: sqlite3.Connection, at: Layout) -> Iterator[Row]:
    """All loose rows of a document, in order, by short statements.

    Raises:
        Changed: one is not there any more.
    """
    for start in range(0, len(at.rowids), BATCH):
        wanted = at.rowids[start : start + BATCH]
        rows = list(rows_at(connection, wanted))
        if len(rows) != len(wanted):
            raise Changed
        yield from rows


def read_segment(connection: sqlite3.Connection, path: str, seq: int) -> bytes:
    """A segment's blob.

    Raises:
        Changed: it is not there any more.
    """
    query = "SELECT data FROM ysegments WHERE path = ? AND seq = ?"
    row = connection.execute(query, (path, seq)).fetchone()
    if row is None:
        raise Changed
    return bytes(row[0])


def replace(connection: sqlite3.Connection, change: Change, blob: bytes) -> None:
    """Put a segment in the place of what it holds, in a transaction of its own.

    Raises:
        Changed: the document is not as it was; nothing was changed.
    """
    path, rows = change.path, change.rows
    with transaction(connection):
        if data_version(connection) != change.stamp and not _is_unchanged(connection, change):
            raise Changed
        add_segments(connection)
        covered = positions(connection, path)[1]
        seqs = ((path, place.seq) for place, _ in change.old)
        connection.executemany("DELETE FROM ysegments WHERE path = ? AND seq = ?", seqs)
        store_segment(connection, path, change.start, blob)
        if rows:
            _delete_rows(connection, change)
        if covered is not None and rows:
            # A trigger forgets the checkpoint's position when rows go. These have not gone, they have moved.
            store_covered(connection, path, covered)


def _delete_rows(connection: sqlite3.Connection, change: Change) -> None:
    path, rows = change.path, change.rows
    if not change.ordered:
        connection.executemany("DELETE FROM yupdates WHERE rowid = ?", ((row[0],) for row in rows))
        return
    # By the index, and at once: half the work of one by one.
    query = "DELETE FROM yupdates WHERE path = ? AND timestamp <= ? AND rowid <= ?"
    if connection.execute(query, (path, rows[-1][3], rows[-1][0])).rowcount != len(rows):
        raise Changed


def _is_unchanged(connection: sqlite3.Connection, change: Change) -> bool:
    path, rows = change.path, change.rows
    stored: list[tuple[int, bytes]] = []
    before: int | None = None
    if has_table(connection, "ysegments"):
        query = "SELECT seq, data FROM ysegments WHERE path = ? AND seq >= ? ORDER BY seq LIMIT ?"
        stored = connection.execute(query, (path, change.start, len(change.old) + 1)).fetchall()
        query = "SELECT seq + updates FROM ysegments WHERE path = ? AND seq < ? ORDER BY seq DESC LIMIT 1"
        row = connection.execute(query, (path, change.start)).fetchone()
        before = row and row[0]
    if before is None:
        before = positions(connection, path)[0] if not change.old else change.start
    if before != change.start:
        return False
    old = [(place.seq, blob) for place, blob in change.old]
    if (stored if rows else stored[: len(old)]) != old:
        return False
    if not rows:
        return True
    # Rows that were inserted since are behind these. Before them, or between them, there can be none.
    last = rows[-1][0]
    query, values = "SELECT count(*) FROM yupdates WHERE path = ? AND rowid <= ?", (path, last)
    if change.ordered:
        query, values = f"{query} AND timestamp <= ?", (*values, rows[-1][3])  # type: ignore[assignment]
    if connection.execute(query, values).fetchone()[0] != len(rows):
        return False
    return _still_there(connection, path, rows)


def _still_there(connection: sqlite3.Connection, path: str, rows: Sequence[Row]) -> bool:
    for start in range(0, len(rows), BATCH):
        part = rows[start : start + BATCH]
        marks = ",".join("?" * len(part))
        query = (
            "SELECT rowid, yupdate, metadata, timestamp FROM yupdates "
            f"WHERE rowid IN ({marks}) AND path = ? ORDER BY rowid"
        )
        if connection.execute(query, (*(row[0] for row in part), path)).fetchall() != list(part):
            return False
    return True


def replace_values(
    connection: sqlite3.Connection, path: str, values: Sequence[tuple[int, object, bytes]]
) -> tuple[int, int]:
    """Put new values into rows, in a transaction of its own.

    Args:
        connection: the file.
        path: the document's path key.
        values: tuples of rowid, the value that is there, and the new one. A row that holds another value stays.

    Returns:
        How many rows were changed, and by how many bytes they became smaller.
    """
    query = "UPDATE yupdates SET yupdate = ? WHERE rowid = ? AND path = ? AND yupdate IS ?"
    changed = saved = 0
    with transaction(connection):
        for rowid, old, new in values:
            if connection.execute(query, (new, rowid, path, old)).rowcount == 1:
                changed += 1
                saved += (len(old) if isinstance(old, bytes) else 0) - len(new)
    return changed, saved


def read_checkpoint(connection: sqlite3.Connection, path: str) -> object:
    """The value of a document's checkpoint; None if it has none."""
    if not has_table(connection, "ycheckpoints"):
        return None
    row = connection.execute("SELECT checkpoint FROM ycheckpoints WHERE path = ?", (path,)).fetchone()
    return row and row[0]


def replace_checkpoint(connection: sqlite3.Connection, path: str, old: bytes, new: bytes) -> bool:
    """Put a new value into a checkpoint, unless it is another one by now. What it covers stays the same."""
    with transaction(connection):
        query = "UPDATE ycheckpoints SET checkpoint = ? WHERE path = ? AND checkpoint = ?"
        return connection.execute(query, (new, path, old)).rowcount == 1


def vacuum(connection: sqlite3.Connection, in_memory: bool) -> None:
    """Rebuild the file without free pages; from then on it gives them back by itself.

    Args:
        connection: the file.
        in_memory: whether the copy that SQLite makes meanwhile is kept in memory.
    """
    connection.execute(f"PRAGMA temp_store = {'MEMORY' if in_memory else 'FILE'}")
    connection.execute("PRAGMA auto_vacuum = FULL")
    connection.execute("VACUUM")
