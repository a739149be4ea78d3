"""What compressing a store would save, by really packing a sample of it."""

from __future__ import annotations

import sqlite3
import time

from .._native import pack
from ..errors import Error
from ..sqlite.history import Record, placed_records, read_page
from ..sqlite.layout import layout
from ..sqlite.statistics import DocumentStatistics, FileStatistics
from ..sqlite.values import Values

__all__ = ["estimate"]

# A document of so many updates and bytes is packed to see how it packs; of a larger one, runs from all over it. No
# further document is begun after so many seconds.
_UPDATES = 65_536
_BYTES = 16 << 20
_RUNS = 8
_SECONDS = 3.0
# What is stored beside a segment: its row, its index entry, half a page of its own.
_SEGMENT = 300


def estimate(connection: sqlite3.Connection, statistics: FileStatistics) -> dict[str, int]:
    """About how many bytes of the file each document would take after `compress`.

    Args:
        connection: the file.
        statistics: of it.

    Returns:
        Bytes by path key; documents from the largest on are sampled, and the rest is taken to pack like these.
    """
    deadline = time.monotonic() + _SECONDS
    result: dict[str, int] = {}
    before = after = 0
    rest = []
    for document in sorted(statistics.documents.values(), key=lambda document: -document.size):
        loose = document.row_bytes + document.overhead
        kept = document.segment_bytes + document.checkpoint_bytes + document.aside_bytes
        if not document.rows:
            result[document.path] = document.size
            continue
        ratio = _packs_to(connection, document) if time.monotonic() < deadline else None
        if ratio is None:
            rest.append(document)
            continue
        packed = int(document.row_raw * ratio) + _SEGMENT
        before += loose
        after += packed
        result[document.path] = min(document.size, kept + packed)
    share = after / before if before else 1.0
    for document in rest:
        kept = document.segment_bytes + document.checkpoint_bytes + document.aside_bytes
        result[document.path] = min(document.size, kept + int((document.row_bytes + document.overhead) * share))
    return result


def _packs_to(connection: sqlite3.Connection, document: DocumentStatistics) -> float | None:
    """Bytes of a segment for each byte of its rows, unpacked; None if they cannot be read."""
    records: list[Record] = []
    size = 0
    try:
        at = layout(connection, document.path)
        whole = document.rows <= _UPDATES and document.row_raw <= _BYTES
        runs = 1 if whole else _RUNS
        for run in range(runs):
            position: int | None = at.first_loose + run * (at.end - at.first_loose) // runs
            end = len(records) + _UPDATES // runs
            most = size + _BYTES // runs
            while position is not None and len(records) < end and size < most:
                page = read_page(connection, document.path, at, position)
                for _, record in placed_records(page, document.path, Values()):
                    if len(records) >= end or size >= most:
                        break
                    records.append(record)
                    size += len(record[0]) + len(record[1] or b"")
                position = page.next
        return len(pack(records)) / size if size else None
    except (Error, sqlite3.Error, TypeError, UnicodeEncodeError):  # whatever it is, `verify` tells
        return None
