"""Looking into a store."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ..sqlite.opening import Facts
from ..sqlite.statistics import DocumentStatistics, read_statistics
from .estimate import estimate
from .locate import Names
from .opening import opened

__all__ = ["DocumentReport", "StoreReport", "inspect"]


@dataclass(frozen=True)
class DocumentReport:
    """A document in a store.

    Args:
        name: of its file, if it is known.
        statistics: what the store holds of it.
        after: about how many bytes it would take after `compress`.
    """

    name: str | None
    statistics: DocumentStatistics
    after: int

    @property
    def label(self) -> str:
        """Its name, or else its path key."""
        return self.name or self.statistics.path

    def as_json(self) -> dict[str, object]:
        """Its figures for programs; sizes in bytes, times in seconds since the epoch."""
        entry = self.statistics
        return {
            "path": entry.path,
            "name": self.name,
            "updates": entry.updates,
            "first": entry.first,
            "last": entry.last,
            "raw_bytes": entry.raw,
            "file_bytes": entry.size,
            "rows": entry.rows,
            "row_bytes": entry.row_bytes,
            "segments": entry.segments,
            "segment_bytes": entry.segment_bytes,
            "checkpoint_bytes": entry.checkpoint_bytes,
            "overhead_bytes": entry.overhead,
            "aside": entry.aside,
            "aside_bytes": entry.aside_bytes,
            "kinds": {kind: {"values": count, "bytes": size} for kind, (count, size) in entry.kinds.items()},
            "estimated_bytes": self.after,
        }


@dataclass(frozen=True)
class StoreReport:
    """What is in a store.

    Args:
        file: the store.
        facts: of the file.
        documents: in no particular order.
    """

    file: Path
    facts: Facts
    documents: list[DocumentReport]

    def total(self, name: str) -> int:
        """The sum of a figure of all documents, by its name in `DocumentStatistics`."""
        return sum(int(getattr(document.statistics, name)) for document in self.documents)

    @property
    def estimated(self) -> int:
        """About how large the file would be after `compress`, in bytes."""
        rest = self.facts.used - self.total("size")
        return min(self.facts.size, max(0, rest) + sum(document.after for document in self.documents))

    def kinds(self) -> dict[str, tuple[int, int]]:
        """The values in rows by kind, and segments: how many, and their bytes."""
        counts: Counter[str] = Counter()
        sizes: Counter[str] = Counter()
        for document in self.documents:
            for kind, (count, size) in document.statistics.kinds.items():
                counts[kind] += count
                sizes[kind] += size
        if self.total("segments"):
            counts["segment"] = self.total("segments")
            sizes["segment"] = self.total("segment_bytes")
        return {kind: (counts[kind], sizes[kind]) for kind in sorted(counts, key=lambda kind: -sizes[kind])}

    def as_json(self) -> dict[str, object]:
        """All of it for programs."""
        return {
            "file": str(self.file),
            "file_bytes": self.facts.size,
            "free_bytes": self.facts.size - self.facts.used,
            "auto_vacuum": self.facts.auto_vacuum,
            "journal_mode": self.facts.journal_mode,
            "estimated_bytes": self.estimated,
            "kinds": {kind: {"values": count, "bytes": size} for kind, (count, size) in self.kinds().items()},
            "documents": [document.as_json() for document in self.documents],
        }


def inspect(path: str | PathLike[str], names: Names | None = None) -> StoreReport:
    """Look into a store; it is only read, and no writer is held up.

    Args:
        path: the file.
        names: the names of documents; from the usual place if None.

    Raises:
        Refused: it is not a store.
    """
    known = Names() if names is None else names
    with opened(path) as (connection, _):
        statistics = read_statistics(connection)
        after = estimate(connection, statistics)
    documents = [
        DocumentReport(known.name(key), document, after[key]) for key, document in statistics.documents.items()
    ]
    return StoreReport(Path(path), statistics.facts, documents)
