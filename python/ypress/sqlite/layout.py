"""Where everything of a document lies: its segments by `seq`, then its loose rows by rowid.

The position of an update is its index in all that was ever stored, so it stays the same when rows move into a segment;
squashing n updates into one makes them all the position of the last.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain

from .schema import has_table

__all__ = ["Layout", "SegmentPlace", "continues", "data_version", "layout", "lost", "positions", "snapshot"]


@dataclass(frozen=True)
class SegmentPlace:
    """Where a segment lies in the history.

    Args:
        seq: the position of its first update.
        updates: how many it holds.
        raw_bytes: the bytes of these updates.
        stored: the bytes of the blob.
    """

    seq: int
    updates: int
    raw_bytes: int
    stored: int

    @property
    def end(self) -> int:
        """The position behind its last update."""
        return self.seq + self.updates


@dataclass(frozen=True)
class Layout:
    """Where everything of a document lies at one moment.

    Args:
        segments: by position.
        noted: the position at which the history begins by the file's own account.
        first_loose: the position of the first loose row.
        rowids: of the loose rows, in the order in which they were inserted.
        ordered: whether the index by timestamp is known to have them in that order, too.
        covered: the position up to which the checkpoint holds the history; None where that is not known.
        stamp: tells whether another process has changed the file since; see `data_version`.
    """

    segments: tuple[SegmentPlace, ...]
    noted: int
    first_loose: int
    rowids: array[int]
    ordered: bool
    covered: int | None
    stamp: tuple[int, int]

    @property
    def first(self) -> int:
        """The position of the first update."""
        return self.segments[0].seq if self.segments else self.first_loose

    @property
    def end(self) -> int:
        """The position behind the last update."""
        return self.first_loose + len(self.rowids)


def data_version(connection: sqlite3.Connection) -> tuple[int, int]:
    """What changes when another connection has changed the file, and when it has been opened anew."""
    return getattr(connection, "opened", 0), int(connection.execute("PRAGMA data_version").fetchone()[0])


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """A read transaction, unless the caller has one open: several statements that see the same moment."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")


def positions(connection: sqlite3.Connection, path: str) -> tuple[int, int | None]:
    """The stored positions of a document: of its first update, and up to which the checkpoint goes, if known."""
    if not has_table(connection, "ypositions"):
        return 0, None
    query = "SELECT first, covered FROM ypositions WHERE path = ?"
    first, covered = connection.execute(query, (path,)).fetchone() or (0, None)
    return first, covered


def layout(connection: sqlite3.Connection, path: str, most: int = -1, *, order: bool = True) -> Layout:
    """Look up where everything of a document lies.

    Args:
        connection: the file.
        path: the document's path key.
        most: how many loose rows are wanted; for documents that are known to be `ordered`. All by default.
        order: whether the index by timestamp is looked at; without, it may be left open, and a long history that has
            the file to itself takes a fraction of the time.
    """
    with snapshot(connection):
        stamp = data_version(connection)
        first, covered = positions(connection, path)
        segments: tuple[SegmentPlace, ...] = ()
        if has_table(connection, "ysegments"):
            query = "SELECT seq, updates, raw_bytes, length(data) FROM ysegments WHERE path = ? ORDER BY seq"
            segments = tuple(SegmentPlace(*row) for row in connection.execute(query, (path,)))
        end = segments[-1].end if segments else first
        if not order and (run := _alone(connection, path)) is not None:
            return Layout(segments, first, end, array("q", run), False, covered, stamp)
        found = _rowids(connection, path, most)
    rowids = sorted(found)
    ordered = rowids == found  # or else a clock was set back
    return Layout(segments, first, end, array("q", rowids), ordered, covered, stamp)


def _alone(connection: sqlite3.Connection, path: str) -> range | None:
    """The rowids of a document that has all rows of the table, without a gap; None where that is not so."""
    with suppress(sqlite3.OperationalError):  # it has no such index
        for side in ("<", ">"):
            query = f"SELECT 1 FROM yupdates INDEXED BY idx_yupdates_path_timestamp WHERE path {side} ? LIMIT 1"
            if connection.execute(query, (path,)).fetchone() is not None:
                return None
        # Three statements: SQLite looks each of these up, but for several at once it reads the whole table.
        ends = [connection.execute(f"SELECT {end}(rowid) FROM yupdates").fetchone()[0] for end in ("min", "max")]
        (count,) = connection.execute("SELECT count(*) FROM yupdates").fetchone()
        if count and ends[1] - ends[0] == count - 1:
            return range(ends[0], ends[1] + 1)
    return None


def _rowids(connection: sqlite3.Connection, path: str, most: int) -> list[int]:
    """The rowids of a document's loose rows, by timestamp; at most so many, or all if `most` is negative."""
    if most < 0:
        # As one string: a row for each would take several times as long. A walk through an index is in its order.
        query = "SELECT group_concat(rowid) FROM yupdates INDEXED BY idx_yupdates_path_timestamp WHERE path = ?"
        with suppress(sqlite3.OperationalError):  # it has no such index
            (joined,) = connection.execute(query, (path,)).fetchone()
            # Twice as fast as splitting it and making an int of each.
            return [] if joined is None else list(json.loads(f"[{joined}]"))
    query = "SELECT rowid FROM yupdates WHERE path = ? ORDER BY timestamp, rowid LIMIT ?"
    return list(chain.from_iterable(connection.execute(query, (path, most))))


def continues(before: Layout, now: Layout, shift: int = 0) -> bool:
    """Whether the positions of a layout still mean the same updates, after another process has changed the file.

    They do where rows were added or packed, where segments have become rows again, which only `restore` does, and where
    ypress has squashed, which notes it. The stock store removes rows, and adds the squashed one, without a word.

    Args:
        before: the layout as it was.
        now: as it is.
        shift: by how much this process has made positions smaller in between.
    """
    if now.first > before.first:
        return True
    moved = now.first_loose - before.first_loose + shift
    if moved < 0:
        kept = now.segments == before.segments[: len(now.segments)]
        return kept and shift == 0 and now.first == before.first and now.end >= before.end
    left = before.rowids[moved:]
    return now.rowids[: len(left)] == left


def lost(before: Layout, now: Layout, shift: int = 0) -> bool:
    """Whether another process has taken something of a history away that nothing else stands for now.

    The arguments are those of `continues`.
    """
    if now.end == now.first:
        return before.end > before.first
    if now.first > now.noted and before.first == before.noted:
        return True  # segments at the beginning; squashing would have noted where it begins
    fewer = now.end - now.first < before.end - before.first
    return fewer and now.first_loose + shift < before.first_loose and not continues(before, now, shift)
