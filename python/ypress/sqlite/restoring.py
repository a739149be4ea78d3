"""From segments back to rows, from the end of a history to its beginning: at every moment it is complete.

The rows of a document follow its segments. So the last segment goes first, and its rows are put before those that are
there, under rowids that are below theirs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from .checkpoints import stock_timestamp
from .connection import transaction
from .history import Record
from .layout import layout, positions
from .rewriting import Changed
from .schema import OWN_TABLES, add_positions, has_table
from .segments import store_segment

__all__ = [
    "Start",
    "forget_own",
    "last_segment",
    "packed_left",
    "restore_checkpoint",
    "rows_of_last_segment",
    "split_last_segment",
]

# So many rows are given new rowids to make room below them; more are left where they are.
_MOVED = 2_000


@dataclass(frozen=True)
class Start:
    """Where the rows of a document begin, found once: it takes a look at all of them.

    Nobody puts rows of a document before those that are there, but a file that is rebuilt numbers them anew; it counts
    that as a change of its schema.

    Args:
        rowid: of the first row.
        schema: SQLite's ``schema_version`` at that time.
    """

    rowid: int
    schema: int


def last_segment(connection: sqlite3.Connection, path: str) -> tuple[int, bytes] | None:
    """The position and blob of a document's last segment; None if it has none."""
    if not has_table(connection, "ysegments"):
        return None
    query = "SELECT seq, data FROM ysegments WHERE path = ? ORDER BY seq DESC LIMIT 1"
    row = connection.execute(query, (path,)).fetchone()
    return None if row is None else (row[0], bytes(row[1]))


def split_last_segment(
    connection: sqlite3.Connection, path: str, last: tuple[int, bytes], parts: Sequence[tuple[int, bytes]]
) -> None:
    """Put several segments in the place of the last one, in a transaction of its own.

    Raises:
        Changed: it is not the last any more.
    """
    with transaction(connection):
        if last_segment(connection, path) != last:
            raise Changed
        connection.execute("DELETE FROM ysegments WHERE path = ? AND seq = ?", (path, last[0]))
        for seq, blob in parts:
            store_segment(connection, path, seq, blob)


def rows_of_last_segment(
    connection: sqlite3.Connection,
    path: str,
    last: tuple[int, bytes],
    records: Sequence[Record],
    known: Start | None = None,
) -> Start:
    """Put rows in the place of the last segment, in a transaction of its own.

    Args:
        connection: the file.
        path: the document's path key.
        last: the position and blob of the segment.
        records: what it holds.
        known: where the document's rows begin, as this returned it the last time.

    Returns:
        Where they begin now.

    Raises:
        Changed: it is not the last any more.
    """
    with transaction(connection):
        if last_segment(connection, path) != last:
            raise Changed
        query = "SELECT coalesce(sum(updates), 0) FROM ysegments WHERE path = ? AND seq < ?"
        (before,) = connection.execute(query, (path, last[0])).fetchone()
        start = _free_rowids(connection, path, len(records), before, _still(connection, path, known))
        connection.executemany(
            "INSERT INTO yupdates (rowid, path, yupdate, metadata, timestamp) VALUES (?, ?, ?, ?, ?)",
            ((start + index, path, *record) for index, record in enumerate(records)),
        )
        connection.execute("DELETE FROM ysegments WHERE path = ? AND seq = ?", (path, last[0]))
        if not before and positions(connection, path)[0] != last[0]:
            add_positions(connection)
            connection.execute(
                "INSERT INTO ypositions (path, first) VALUES (?, ?) "
                "ON CONFLICT (path) DO UPDATE SET first = excluded.first",
                (path, last[0]),
            )
        covered = positions(connection, path)[1]
        if covered is not None and covered <= last[0] + len(records):
            # Rows behind the checkpoint, or the last that it holds, came back: it may not be younger than these.
            since = stock_timestamp(connection, path, layout(connection, path), covered)
            connection.execute("UPDATE ycheckpoints SET timestamp = ? WHERE path = ?", (since, path))
        return Start(start, _schema(connection))


def _schema(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA schema_version").fetchone()[0])


def _still(connection: sqlite3.Connection, path: str, known: Start | None) -> int | None:
    """Where the document's rows begin, if what is known of that holds."""
    if known is None or known.schema != _schema(connection):
        return None
    query = "SELECT 1 FROM yupdates WHERE rowid = ? AND path = ?"
    return None if connection.execute(query, (known.rowid, path)).fetchone() is None else known.rowid


def _free_rowids(connection: sqlite3.Connection, path: str, count: int, before: int, first: int | None) -> int:
    """The first of `count` rowids that are free and right below those of the document's rows.

    Room for the `before` updates that will follow is kept.
    """
    # Two statements: SQLite looks one end up, but for both at once it reads the whole table.
    (lowest,) = connection.execute("SELECT min(rowid) FROM yupdates").fetchone()
    (highest,) = connection.execute("SELECT max(rowid) FROM yupdates").fetchone()
    top = max(0, highest or 0) + 1 + before
    if first is None:
        (first,) = connection.execute("SELECT min(rowid) FROM yupdates WHERE path = ?", (path,)).fetchone()
    if first is None:
        return top
    query = "SELECT max(rowid) FROM yupdates WHERE rowid < ?"
    (below,) = connection.execute(query, (first,)).fetchone()
    if first - count > (0 if below is None else below):
        return int(first - count)
    query = "SELECT count(*) FROM (SELECT 1 FROM yupdates WHERE path = ? LIMIT ?)"
    if connection.execute(query, (path, _MOVED + 1)).fetchone()[0] <= _MOVED:
        query = "UPDATE yupdates SET rowid = rowid + ? WHERE path = ?"
        connection.execute(query, (top + count - first, path))
        return int(top)
    return int(min(0, lowest) - count)


def restore_checkpoint(connection: sqlite3.Connection, path: str, old: bytes, state: bytes | None) -> bool:
    """Make a checkpoint what stock code understands, or remove it, in a transaction of its own.

    Stock code loads it and the rows that are not older than it.

    Args:
        connection: the file; the document has no segments.
        path: the document's path key.
        old: the value that is there.
        state: what it holds; None if it cannot be read.

    Returns:
        Whether it is still there. One of which it is not known what it covers goes, since stock code could take
        too much for covered; everything is in the history.
    """
    with transaction(connection):
        row = connection.execute("SELECT checkpoint FROM ycheckpoints WHERE path = ?", (path,)).fetchone()
        if row is None or row[0] != old:
            return row is not None
        known = False
        if has_table(connection, "ypositions"):
            query = "SELECT 1 FROM ypositions WHERE path = ?"
            known = connection.execute(query, (path,)).fetchone() is not None
        at = layout(connection, path)
        if state is None or (known and at.covered is None):
            connection.execute("DELETE FROM ycheckpoints WHERE path = ?", (path,))
            return False
        query = "UPDATE ycheckpoints SET checkpoint = ? WHERE path = ?"
        connection.execute(query, (state, path))
        if at.covered is not None:
            behind = at.rowids[max(0, at.covered - at.first) :]
            least = "SELECT max(timestamp) FROM yupdates WHERE path = ?"
            values: tuple[object, ...] = (path,)
            if behind:
                least = "SELECT min(timestamp) FROM yupdates WHERE path = ? AND rowid >= ?"
                values = (path, behind[0])
            query = f"UPDATE ycheckpoints SET timestamp = coalesce(({least}), timestamp) WHERE path = ?"
            connection.execute(query, (*values, path))
        return True


def packed_left(connection: sqlite3.Connection) -> int:
    """How many segments there are in the file."""
    if not has_table(connection, "ysegments"):
        return 0
    return int(connection.execute("SELECT count(*) FROM ysegments").fetchone()[0])


def forget_own(connection: sqlite3.Connection) -> int:
    """Remove all tables and triggers that the stock store does not have, in a transaction of its own.

    Returns:
        How many records that were moved aside are left, in their table.

    Raises:
        Changed: there are segments.
    """
    with transaction(connection):
        if packed_left(connection):
            raise Changed
        query = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'ypress\\_%' ESCAPE '\\'"
        for (name,) in connection.execute(query).fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        aside = 0
        for table in OWN_TABLES:
            if not has_table(connection, table):
                continue
            if table == "yaside":
                (aside,) = connection.execute("SELECT count(*) FROM yaside").fetchone()
                if aside:
                    continue
            connection.execute(f"DROP TABLE {table}")
    return int(aside)
