"""The few numbers by which one store resembles another."""

from __future__ import annotations

import statistics
import zlib
from collections import defaultdict
from collections.abc import Iterable

from .room import Row


def describe(name: str, file_size: int, rows: Iterable[Row]) -> str:
    """One line: rows, documents, bytes an update, and how well the updates of a document compress together."""
    sizes = []
    documents: defaultdict[str, zlib._Compress] = defaultdict(lambda: zlib.compressobj(6))
    together = 0
    for path, update, *_ in rows:
        sizes.append(len(update))
        together += len(documents[path].compress(update))
    together += sum(len(stream.flush()) for stream in documents.values())
    total = sum(sizes)
    return (
        f"{name}: {len(sizes)} updates of {len(documents)} documents, {file_size / len(sizes):.1f} bytes an update in "
        f"the file, {total / len(sizes):.1f} raw, median {statistics.median(sizes):g}, largest {max(sizes)}, "
        f"{sum(size >= 10_000 for size in sizes)} of 10 KB or more, together {total / together:.1f}x smaller with zlib"
    )
