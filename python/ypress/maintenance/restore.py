"""Back to the store that pycrdt-store would have written."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import ne
from os import PathLike
from pathlib import Path

from .._native import pack, segment_info, unpack
from ..errors import Error
from ..sqlite.history import Record
from ..sqlite.layout import layout
from ..sqlite.restoring import (
    Start,
    forget_own,
    last_segment,
    restore_checkpoint,
    rows_of_last_segment,
    split_last_segment,
)
from ..sqlite.rewriting import Changed, count_rows, documents, read_checkpoint, read_rows, replace_values
from ..sqlite.statistics import read_statistics
from ..sqlite.values import Values
from ..words import counted
from .errors import Refused, Stopped
from .opening import opened
from .pace import Pace
from .rewrite import Progress
from .room import give_back

__all__ = ["Restored", "restore_store"]

_ATTEMPTS = 20
_VALUES = 2_000
_VALUE_BYTES = 2 << 20
_MB = 1_000_000


@dataclass
class Restored:
    """What was done to a store.

    Args:
        before: bytes of the file.
        after: bytes of the file.
        unpacked: updates that came back from segments into rows.
        values: rows whose value was decompressed.
        checkpoints_removed: those of which it was not known what they cover; stock code makes them anew.
        left: records that cannot be read: path key, place, reason.
        aside: records that were moved aside, and stay in a table of their own.
        seconds: that it took.
    """

    before: int = 0
    after: int = 0
    unpacked: int = 0
    values: int = 0
    checkpoints_removed: int = 0
    left: list[tuple[str, str, str]] = field(default_factory=list)
    aside: int = 0
    seconds: float = 0.0


def restore_store(
    path: str | PathLike[str], values: Values | None = None, *, progress: Progress = lambda done, total, saved: None
) -> Restored:
    """Make a store what pycrdt-store would have written: the same updates, metadata and timestamps, in the same order.

    It can be interrupted at any moment, and run again.

    Args:
        path: the file.
        values: how values are read.
        progress: told how far it is.

    Raises:
        Refused: it was not begun; the message says why and what to do.
        Stopped: the disk is full, the file stays locked, others pack it meanwhile, or something cannot be read.
    """
    begun = time.monotonic()
    file = Path(path)
    with opened(file, write=True) as (connection, known):
        statistics = read_statistics(connection)
        grown = sum(entry.raw + 2 * entry.updates * (len(entry.path) + 40) for entry in statistics.documents.values())
        need = max(0, int(1.05 * grown) - known.size) + 4 * _MB
        free = shutil.disk_usage(file.absolute().parent).free
        if free < need:
            raise Refused(
                f"{file}: restored it needs about {need / _MB:.0f} MB more, and {free / _MB:.0f} MB are free on its "
                "disk; make room, or copy the store to a larger disk and restore it there"
            )
        connection.execute("PRAGMA cache_size = -24000")
        work = _Restoring(connection, values or Values(), Pace(connection, size=grown), Restored(before=known.size))
        result = work.result
        total = sum(entry.updates for entry in statistics.documents.values())
        work.tell = lambda: progress(min(total, result.unpacked), total, 0)
        work.run()
        if result.left:
            first = "; ".join(f"{name}, {place}: {reason}" for name, place, reason in result.left[:3])
            raise Stopped(
                f"{file}: unreadable: {counted(len(result.left), 'record')} ({first}). Everything else is restored; "
                "`jupyter ypress verify --repair` moves them aside, and then this can be run again"
            )
        give_back(connection, file)
        result.after = file.stat().st_size
    result.seconds = time.monotonic() - begun
    return result


class _Restoring:
    """The work on one file."""

    def __init__(self, connection: sqlite3.Connection, values: Values, pace: Pace, result: Restored) -> None:
        self._connection = connection
        self._values = values
        self._pace = pace
        self.result = result
        self._starts: dict[str, Start] = {}
        self.tell: Callable[[], None] = lambda: None

    def run(self) -> None:
        """Restore all documents, and remove what is not stock."""
        for attempt in range(_ATTEMPTS):
            self.result.left.clear()
            for path in list(documents(self._connection)):
                self._document(path)
            if self.result.left:
                return
            try:
                self.result.aside = self._pace.run(lambda: forget_own(self._connection))
            except Changed:
                time.sleep(0.05 * attempt)
                continue
            return
        raise Stopped(
            "a server packs the store again while it is being restored; set its compression to None, or stop it, "
            "and run this again"
        )

    def _document(self, path: str) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                while (last := last_segment(self._connection, path)) is not None:
                    if not self._unpack(path, last):
                        return
                self._values_of(path)
                self._checkpoint(path)
            except Changed:
                time.sleep(0.02 * attempt)
                continue
            return

    def _unpack(self, path: str, last: tuple[int, bytes]) -> bool:
        seq, blob = last
        try:
            records = list(unpack(blob))
        except Error as error:
            self.result.left.append((path, f"segment {seq}", str(error)))
            return False
        most = self._pace.rows
        if self._pace.careful and len(records) > 2 * most:
            parts = [(seq + start, _packed(records[start : start + most])) for start in range(0, len(records), most)]
            self._pace.run(lambda: split_last_segment(self._connection, path, last, parts))
            return True
        start = self._starts.get(path)
        self._starts[path] = self._pace.run(
            lambda: rows_of_last_segment(self._connection, path, last, records, start), len(records)
        )
        self.result.unpacked += len(records)
        self.tell()
        return True

    def _values_of(self, path: str) -> None:
        if not count_rows(self._connection, path):
            return
        batch: list[tuple[int, object, bytes]] = []
        size = 0
        for row in read_rows(self._connection, layout(self._connection, path)):
            try:
                update = self._values.decode(row[1])
            except Error as error:
                self.result.left.append((path, f"row {row[0]}", str(error)))
                continue
            if update == row[1]:
                continue
            batch.append((row[0], row[1], update))
            size += len(update)
            if len(batch) >= (self._pace.rows if self._pace.careful else _VALUES) or size >= _VALUE_BYTES:
                self._write(path, batch)
                batch, size = [], 0
        self._write(path, batch)

    def _write(self, path: str, batch: list[tuple[int, object, bytes]]) -> None:
        if batch:
            done = self._pace.run(lambda: replace_values(self._connection, path, batch), len(batch))
            self.result.values += done[0]

    def _checkpoint(self, path: str) -> None:
        old = read_checkpoint(self._connection, path)
        if not isinstance(old, bytes):
            return
        try:
            state: bytes | None = self._values.decode(old)
        except Error:
            state = None
        if not self._pace.run(lambda: restore_checkpoint(self._connection, path, old, state)):
            self.result.checkpoints_removed += 1


def _packed(records: list[Record]) -> bytes:
    blob = pack(records)
    if segment_info(blob).updates != len(records) or any(map(ne, unpack(blob), records)):
        raise AssertionError("a packed segment does not unpack to what was packed")
    return blob
