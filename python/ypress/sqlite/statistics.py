"""What a file holds, by document, read in short steps so that no writer is held up."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from .._native import row_info
from ..errors import Error
from .opening import Facts, facts

__all__ = ["DocumentStatistics", "FileStatistics", "read_statistics", "unreadable_paths"]

# Rowids of one step.
_STEP = 20_000
# What SQLite keeps with a row of updates beside the values, without the path: headers, timestamps, rowids, index.
_ROW = 46
# The same for a segment and for a checkpoint.
_SEGMENT = 60
_CHECKPOINT = 24
# The kinds by their first bytes; what remains is looked at one by one.
_KIND = """CASE
    WHEN typeof(yupdate) <> 'blob' THEN 'missing'
    WHEN length(yupdate) < 2 THEN 'raw'
    WHEN substr(yupdate, 1, 1) < x'1f' AND substr(yupdate, 1, 1) <> x'04' THEN 'raw'
    ELSE ypress_kind(yupdate) END"""


@dataclass
class DocumentStatistics:
    """What a file holds of a document; sizes in bytes.

    Args:
        path: its path key.
        rows: updates in rows of their own.
        packed: updates in segments.
        segments: how many there are.
        row_bytes: of the values and metadata in rows.
        row_raw: the same without compression.
        segment_bytes: of the segments.
        segment_raw: of the updates and metadata in them.
        checkpoint_bytes: of the checkpoint.
        aside: records that were moved aside.
        aside_bytes: of their values.
        first: the time of the first update, in seconds since the epoch.
        last: the time of the last one.
        overhead: what SQLite keeps with all that: paths, index, headers, half-empty pages.
        kinds: values in rows by kind, as `ypress.row_info` has it: how many, and their bytes.
        hours: raw bytes by hour since the epoch.
    """

    path: str
    rows: int = 0
    packed: int = 0
    segments: int = 0
    row_bytes: int = 0
    row_raw: int = 0
    segment_bytes: int = 0
    segment_raw: int = 0
    checkpoint_bytes: int = 0
    aside: int = 0
    aside_bytes: int = 0
    first: float | None = None
    last: float | None = None
    overhead: int = 0
    kinds: dict[str, list[int]] = field(default_factory=dict)
    hours: Counter[int] = field(default_factory=Counter)

    @property
    def updates(self) -> int:
        """All updates of its history."""
        return self.rows + self.packed

    @property
    def raw(self) -> int:
        """Bytes of all updates and metadata, without compression."""
        return self.row_raw + self.segment_raw

    @property
    def size(self) -> int:
        """Its share of the file."""
        return self.row_bytes + self.segment_bytes + self.checkpoint_bytes + self.aside_bytes + self.overhead

    def weight(self) -> int:
        """About what SQLite keeps with its records."""
        length = len(self.path.encode("utf-8", "surrogateescape"))
        return (
            self.rows * (2 * length + _ROW)
            + self.segments * (2 * length + _SEGMENT)
            + (2 * length + _CHECKPOINT if self.checkpoint_bytes else 0)
            + self.aside * (2 * length + _SEGMENT)
        )

    def seen(self, first: object, last: object) -> None:
        """Widen the time from the first to the last update."""
        if isinstance(first, float):
            self.first = first if self.first is None else min(self.first, first)
        if isinstance(last, float):
            self.last = last if self.last is None else max(self.last, last)


@dataclass(frozen=True)
class FileStatistics:
    """What a file holds.

    Args:
        facts: of the file.
        documents: by path key; those whose path is no text are under what it would be as text.
    """

    facts: Facts
    documents: dict[str, DocumentStatistics]


def read_statistics(connection: sqlite3.Connection) -> FileStatistics:
    """Add up what a file holds. It need not be of one moment, if somebody writes meanwhile."""
    known = facts(connection)
    documents: dict[str, DocumentStatistics] = {}

    def document(path: object) -> DocumentStatistics:
        name = path if isinstance(path, str) else str(path)
        return documents.setdefault(name, DocumentStatistics(name))

    connection.create_function("ypress_kind", 1, _kind, deterministic=True)
    connection.create_function("ypress_raw", 1, _raw, deterministic=True)
    for path, kind, hour, count, stored, raw, metadata, first, last in _rows(connection):
        entry = document(path)
        entry.rows += count
        entry.row_bytes += int(stored + metadata)
        entry.row_raw += int(raw + metadata)
        entry.seen(first, last)
        counted = entry.kinds.setdefault(kind, [0, 0])
        counted[0] += count
        counted[1] += int(stored)
        entry.hours[hour] += int(raw + metadata)
    _add_others(connection, known, document)
    _share_overhead(known, documents)
    return FileStatistics(known, documents)


def unreadable_paths(connection: sqlite3.Connection) -> list[object]:
    """Path keys that are no text, or not UTF-8, with the escapes of `open_existing`."""
    names = [name for (name,) in connection.execute("SELECT DISTINCT path FROM yupdates")]
    return [name for name in names if not isinstance(name, str) or any("\ud800" <= c <= "\udfff" for c in name)]


def _rows(
    connection: sqlite3.Connection,
) -> Iterator[tuple[object, str, int, int, float, float, float, object, object]]:
    lowest, highest = connection.execute("SELECT min(rowid), max(rowid) FROM yupdates").fetchone()
    if lowest is None:
        return
    query = f"""SELECT path, kind, CAST(timestamp / 3600 AS INTEGER), count(*), total(length(yupdate)),
        total(CASE WHEN kind IN ('raw', 'missing') THEN length(yupdate) ELSE ypress_raw(yupdate) END),
        total(length(metadata)), min(timestamp), max(timestamp)
        FROM (SELECT *, {_KIND} AS kind FROM yupdates WHERE rowid BETWEEN ? AND ?) GROUP BY 1, 2, 3"""
    start = lowest
    while start <= highest:
        yield from connection.execute(query, (start, start + _STEP - 1)).fetchall()
        # A file that was restored may have holes between rowids that are larger than a step.
        row = connection.execute("SELECT min(rowid) FROM yupdates WHERE rowid >= ?", (start + _STEP,)).fetchone()
        if row[0] is None:
            return
        start = row[0]


def _add_others(connection: sqlite3.Connection, known: Facts, document: object) -> None:
    get = document
    assert callable(get)
    if "ysegments" in known.tables:
        query = "SELECT path, updates, raw_bytes, length(data), first_timestamp, last_timestamp FROM ysegments"
        for path, updates, raw, stored, first, last in connection.execute(query).fetchall():
            entry: DocumentStatistics = get(path)
            entry.segments += 1
            entry.packed += updates
            entry.segment_raw += raw
            entry.segment_bytes += stored
            entry.seen(first, last)
            _spread(entry.hours, raw, first, last)
    if "ycheckpoints" in known.tables:
        for path, stored in connection.execute("SELECT path, length(checkpoint) FROM ycheckpoints").fetchall():
            get(path).checkpoint_bytes += stored
    if "yaside" in known.tables:
        query = "SELECT path, count(*), total(length(value) + coalesce(length(metadata), 0)) FROM yaside GROUP BY path"
        for path, count, stored in connection.execute(query).fetchall():
            entry = get(path)
            entry.aside += count
            entry.aside_bytes += int(stored)


def _spread(hours: Counter[int], raw: int, first: float, last: float) -> None:
    """Say that these bytes came evenly between two times."""
    begin, end = int(first // 3600), int(last // 3600)
    if not 0 <= end - begin < 24 * 366:
        hours[end] += raw
        return
    for hour in range(begin, end + 1):
        hours[hour] += raw // (end - begin + 1)


def _share_overhead(known: Facts, documents: dict[str, DocumentStatistics]) -> None:
    """Divide what the file holds beside values among the documents, so that their sizes add up to the file's."""
    left = max(0, known.used - sum(entry.size for entry in documents.values()))
    weight = sum(entry.weight() for entry in documents.values())
    for entry in documents.values():
        entry.overhead = left * entry.weight() // weight if weight else 0


def _kind(value: bytes) -> str:
    try:
        return row_info(value).kind
    except Error:
        return "damaged"


def _raw(value: bytes) -> int:
    try:
        return row_info(value).raw_size
    except Error:
        return len(value)
