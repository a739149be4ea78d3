"""Reading a document's history by position, a bounded page at a time, with no transaction open in between."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, Protocol

from .._native import unpack
from ..errors import CorruptData, Error
from .errors import DamagedHistory, StoreError
from .layout import Layout, continues, data_version, layout, lost, positions, snapshot
from .observing import observer
from .schema import has_table
from .values import Values

__all__ = [
    "BATCH",
    "Changes",
    "Page",
    "Reader",
    "Record",
    "Row",
    "damaged",
    "loose_tail",
    "placed_records",
    "plain_records",
    "read_page",
    "records_of",
    "rows_at",
]

Record = tuple[bytes, bytes | None, float]
# A stored row: rowid, value, metadata, timestamp.
Row = tuple[int, object, bytes | None, float]
# The same without the rowid: with a raw value, it is a record already.
Stored = tuple[object, bytes | None, float]

_VALUE: Callable[[Stored], Any] = itemgetter(0)

# Rows that one statement reads, and rows of a page.
BATCH = 900
_PAGE_ROWS = 4 * BATCH
_PAGE_BYTES = 4 << 20
# Rows of all documents that are looked through for those of one, rather than counting all rows of that one.
_NEAR = 50_000


@dataclass(frozen=True)
class Page:
    """Some consecutive records as they are stored.

    Args:
        position: of the first one.
        next: the position to go on at; None behind the last record.
        segment: a segment's blob; None for a page of rows.
        skip: how many records of the segment come before `position`.
        rowids: where the loose rows are stored.
        rows: the loose rows.
        size: the bytes of the values of these rows.
        missing: where a segment should be and is not, the error that says so; there are no records then.
    """

    position: int
    next: int | None
    segment: bytes | None = None
    skip: int = 0
    rowids: Sequence[int] = ()
    rows: list[Stored] = field(default_factory=list)
    size: int = 0
    missing: DamagedHistory | None = None


def loose_tail(connection: sqlite3.Connection, path: str, position: int, since: float | None, most: int) -> Page | None:
    """The rows from a position on, and perhaps some before it, without looking at all that come before.

    Args:
        connection: the file.
        path: the document's path key.
        position: up to which the checkpoint holds the history.
        since: the checkpoint's timestamp: at its making, no row from the one before the position on was older.
        most: how many rows are wanted.

    Returns:
        A page of them; None if the position is in a segment, or if there are more than `most` rows or too many bytes.
    """
    with snapshot(connection):
        first_loose = positions(connection, path)[0]
        if has_table(connection, "ysegments"):
            query = "SELECT seq + updates FROM ysegments WHERE path = ? ORDER BY seq DESC LIMIT 1"
            row = connection.execute(query, (path,)).fetchone()
            first_loose = row[0] if row is not None else first_loose
        if position < first_loose:
            return None
        most = min(most, BATCH)
        rowids: array[int] | None
        if position == first_loose:
            rowids = _oldest(connection, path, float("-inf"), most)
        else:
            rowids = None if since is None else _appended(connection, path, since, most)
            if rowids is None:
                rowids = _counted(connection, path, position - first_loose, most)
        if not rowids:
            return None if rowids is None else Page(position, None)
        found, rows, size = _rows(connection, rowids)
    return Page(position, None, rowids=found, rows=rows, size=size) if len(rows) == len(rowids) else None


def _oldest(connection: sqlite3.Connection, path: str, since: float, most: int) -> array[int] | None:
    """The rows that are not older than `since`, in the order in which they were inserted; None if they are more."""
    query = "SELECT rowid FROM yupdates WHERE path = ? AND timestamp >= ? LIMIT ?"
    found = sorted(row for (row,) in connection.execute(query, (path, since, most + 1)))
    return array("q", found) if len(found) <= most else None


def _appended(connection: sqlite3.Connection, path: str, since: float, most: int) -> array[int] | None:
    """The rows that are not older than `since`, if all that were inserted after the first of them are among them.

    Since rows are only ever added behind the others (what removes some makes the position unknown), and one of these
    rows was there when the checkpoint was made, no row behind the checkpoint is missed, whatever the clock has done.
    """
    rowids = _oldest(connection, path, since, most)
    if not rowids:
        return None
    (latest,) = connection.execute("SELECT max(rowid) FROM yupdates").fetchone()
    if latest - rowids[0] > _NEAR:
        return None
    query = "SELECT count(*) FROM yupdates NOT INDEXED WHERE rowid >= ? AND path = ?"
    (count,) = connection.execute(query, (rowids[0], path)).fetchone()
    return rowids if count == len(rowids) else None


def _counted(connection: sqlite3.Connection, path: str, covered: int, most: int) -> array[int] | None:
    """The rows behind the first `covered` ones; None if they are more than `most`, or fewer than none."""
    (count,) = connection.execute("SELECT count(*) FROM yupdates WHERE path = ?", (path,)).fetchone()
    if not 0 <= count - covered <= most:
        return None
    query = "SELECT rowid FROM yupdates WHERE path = ? ORDER BY rowid DESC LIMIT ?"
    return array("q", sorted(row for (row,) in connection.execute(query, (path, count - covered))))


def read_page(connection: sqlite3.Connection, path: str, at: Layout, position: int) -> Page:
    """The records from a position on, as far as they fit into a page.

    Args:
        connection: the file.
        path: the document's path key.
        at: its layout now.
        position: where to begin; before the first record it means the first.
    """
    position = max(position, at.first)
    if position < at.first_loose:
        return _segment_page(connection, path, at, position)
    begin = position - at.first_loose
    rowids, rows, size = _rows(connection, at.rowids[begin : begin + _PAGE_ROWS])
    after = position + len(rows)
    return Page(position, after if after < at.end and rows else None, rowids=rowids, rows=rows, size=size)


class Changes(Protocol):
    """What this process did to the stored history of a document."""

    @property
    def structure(self) -> int:
        """Counts changes of positions and rowids."""

    @property
    def shift(self) -> int:
        """By how much positions have become smaller since the file was opened."""


class Reader:
    """Reads a document's history page by page, whatever happens to it between two pages.

    Args:
        path: the document's path key.
        changes: what happens to it in this process.
        position: where to begin.
    """

    def __init__(self, path: str, changes: Changes, position: int = 0) -> None:
        self._path = path
        self._changes = changes
        self._shift = changes.shift
        self._position: int | None = position
        self._layout: tuple[int, Layout] | None = None

    @property
    def layout(self) -> Layout | None:
        """The layout by which it read the last page; None before the first."""
        return self._layout and self._layout[1]

    def go_to(self, position: int) -> None:
        """Read on from there."""
        self._position = position

    def next_page(self, connection: sqlite3.Connection) -> Page | None:
        """The next page; None at the end.

        Raises:
            StoreError: another process has removed the history, or a part of it.
        """
        with snapshot(connection):  # or another process might change the file between looking up and reading
            return self._next_page(connection)

    def look_up(self, connection: sqlite3.Connection) -> Layout:
        """Where everything lies now. What was read stays read."""
        changes, known = self._changes, self._layout
        if known is not None and known[0] == changes.structure and known[1].stamp == data_version(connection):
            return known[1]
        at = layout(connection, self._path, order=False)
        shift = changes.shift - self._shift
        if known is not None and known[1].stamp != at.stamp and lost(known[1], at, shift):
            raise StoreError(
                f"document {self._path}: another process has removed updates while they were read; read it again for "
                "what is left",
                self._path,
            )
        self._layout = (changes.structure, at)
        if self._position is not None:
            self._position = max(0, self._position - shift)
            if known is not None and known[1].stamp != at.stamp and not continues(known[1], at, shift):
                # Another process squashed what was read: rather some of it twice than anything not at all.
                self._position = at.first
        self._shift = changes.shift
        return at

    def _next_page(self, connection: sqlite3.Connection) -> Page | None:
        if self._position is None:
            return None
        at = self.look_up(connection)
        if self._position > at.end:
            self._position = at.first
        if max(self._position, at.first) >= at.end:
            self._position = None
            return None
        page = read_page(connection, self._path, at, self._position)
        self._position = page.next
        return page


def _segment_page(connection: sqlite3.Connection, path: str, at: Layout, position: int) -> Page:
    index = bisect_right(at.segments, position, key=lambda segment: segment.seq) - 1
    segment = at.segments[index]
    if position >= segment.end:
        behind = at.segments[index + 1].seq
        error = DamagedHistory(
            f"document {path}: the updates {segment.end} to {behind - 1} are missing between two segments; "
            "run `jupyter ypress verify` on the store",
            path,
            f"before segment {behind}",
        )
        return Page(position, behind, missing=error)
    query = "SELECT data FROM ysegments WHERE path = ? AND seq = ?"
    (blob,) = connection.execute(query, (path, segment.seq)).fetchone()
    return Page(position, segment.end if segment.end < at.end else None, blob, position - segment.seq)


def rows_at(connection: sqlite3.Connection, rowids: array[int]) -> Iterator[Row]:
    """At most `BATCH` rows, in the order of their rowids."""
    yield from _rows_at(connection, rowids, "rowid, yupdate, metadata, timestamp")


def _rows_at(connection: sqlite3.Connection, rowids: array[int], columns: str) -> sqlite3.Cursor:
    if rowids and rowids[-1] - rowids[0] == len(rowids) - 1:
        # A document that was written alone: a walk through the table takes two thirds of the time.
        query = f"SELECT {columns} FROM yupdates WHERE rowid BETWEEN ? AND ? ORDER BY rowid"
        return connection.execute(query, (rowids[0], rowids[-1]))
    marks = ",".join("?" * len(rowids))
    query = f"SELECT {columns} FROM yupdates WHERE rowid IN ({marks}) ORDER BY rowid"
    return connection.execute(query, rowids.tolist())


def _rows(connection: sqlite3.Connection, rowids: array[int]) -> tuple[array[int], list[Stored], int]:
    """As many of these rows as fit into a page, but at least one: their rowids, the rows, and the bytes of these."""
    found: array[int] = array("q")
    rows: list[Stored] = []
    room = _PAGE_BYTES
    for start in range(0, len(rowids), BATCH):
        wanted = rowids[start : start + BATCH]
        # Without the rowids, which are known: it saves a quarter of the time.
        taken, room = _fitting(_rows_at(connection, wanted, "yupdate, metadata, timestamp"), room)
        if len(taken) < len(wanted) and room > 0:
            # The index has rows that the table lacks.
            there = list(rows_at(connection, wanted))
            wanted, taken = array("q", [row[0] for row in there]), [row[1:] for row in there]
        found += wanted[: len(taken)]
        rows += taken
        if room <= 0:
            break
    return found, rows, _PAGE_BYTES - room


def _fitting(cursor: sqlite3.Cursor, room: int) -> tuple[list[Stored], int]:
    """The rows of a cursor, until they have so many bytes; and how many bytes of room are left, 0 or less then."""
    rows: list[Stored] = []
    take = 8
    while taken := cursor.fetchmany(take):
        rows += taken
        took = _bytes(taken)
        room -= took
        if room <= 0:
            break
        # Many at once, but not many large ones.
        take = min(BATCH, max(1, room * len(taken) // (4 * took + 1)), 8 * take)
    return rows, room


def _bytes(rows: list[Stored]) -> int:
    """The bytes of these values."""
    try:
        return sum(map(len, map(_VALUE, rows)))
    except TypeError:  # a damaged file may hold anything
        return sum([len(row[0]) for row in rows if isinstance(row[0], bytes)])


def placed_records(page: Page, path: str, values: Values) -> Iterator[tuple[str, Record]]:
    """The records of a page, decoded one by one, each with the place where it is stored.

    Raises:
        DamagedHistory: one cannot be decoded, or is missing; those before it have been yielded.
    """
    if page.missing is not None:
        if (watching := observer()) is not None:
            watching.damaged()
        raise page.missing
    if page.segment is None:
        for rowid, (value, metadata, timestamp) in zip(page.rowids, page.rows, strict=True):
            place = f"row {rowid}"
            try:
                update = values.decode(value)
            except Error as error:
                raise damaged(path, place, error) from error
            yield place, (update, metadata, timestamp)
        return
    place = f"segment {page.position - page.skip}"
    try:
        for index, record in enumerate(_unpacked(page.segment)):
            if index >= page.skip:
                yield place, record
    except Error as error:
        raise damaged(path, place, error) from error


def _unpacked(blob: object) -> Iterator[Record]:
    """The records of a segment; a damaged file may hold text in its place."""
    if not isinstance(blob, bytes):
        raise CorruptData(f"the segment is {type(blob).__name__}, not bytes", "segment", 0)
    return unpack(blob)


def plain_records(page: Page, values: Values) -> list[Record]:
    """The records of a page.

    Raises:
        CorruptData, TooLarge, UnsupportedFormat: one cannot be decoded; `placed_records` tells which.
        DamagedHistory: a segment is missing.
    """
    if page.missing is not None:
        raise page.missing
    if page.segment is None:
        return values.decode_rows(page.rows)
    records = list(_unpacked(page.segment))
    return records[page.skip :] if page.skip else records


def records_of(
    page: Page, path: str, values: Values, damage: Callable[[DamagedHistory], object] | None = None
) -> list[Record]:
    """The records of a page.

    Args:
        page: the page.
        path: the document's path key.
        values: how values are decoded.
        damage: told of what cannot be decoded or is missing, which is left out.

    Raises:
        DamagedHistory: one cannot be decoded, and `damage` is None.
    """
    try:
        return plain_records(page, values)
    except Error:
        pass  # said below, with the place
    if damage is None:
        return [record for _, record in placed_records(page, path, values)]
    records = []
    # A row is damaged for itself, a segment as a whole.
    parts = [page]
    if page.rows:
        each = zip(page.rowids, page.rows, strict=True)
        parts = [replace(page, rowids=(rowid,), rows=[row]) for rowid, row in each]
    for part in parts:
        try:
            records += [record for _, record in placed_records(part, path, values)]
        except DamagedHistory as error:
            damage(error)
    return records


def damaged(path: str, place: str, error: Error) -> DamagedHistory:
    """The error that tells where a value is damaged."""
    if (watching := observer()) is not None:
        watching.damaged()
    return DamagedHistory(
        f"document {path}, {place}: {error}. Run `jupyter ypress verify` on the store to see what else is damaged",
        path,
        place,
    )
