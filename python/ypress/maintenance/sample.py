"""Reading a store, or a bounded part of a large one, without changing it or getting in the way of a server."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import ypress

from .packing import packing

__all__ = ["NotAStore", "Record", "Sample", "read_sample"]

# Enough consecutive updates for packing to show what it does, few enough to take many from all over a large file.
_RUN = 2000


class NotAStore(ypress.Error):
    """The file cannot be read as a pycrdt store; the message is one line that says why."""


@dataclass(frozen=True, slots=True)
class Record:
    """One update of a document, as it was handed to the store."""

    path: str
    update: bytes
    metadata: bytes | None
    timestamp: float


@dataclass(slots=True)
class Sample:
    """What was read of a store."""

    path: Path
    file_size: int
    """bytes of the file."""
    documents: int
    """documents in the file."""
    updates: int
    """updates in the file, loose and packed."""
    records: list[Record] = field(default_factory=list)
    """the updates that were read, those of a document in order."""
    damaged: int = 0
    """values that were read and could not be decoded; they are not in the records."""

    @property
    def whole(self) -> bool:
        """Whether everything was read."""
        return len(self.records) + self.damaged == self.updates

    def histories(self) -> dict[str, list[Record]]:
        """The records by document."""
        histories: dict[str, list[Record]] = {}
        for record in self.records:
            histories.setdefault(record.path, []).append(record)
        return histories


def read_sample(path: str | PathLike[str], *, max_updates: int = 150_000, max_bytes: int = 96 << 20) -> Sample:
    """Read a store, or runs of consecutive updates from all over it if it is large.

    The file is opened read-only, and no transaction is held between two runs, so a server that writes to it at the
    same time is not held up.

    Args:
        path: a SQLite file that pycrdt-store or ypress wrote.
        max_updates: about how many updates to read at most.
        max_bytes: about how many bytes of updates to read at most.

    Raises:
        NotAStore: there is no such file, it is not a SQLite file, has other tables, or holds no update.
    """
    file = Path(path)
    if not file.is_file():
        raise NotAStore(f"{file}: {'is a folder' if file.is_dir() else 'no such file'}")
    if not file.stat().st_size:
        raise NotAStore(f"{file}: the file is empty")
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return _read(db, file, max_updates, max_bytes)
    except sqlite3.DatabaseError as error:
        reason = "not a SQLite database" if "not a database" in str(error) else str(error)
        raise NotAStore(f"{file}: {reason}") from error


def _read(db: sqlite3.Connection, file: Path, max_updates: int, max_bytes: int) -> Sample:
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    columns = {row[1] for row in db.execute("PRAGMA table_info(yupdates)")}
    if not {"path", "yupdate", "metadata", "timestamp"} <= columns:
        found = ", ".join(sorted(tables)) or "no tables"
        raise NotAStore(f"{file}: not a pycrdt store: no table yupdates (path, yupdate, metadata, timestamp); {found}")
    has_segments = "ysegments" in tables
    loose, size, first, last = db.execute(
        "SELECT count(*), total(length(yupdate)), min(rowid), max(rowid) FROM yupdates"
    ).fetchone()
    packed, packed_size = 0, 0
    documents = "SELECT path FROM yupdates"
    if has_segments:
        packed, packed_size = db.execute("SELECT total(updates), total(raw_bytes) FROM ysegments").fetchone()
        documents += " UNION SELECT path FROM ysegments"
    updates = loose + int(packed)
    if not updates:
        raise NotAStore(f"{file}: holds no update yet; there is nothing to compare")
    (count,) = db.execute(f"SELECT count(DISTINCT path) FROM ({documents})").fetchone()
    sample = Sample(file, file.stat().st_size, count, updates)
    share = min(1.0, max_updates / updates, max_bytes / max(1.0, size + packed_size))
    if packed:
        _read_segments(db, sample, share)
    if loose:
        for run in _runs(first, last, share):
            _read_rows(db, sample, run)
    if not sample.records:
        raise NotAStore(
            f"{file}: none of its values can be decoded; `jupyter ypress verify` lists what is wrong with them"
        )
    return sample


def _runs(first: int, last: int, share: float) -> Iterator[tuple[int, int]]:
    """Ranges of rowids, evenly spaced, that cover a share of the table."""
    length = _RUN if share == 1 else min(_RUN, max(1, round((last - first + 1) * share)))
    step = length if share == 1 else max(length, round(length / share))
    for start in range(first, last + 1, step):
        yield start, min(start + length - 1, last)


def _read_rows(db: sqlite3.Connection, sample: Sample, run: tuple[int, int]) -> None:
    rows = db.execute(
        "SELECT path, yupdate, metadata, timestamp FROM yupdates WHERE rowid BETWEEN ? AND ? ORDER BY rowid", run
    ).fetchall()
    for path, value, metadata, timestamp in rows:
        try:
            sample.records.append(Record(path, ypress.decompress(value), metadata, timestamp))
        except (ypress.Error, TypeError):
            sample.damaged += 1


def _read_segments(db: sqlite3.Connection, sample: Sample, share: float) -> None:
    functions = packing()
    if functions is None:
        raise NotAStore(f"{sample.path}: written by a newer ypress, holds packed history")
    _, unpack = functions
    places: Sequence[tuple[str, int, int]] = db.execute(
        "SELECT path, seq, updates FROM ysegments ORDER BY path, seq"
    ).fetchall()
    for path, seq, updates in places[:: max(1, round(1 / share))]:
        row = db.execute("SELECT data FROM ysegments WHERE path = ? AND seq = ?", (path, seq)).fetchone()
        if row is None:  # packed anew, or squashed, since the list was made
            continue
        try:
            sample.records += [Record(path, *record) for record in unpack(row[0])]
        except ypress.Error:
            sample.damaged += updates
