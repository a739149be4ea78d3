"""Packing: the loose rows at the beginning of a document's history move to the end of its segments.

The work is done in the maintenance thread, without the file; then one transaction makes sure that what was packed is
still what is stored, and replaces it. A crash leaves the rows or the segment, never both and never neither.
"""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from .._native import DEFAULT_MAX_SIZE, pack, unpack
from ..errors import CorruptData, Error, TooLarge
from .checkpoints import store_covered
from .connection import transaction
from .history import BATCH, Record, Row, rows_at
from .layout import Layout, SegmentPlace, data_version, layout, positions
from .observing import observer
from .options import Options
from .schema import add_segments
from .segments import store_segment

if TYPE_CHECKING:
    from .database import Database, Document
    from .worker import Write

__all__ = ["after_writes", "pack_document"]

# A segment grows, by being packed anew with the rows that follow, until it holds so many updates or bytes.
SEGMENT_UPDATES = 16_384
SEGMENT_BYTES = 16 << 20
# A larger update stays a row, so that a segment stays within what is unfolded at a time.
LARGEST = DEFAULT_MAX_SIZE // 2
# Rows that one step moves at most; a long history from before is packed in many steps.
STEP_ROWS = 2_000
# The longest pause between two steps, in seconds.
_PAUSE = 0.1
# Rows left over by pauses and closings are worth packing from this number on.
WORTH_PACKING = 32
# Fewer rows are worth packing from so many bytes on; so many start it, as `pack_every` rows do.
MANY_BYTES = 1 << 20
_WORTH_BYTES = 16 << 10


def after_writes(database: Database, document: Document, options: Options, written: list[Write]) -> None:
    """Have a document packed once it has enough loose rows, or once nothing has been written for a while."""
    if not options.pack:
        return
    document.loose_bytes += sum(len(write.value or b"") for write in written)
    if document.loose is not None:
        document.loose += len(written)
    if document.loose is None or document.loose >= options.pack_every or document.loose_bytes >= MANY_BYTES:
        schedule(database, document, options)
    elif not document.packing_later:
        document.packing_later = True
        _schedule_idle(database, document, options, options.pack_idle)
    document.written = time.monotonic()


def schedule(database: Database, document: Document, options: Options, least: int | None = None) -> None:
    """Pack a document soon, if it has at least so many loose rows; by default `pack_every`."""
    if not options.pack or document.unpackable:
        return
    least = options.pack_every if least is None else least
    database.maintenance.add("packing", document.path, lambda: pack_document(database, document, options, least))


def _schedule_idle(database: Database, document: Document, options: Options, delay: float) -> None:
    def work() -> None:
        quiet = time.monotonic() - document.written
        if quiet < options.pack_idle and not database.maintenance.hurried:
            _schedule_idle(database, document, options, options.pack_idle - quiet)
            return
        document.packing_later = False
        if not document.unpackable:
            pack_document(database, document, options, WORTH_PACKING)

    database.maintenance.add("packing when idle", document.path, work, delay)


@dataclass(frozen=True)
class _Plan:
    """What one step may pack, as it is stored.

    Args:
        at: the document's layout.
        structure: the document's structure count at that moment.
        tail: the last segment, if it is to grow; else None.
        blob: that segment's blob.
        rows: the next loose rows.
    """

    at: Layout
    structure: int
    tail: SegmentPlace | None
    blob: bytes | None
    rows: list[Row]


def pack_document(database: Database, document: Document, options: Options, least: int = 1) -> None:
    """Move loose rows into segments, step by step, while there are at least `least` of them.

    To be called in the maintenance thread. A value that cannot be decoded stays where it is, with all that follow.
    """
    while (plan := database.run(partial(_plan, document=document, least=least))) is not None:
        start = time.monotonic()
        _step(database, document, options, plan)
        if document.unpackable:
            return
        # A long history is packed while people work: what they write comes first.
        if not database.maintenance.hurried:
            time.sleep(min(_PAUSE, time.monotonic() - start))


def _step(database: Database, document: Document, options: Options, plan: _Plan) -> None:
    """Pack what one segment takes."""
    start = time.monotonic()
    tail = _tail_records(database, document, plan)
    grown = tail is not None
    records = tail or []
    before = len(records)
    size = plan.tail.raw_bytes if grown and plan.tail is not None else 0
    for row in plan.rows:
        try:
            record = _record(row, options)
        except Error as error:
            document.unpackable = True
            if (watching := observer()) is not None and not isinstance(error, TooLarge):
                watching.damaged()
            database.log.error("document %s, row %d cannot be packed: %s", document.path, row[0], error)
            break
        size += len(record[0]) + len(record[1] or b"")
        if len(records) > before and size > SEGMENT_BYTES:
            break
        records.append(record)
    count = len(records) - before
    if count == 0:
        return
    blob = pack(records, level=options.pack_level)
    if list(unpack(blob)) != records:
        raise AssertionError(f"document {document.path}: a packed segment does not unpack to what was packed")
    seq = plan.tail.seq if grown and plan.tail is not None else plan.at.first_loose
    segment = (seq, blob)
    database.run(lambda connection: _replace(connection, document, plan, plan.rows[:count], segment))
    if (watching := observer()) is not None and document.structure != plan.structure:
        watching.packed(count, time.monotonic() - start)


def _record(row: Row, options: Options) -> Record:
    """A row as it is packed.

    Raises:
        CorruptData, TooLarge, UnsupportedFormat: it has to stay a row.
    """
    _, value, metadata, timestamp = row
    update = options.values.decode(value)
    if len(update) + len(metadata or b"") > LARGEST:
        raise TooLarge("it is too large for a segment", "row", len(update), LARGEST)
    if not (metadata is None or isinstance(metadata, bytes)) or not isinstance(timestamp, float):
        raise CorruptData("its metadata is no bytes, or its timestamp no number", "row", 0)
    return update, metadata, timestamp


def _tail_records(database: Database, document: Document, plan: _Plan) -> list[Record] | None:
    """What the last segment holds, if it is to grow; None if a new one is to be made."""
    if plan.blob is None or plan.tail is None:
        return None
    try:
        return list(unpack(plan.blob))
    except Error as error:
        # What follows is packed all the same; the damage shows when the history is read, and is not made worse.
        database.log.error("document %s, segment %d: %s", document.path, plan.tail.seq, error)
        return None


def _plan(connection: sqlite3.Connection, document: Document, least: int) -> _Plan | None:
    path = document.path
    if document.loose is not None and document.ordered == data_version(connection):
        # Known from the step before, however many rows are still to come.
        at = layout(connection, path, STEP_ROWS)
    else:
        at = layout(connection, path)
        document.loose = len(at.rowids)
        document.ordered = at.stamp if at.ordered else None
    if not at.rowids or (document.loose < least and _bytes(connection, at) < _WORTH_BYTES):
        document.loose_bytes = 0
        return None
    tail = at.segments[-1] if at.segments else None
    if tail is not None and (tail.updates >= SEGMENT_UPDATES or tail.raw_bytes >= SEGMENT_BYTES // 2):
        tail = None
    room = SEGMENT_UPDATES - (tail.updates if tail is not None else 0)
    rows: list[Row] = []
    wanted = at.rowids[: min(STEP_ROWS, room)]
    size = 0
    for start in range(0, len(wanted), BATCH):
        for row in rows_at(connection, wanted[start : start + BATCH]):
            rows.append(row)
            size += len(row[1]) if isinstance(row[1], bytes) else 0
            if size >= SEGMENT_BYTES:
                return _Plan(at, document.structure, tail, _blob(connection, path, tail), rows)
    return _Plan(at, document.structure, tail, _blob(connection, path, tail), rows)


def _bytes(connection: sqlite3.Connection, at: Layout) -> int:
    """The bytes of the values of loose rows, if they are few; of many, less than all."""
    rowids = at.rowids[:BATCH].tolist()
    marks = ",".join("?" * len(rowids))
    query = f"SELECT total(length(yupdate)) FROM yupdates WHERE rowid IN ({marks})"
    return int(connection.execute(query, rowids).fetchone()[0])


def _blob(connection: sqlite3.Connection, path: str, segment: SegmentPlace | None) -> bytes | None:
    if segment is None:
        return None
    query = "SELECT data FROM ysegments WHERE path = ? AND seq = ?"
    row = connection.execute(query, (path, segment.seq)).fetchone()
    return row[0] if row is not None and isinstance(row[0], bytes) else None


def _replace(
    connection: sqlite3.Connection, document: Document, plan: _Plan, moved: list[Row], segment: tuple[int, bytes]
) -> None:
    """Put the segment (its `seq` and blob) in the place of the rows, unless they have changed meanwhile."""
    path = document.path
    with transaction(connection):
        if not _is_unchanged(connection, document, plan, moved):
            return
        add_segments(connection)
        store_segment(connection, path, *segment)
        covered = positions(connection, path)[1]
        connection.executemany("DELETE FROM yupdates WHERE rowid = ?", ((row[0],) for row in moved))
        if covered is not None:
            # A trigger forgets the checkpoint's position when rows go. These have not gone, they have moved.
            store_covered(connection, path, covered)
    document.structure += 1
    document.loose_bytes = 0
    if document.loose is not None:
        document.loose -= len(moved)


def _is_unchanged(connection: sqlite3.Connection, document: Document, plan: _Plan, moved: list[Row]) -> bool:
    """Whether what was read for this step is still what is stored."""
    if document.structure != plan.structure:
        return False
    if data_version(connection) == plan.at.stamp:
        return True  # nobody else has changed the file, and this process only adds rows at the end
    now = layout(connection, document.path)
    return (
        now.segments == plan.at.segments
        and now.first_loose == plan.at.first_loose
        and now.rowids[: len(moved)].tolist() == [row[0] for row in moved]
        and all(
            list(rows_at(connection, now.rowids[start : start + BATCH][: len(moved) - start]))
            == moved[start : start + BATCH]
            for start in range(0, len(moved), BATCH)
        )
        and (plan.blob is None or _blob(connection, document.path, plan.tail) == plan.blob)
    )
