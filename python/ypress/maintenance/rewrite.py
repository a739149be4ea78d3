"""Making a store smaller in place: histories move into segments, values are compressed.

Only this thread uses the file; segments are packed, and unpacked again to compare, in others.
"""

from __future__ import annotations

import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from operator import ne
from os import PathLike
from pathlib import Path

from .._native import DEFAULT_MAX_SIZE, pack, segment_info, unpack
from ..errors import Error
from ..sqlite.history import Record, Row
from ..sqlite.layout import Layout, SegmentPlace, layout
from ..sqlite.rewriting import (
    Change,
    Changed,
    count_rows,
    documents,
    read_checkpoint,
    read_rows,
    read_segment,
    replace,
    replace_checkpoint,
    replace_values,
)
from ..sqlite.values import Values
from .opening import opened
from .pace import Pace
from .room import give_back, refuse_without_room

__all__ = ["Compressed", "Progress", "compress_store"]

# A segment holds at most so many updates or bytes of them; larger updates have one of their own.
SEGMENT_UPDATES = 65_536
SEGMENT_BYTES = 16 << 20
_LARGEST = DEFAULT_MAX_SIZE // 2
# How hard new content of long strings is compressed.
_LEVEL = 9
_THREADS = 2
# Bytes of updates that may wait to be packed and written: packing takes several times as much memory.
_WAITING = 12 << 20
# Bytes that SQLite keeps with a row of updates, and with a segment, beside values and twice the path.
_ROW = 46
_SEGMENT = 70
# How often a document is looked at again that others change all the time.
_ATTEMPTS = 20
# Rows and bytes of one transaction that writes new values.
_VALUES = 2_000
_VALUE_BYTES = 2 << 20

# Told how many of how many updates are done, and how many bytes that saved.
Progress = Callable[[int, int, int], None]


@dataclass
class Compressed:
    """What was done to a store.

    Args:
        before: bytes of the file.
        after: bytes of the file; with `dry_run` about what they would be.
        documents: that were looked at.
        packed: updates that moved from rows into segments.
        segments: that were written.
        values: rows whose value was written anew.
        checkpoints: that were written anew.
        left: records that cannot be read or packed and stay as they are: path key, place, reason.
        saved: bytes by which values and rows became smaller; the file follows page by page.
        seconds: that it took.
        vacuumed: whether the file was rebuilt at the end.
        note: why it was not, where it would have been of use.
    """

    before: int = 0
    after: int = 0
    documents: int = 0
    packed: int = 0
    segments: int = 0
    values: int = 0
    checkpoints: int = 0
    left: list[tuple[str, str, str]] = field(default_factory=list)
    saved: int = 0
    seconds: float = 0.0
    vacuumed: bool = False
    note: str | None = None

    @property
    def changed(self) -> bool:
        """Whether there was anything to do."""
        return bool(self.segments or self.values or self.checkpoints)


def compress_store(
    path: str | PathLike[str],
    values: Values,
    *,
    pack_history: bool = True,
    level: int | None = None,
    dry_run: bool = False,
    progress: Progress = lambda done, total, saved: None,
) -> Compressed:
    """Make a store smaller in place, while servers go on writing to it.

    It can be interrupted at any moment, and run again: it goes on where it stopped.

    Args:
        path: the file.
        values: how values are written, and read.
        pack_history: whether histories move into segments; else values of rows are written anew.
        level: of segments, 1 to 19.
        dry_run: do everything but write.
        progress: told how far it is.

    Raises:
        Refused: it was not begun; the message says why and what to do.
        Stopped: the disk is full, or the file stays locked.
    """
    begun = time.monotonic()
    with opened(path, write=not dry_run) as (connection, known):
        file = Path(path)
        small = False if dry_run else refuse_without_room(file, known)
        connection.execute("PRAGMA cache_size = -12000")
        result = Compressed(before=known.size)
        work = _Rewriting(
            connection,
            values,
            _LEVEL if level is None else level,
            Pace(connection, small, 0 if dry_run else known.size),
            dry_run,
        )
        work.result = result
        paths = list(documents(connection))
        result.documents = len(paths)
        total = sum(count_rows(connection, path) for path in paths)
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="ypress-pack") as threads:
            work.threads = threads
            work.tell = lambda moved: progress(min(total, moved), total, result.saved)
            work.run(paths, pack_history)
        if dry_run:
            result.after = max(0, known.size - result.saved)
        else:
            result.vacuumed, result.note = give_back(connection, file)
            result.after = file.stat().st_size
    result.seconds = time.monotonic() - begun
    return result


@dataclass(eq=False)
class _Attempt:
    """A document as it was found, while it is being packed."""

    path: str
    at: Layout
    failed: bool = False


@dataclass(eq=False)
class _Group:
    """Consecutive records of a document that become one segment."""

    start: int
    old: list[tuple[SegmentPlace, bytes]] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    size: int = 0
    stored: int = 0  # by how much the values of its rows are larger than the updates in them


class _Rewriting:
    """The work on one file."""

    threads: ThreadPoolExecutor
    result: Compressed
    tell: Callable[[int], None]

    def __init__(self, connection: sqlite3.Connection, values: Values, level: int, pace: Pace, dry_run: bool) -> None:
        self._connection = connection
        self._values = values
        self._level = level
        self._pace = pace
        self._dry_run = dry_run
        self._waiting: deque[tuple[_Attempt, _Group, Future[bytes]]] = deque()
        self._failed: list[str] = []
        self._done = 0

    def run(self, paths: list[str], pack_history: bool) -> None:
        """Rewrite these documents."""
        for attempt in range(_ATTEMPTS):
            for path in paths:
                try:
                    if pack_history:
                        self._pack(path)
                    else:
                        self._rewrite(path)
                except Changed:
                    self._failed.append(path)
                if attempt == 0:
                    self._checkpoint(path)
            while self._waiting:
                self._finish()
            if not self._failed:
                return
            paths, self._failed = list(dict.fromkeys(self._failed)), []
            time.sleep(0.02 * attempt)
        for path in paths:
            self._leave(path, "history", "others change it all the time; run this again later")

    # Packing.

    def _pack(self, path: str) -> None:
        attempt = _Attempt(path, layout(self._connection, path))
        try:
            for group in self._groups(attempt):
                self._waiting.append((attempt, group, self.threads.submit(_packed, group.records, self._level)))
                while len(self._waiting) > _THREADS or sum(group.size for _, group, _ in self._waiting) > _WAITING:
                    self._finish()
                if attempt.failed:
                    return
        except Changed:
            attempt.failed = True
            raise

    def _finish(self) -> None:
        """Write the segment that has waited the longest."""
        attempt, group, blob = self._waiting.popleft()
        if attempt.failed:
            return
        try:
            self._apply(attempt, group, blob.result())
        except Changed:
            attempt.failed = True
            self._failed.append(attempt.path)
        self._done += len(group.rows)
        self.tell(self._done)

    def _groups(self, attempt: _Attempt) -> Iterator[_Group]:
        """What becomes a segment each; what is one already is left out."""
        path, at = attempt.path, attempt.at
        if any(before.end != after.seq for before, after in pairwise(at.segments)):
            self._leave(path, "segments", "updates are missing between two of them; `verify` tells more")
            return
        runs = _runs(at.segments)
        tail = runs.pop() if runs and at.rowids and _fits(*_sum(runs[-1], 1)) else []
        for run in runs:
            if len(run) > 1:
                yield from (group for group in self._joined(path, run) if len(group.old) > 1)
        groups = self._joined(path, tail) if tail else []
        yield from (group for group in groups[:-1] if len(group.old) > 1)
        group = groups[-1] if groups and groups[-1].old else _Group(at.first_loose)
        decode = self._values.decode
        for row in read_rows(self._connection, at):
            _, value, metadata, timestamp = row
            try:
                update = decode(value)
                size = len(update) + len(metadata) if metadata else len(update)
                if size > _LARGEST or not isinstance(timestamp, float):
                    raise TypeError(f"too large to be packed, or not at a time: {size} bytes at {timestamp!r}")  # noqa: TRY301
            except (Error, TypeError) as error:
                # What follows it stays, too: a history is its segments first, and then its rows.
                self._leave(path, f"row {row[0]}", str(error))
                break
            if group.records and (len(group.records) >= SEGMENT_UPDATES or group.size + size > SEGMENT_BYTES):
                yield group
                group = _Group(group.start + len(group.records))
            group.rows.append(row)
            group.records.append((update, metadata, timestamp))
            group.size += size
            group.stored += len(value) - len(update)  # type: ignore[arg-type]  # it was decoded, so it is bytes
        if group.rows or len(group.old) > 1:
            yield group

    def _joined(self, path: str, run: list[SegmentPlace]) -> list[_Group]:
        """Segments that become one, or several where one of them cannot be read."""
        groups = [_Group(run[0].seq)]
        for place in run:
            blob = read_segment(self._connection, path, place.seq)
            try:
                records = list(unpack(blob))
            except Error as error:
                self._leave(path, f"segment {place.seq}", str(error))
                groups.append(_Group(place.end))
                continue
            group = groups[-1]
            group.old.append((place, blob))
            group.records += records
            group.size += place.raw_bytes
        return groups

    def _apply(self, attempt: _Attempt, group: _Group, blob: bytes) -> None:
        path, at = attempt.path, attempt.at
        weight = 2 * len(path.encode())
        gone = (_ROW + weight) * len(group.rows) + group.stored
        gone += group.size - sum(place.raw_bytes for place, _ in group.old)
        gone += sum(_SEGMENT + weight + len(old) for _, old in group.old)
        saved = gone - (_SEGMENT + weight + len(blob))
        if saved <= 0 and not at.segments and len(group.rows) == len(at.rowids):
            return  # a document of one or two updates
        if not self._dry_run:
            self._write(path, at, group, blob)
        self.result.saved += saved
        self.result.packed += len(group.rows)
        self.result.segments += 1

    def _write(self, path: str, at: Layout, group: _Group, blob: bytes) -> None:
        old, rows = list(group.old), group.rows
        start = sum(place.updates for place, _ in old)
        while self._pace.careful and len(rows) > self._pace.rows:
            # One transaction would hold the lock for too long: a few rows at a time go into a segment of their own.
            part, rest = _cut(rows, self._pace.rows)
            if not rest:
                break
            records = group.records[start : start + len(part)]
            piece = _packed(records, None)
            seq = group.start + start
            change = Change(path, seq, (), part, at.stamp, at.ordered)
            self._pace.run(lambda change=change, piece=piece: replace(self._connection, change, piece), len(part))  # type: ignore[misc]
            info = segment_info(piece)
            old.append((SegmentPlace(seq, info.updates, info.raw_bytes, len(piece)), piece))
            rows, start = rest, start + len(part)
        change = Change(path, group.start, old, rows, at.stamp, at.ordered)
        self._pace.run(lambda: replace(self._connection, change, blob), len(rows))

    # Values.

    def _rewrite(self, path: str) -> None:
        at = layout(self._connection, path)
        batch: list[tuple[int, object, bytes]] = []
        size = 0
        for number, row in enumerate(read_rows(self._connection, at)):
            try:
                update = self._values.decode(row[1])
            except Error as error:
                self._leave(path, f"row {row[0]}", str(error))
                continue
            new = self._encoded(update)
            if new == row[1]:
                continue
            batch.append((row[0], row[1], new))
            size += len(new) + _length(row[1])
            most = min(_VALUES, self._pace.rows) if self._pace.careful else _VALUES
            if len(batch) >= most or size >= _VALUE_BYTES:
                self._write_values(path, batch)
                batch, size = [], 0
                self.tell(self._done + number)
        self._write_values(path, batch)
        self._done += len(at.rowids)

    def _encoded(self, update: bytes) -> bytes:
        """The value to store; one that does not give back the update is never stored."""
        new = self._values.encode(update)
        if self._values.decode(new) != update:
            raise AssertionError("a compressed value does not decompress to what was compressed")
        return new

    def _write_values(self, path: str, batch: list[tuple[int, object, bytes]]) -> None:
        if not batch:
            return
        if self._dry_run:
            changed, saved = len(batch), sum(_length(old) - len(new) for _, old, new in batch)
        else:
            changed, saved = self._pace.run(lambda: replace_values(self._connection, path, batch), len(batch))
        self.result.values += changed
        self.result.saved += saved

    def _checkpoint(self, path: str) -> None:
        old = read_checkpoint(self._connection, path)
        if not isinstance(old, bytes):
            return
        try:
            new = self._encoded(self._values.decode(old))
        except Error as error:
            self._leave(path, "checkpoint", str(error))
            return
        if new == old:
            return
        if self._dry_run or self._pace.run(lambda: replace_checkpoint(self._connection, path, old, new)):
            self.result.checkpoints += 1
            self.result.saved += len(old) - len(new)

    def _leave(self, path: str, place: str, reason: str) -> None:
        if (path, place, reason) not in self.result.left:
            self.result.left.append((path, place, reason))


def _fits(updates: int, size: int) -> bool:
    return updates <= SEGMENT_UPDATES and size <= SEGMENT_BYTES


def _sum(run: list[SegmentPlace], more: int = 0) -> tuple[int, int]:
    return sum(place.updates for place in run) + more, sum(place.raw_bytes for place in run)


def _runs(segments: Sequence[SegmentPlace]) -> list[list[SegmentPlace]]:
    """Neighbours that become one segment."""
    runs: list[list[SegmentPlace]] = []
    for place in segments:
        if runs and _fits(*_sum([*runs[-1], place])):
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _packed(records: list[Record], level: int | None) -> bytes:
    """A segment, verified."""
    blob = pack(records, level=level)
    if segment_info(blob).updates != len(records) or any(map(ne, unpack(blob), records)):
        raise AssertionError("a packed segment does not unpack to what was packed")
    return blob


def _cut(rows: list[Row], most: int) -> tuple[list[Row], list[Row]]:
    """As many rows as one short transaction moves, and the rest."""
    size = 0
    for index, row in enumerate(rows[:most]):
        size += _length(row[1])
        if size > _VALUE_BYTES:
            return rows[: index + 1], rows[index + 1 :]
    return rows[:most], rows[most:]


def _length(value: object) -> int:
    return len(value) if isinstance(value, bytes) else 0
