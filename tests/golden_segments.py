"""The golden segments and what must come out of them, and records in a form in which equal means equal bit for bit."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["GOLDEN", "Bits", "Record", "bits", "golden_records"]

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.segment"))

Record = tuple[bytes, bytes | None, float]
Bits = list[tuple[bytes, bytes | None, bytes]]


def bits(records: Iterable[Record]) -> Bits:
    """A NaN differs from itself, and -0.0 equals 0.0; their bytes do neither."""
    return [(update, metadata, struct.pack("<d", timestamp)) for update, metadata, timestamp in records]


def golden_records(file: Path) -> list[Record]:
    """What must come out of a golden segment; ``golden/make_segments.py`` has the form."""
    return list(_records(file.with_suffix(".records").read_bytes()))


def _records(data: bytes) -> Iterator[Record]:
    at = 0
    while at < len(data):
        update, metadata, timestamp = struct.unpack_from("<iid", data, at)
        middle = at + 16 + update
        end = middle + max(metadata, 0)
        yield data[at + 16 : middle], None if metadata < 0 else data[middle:end], timestamp
        at = end
