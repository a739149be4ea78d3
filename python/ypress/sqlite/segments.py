"""Segments as rows of their table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from .._native import pack, segment_info
from .history import Record
from .schema import add_segments

__all__ = ["insert_segment", "store_segment"]


def insert_segment(
    connection: sqlite3.Connection, path: str, seq: int, records: Iterable[Record], level: int | None
) -> None:
    """Add a segment of these records, in the caller's transaction."""
    add_segments(connection)
    store_segment(connection, path, seq, pack(records, level=level))


def store_segment(connection: sqlite3.Connection, path: str, seq: int, blob: bytes) -> None:
    """Add a packed segment, or put it in the place of the one at the same position."""
    info = segment_info(blob)
    connection.execute(
        "INSERT OR REPLACE INTO ysegments VALUES (?, ?, ?, ?, ?, ?, ?)",
        (path, seq, info.first_timestamp, info.last_timestamp, info.updates, info.raw_bytes, blob),
    )
