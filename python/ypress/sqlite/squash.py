"""Squashing: a document's older history replaced by one update that has all of its content."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from ..errors import CorruptData, Error
from .errors import DamagedHistory
from .history import Record, damaged, placed_records, read_page
from .layout import Layout, layout
from .options import Options
from .replay import Replay
from .schema import add_positions, has_table
from .segments import insert_segment
from .values import Values
from .worker import Write

if TYPE_CHECKING:
    from .database import Database, Document

__all__ = ["before_writes", "squash", "try_squash"]

# What has changed in the file is noted in memory once it is certain.
Committed = Callable[[], None]


def before_writes(database: Database, connection: sqlite3.Connection, group: list[Write]) -> list[Committed]:
    """Squash the documents that are due, before these writes are added, in the transaction that will add them.

    Returns:
        What is to be called once that is committed.
    """
    seen = set()
    committed: list[Committed] = []
    for write in group:
        options = write.options
        if write.path in seen or (
            options.squash_after_inactivity_of is None and options.squash_history_older_than is None
        ):
            continue
        seen.add(write.path)
        document = database.document(write.path)
        cutoff = _cutoff(connection, document, options, write.timestamp)
        if cutoff is None:
            continue
        # Noted before it is certain: a disk that is too full for a squash must not hold up the writes behind it.
        document.squashed = write.timestamp
        committed.append(try_squash(database, connection, document, options, cutoff))
    return committed


def try_squash(
    database: Database, connection: sqlite3.Connection, document: Document, options: Options, cutoff: float
) -> Committed:
    """Squash, in the caller's transaction; or, where the history does not allow it, leave it as it is and say so.

    Returns:
        What is to be called once the transaction is committed.
    """
    connection.execute("SAVEPOINT squashing")
    committed: Committed | None = None
    try:
        committed = squash(connection, document, options, cutoff)
    except sqlite3.Error:
        raise  # of the file: it is the whole transaction's
    except BaseException as error:  # noqa: BLE001 - a panic of pycrdt is one; a write that is on the way must go on
        connection.execute("ROLLBACK TO squashing")
        database.log.error("document %s is not squashed: %s", document.path, error)
    connection.execute("RELEASE squashing")
    return committed or _nothing


def _nothing() -> None:
    """What follows where nothing was done."""


def _cutoff(connection: sqlite3.Connection, document: Document, options: Options, now: float) -> float | None:
    """The time up to which a document's history is due to be squashed; None if it is not."""
    if document.squashed is not None and now - document.squashed <= options.squash_no_more_often_than:
        return None
    oldest, newest = _span(connection, document.path)
    if oldest is None or newest is None:
        return None
    inactivity, history = options.squash_after_inactivity_of, options.squash_history_older_than
    if inactivity is not None and now - newest > inactivity:
        return now
    if history is not None and now - oldest > history:
        return now - history
    return None


def _span(connection: sqlite3.Connection, path: str) -> tuple[float | None, float | None]:
    """The timestamps of the first and the last update of a document, as far as they are numbers."""
    query = "SELECT min(timestamp), max(timestamp) FROM yupdates WHERE path = ? AND typeof(timestamp) = 'real'"
    spans = [connection.execute(query, (path,)).fetchone()]
    if has_table(connection, "ysegments"):
        query = "SELECT min(first_timestamp), max(last_timestamp) FROM ysegments WHERE path = ?"
        spans.append(connection.execute(query, (path,)).fetchone())
    firsts = [first for first, _ in spans if first is not None]
    lasts = [last for _, last in spans if last is not None]
    return min(firsts, default=None), max(lasts, default=None)


def squash(connection: sqlite3.Connection, document: Document, options: Options, cutoff: float) -> Committed | None:
    """Squash the history up to a time into one update, in the caller's transaction.

    The update takes the place of the last one that it replaces, and keeps that one's metadata and timestamp.

    Args:
        connection: the file, with a transaction open.
        document: whose history it is.
        options: how values are read and written.
        cutoff: seconds since the epoch; the updates before the first later one are squashed.

    Returns:
        What is to be called once the transaction is committed; None if there was nothing to squash.

    Raises:
        DamagedHistory: a value cannot be read; nothing was changed.
    """
    path, values = document.path, options.values
    at = layout(connection, path)
    replay = Replay()
    last: Record | None = None
    position = at.first
    for place, record in _records(connection, path, at, values, at.end):
        if not isinstance(record[2], float):
            raise damaged(path, place, CorruptData("its timestamp is no number", "row", 0))
        if record[2] > cutoff:
            break
        try:
            replay.apply(record[0])
        except Error as error:
            raise damaged(path, place, error) from error
        last = record
        position += 1
    if last is None or position - at.first < 2:
        return None
    if not replay.complete:
        raise DamagedHistory(
            f"document {path}: updates that others depend on are missing from its history, and squashing it would lose "
            "those others, too; run `jupyter ypress verify` on the store",
            path,
        )
    squashed: Record = (replay.state(), last[1], last[2])
    packed = _records(connection, path, at, values, at.first_loose)
    rest = [record for _, record in islice(packed, position - at.first, None)]
    return _replace(connection, document, options, _Squashed(at, position, squashed, rest))


@dataclass(frozen=True)
class _Squashed:
    """What takes the place of a history's beginning.

    Args:
        at: the layout before.
        position: behind the last squashed update.
        record: the update that has the content of all these.
        rest: what segments hold behind the position.
    """

    at: Layout
    position: int
    record: Record
    rest: list[Record]


def _replace(connection: sqlite3.Connection, document: Document, options: Options, new: _Squashed) -> Committed:
    """Put the squashed update in the place of what it replaces. Returns what is to be called once it is committed."""
    path, at, position = document.path, new.at, new.position
    squashed, rest = new.record, new.rest
    loose = position - at.first_loose
    if at.segments:
        connection.execute("DELETE FROM ysegments WHERE path = ?", (path,))
    if loose > 0 and position == at.end:
        connection.execute("DELETE FROM yupdates WHERE path = ?", (path,))
        value = options.values.encode(squashed[0])
        connection.execute("INSERT INTO yupdates VALUES (?, ?, ?, ?)", (path, value, *squashed[1:]))
    elif loose > 0:
        # The last squashed row keeps its rowid, and with it its place before the rows that stay.
        gone, kept = at.rowids[: loose - 1], at.rowids[loose - 1]
        connection.executemany("DELETE FROM yupdates WHERE rowid = ?", ((rowid,) for rowid in gone))
        connection.execute(
            "UPDATE yupdates SET yupdate = ?, metadata = ?, timestamp = ? WHERE rowid = ?",
            (options.values.encode(squashed[0]), *squashed[1:], kept),
        )
    else:
        insert_segment(connection, path, position - 1, [squashed, *rest], options.pack_level)
    # The checkpoint goes, since it may be as large as what was squashed; the squashed update does its work.
    connection.execute("DELETE FROM ycheckpoints WHERE path = ?", (path,))
    if at.segments or has_table(connection, "ypositions"):
        add_positions(connection)
        connection.execute(
            "INSERT INTO ypositions (path, first, covered) VALUES (?, ?, NULL) "
            "ON CONFLICT (path) DO UPDATE SET first = excluded.first, covered = NULL",
            (path, position - 1),
        )
        return partial(document.squashed_by, 0)
    # A file that is as the stock store made it stays so; nothing stored in it names a position.
    return partial(document.squashed_by, position - 1 - at.first)


def _records(
    connection: sqlite3.Connection, path: str, at: Layout, values: Values, end: int
) -> Iterator[tuple[str, Record]]:
    """The records up to a position, each with its place."""
    position: int | None = at.first
    while position is not None and position < end:
        page = read_page(connection, path, at, position)
        yield from placed_records(page, path, values)
        position = page.next
