"""Metrics of the stores on the server's ``/metrics``."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

from ..sqlite.database import queued
from ..sqlite.observing import observe, observer

__all__ = ["install"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)


class _Metrics:
    """Counts what the stores of this process tell; an `ypress.sqlite.observing.Observer`."""

    def __init__(self) -> None:
        self._updates = Counter("ypress_updates_written", "Updates that are on disk")
        self._raw = Counter("ypress_raw_bytes", "Bytes of these updates as the rooms wrote them")
        self._stored = Counter("ypress_stored_bytes", "Bytes of the row values that they were stored as")
        self._write = Histogram(
            "ypress_write_seconds", "From handing over the first update of a commit to its end", buckets=_SECONDS
        )
        self._packed = Counter("ypress_updates_packed", "Updates that were moved from rows into segments")
        self._pack = Histogram("ypress_pack_seconds", "Packing updates into one segment", buckets=_SECONDS)
        self._failed = Counter("ypress_failed_commits", "Commits that failed; their updates wait and are tried again")
        self._refused = Counter("ypress_refused_updates", "Updates that SQLite refused to store")
        self._damaged = Counter("ypress_damaged_values", "Times that a stored value could not be read")
        self._aside = Counter("ypress_records_moved_aside", "Records moved aside with the history they are in")
        Gauge("ypress_queued_updates", "Updates that are not on disk yet").set_function(queued)

    def stored(self, updates: int, raw_bytes: int, stored_bytes: int, seconds: float) -> None:
        """Updates were committed."""
        self._updates.inc(updates)
        self._raw.inc(raw_bytes)
        self._stored.inc(stored_bytes)
        self._write.observe(seconds)

    def packed(self, updates: int, seconds: float) -> None:
        """Updates were moved into a segment."""
        self._packed.inc(updates)
        self._pack.observe(seconds)

    def failed(self, updates: int) -> None:
        """A commit failed."""
        self._failed.inc()

    def refused(self) -> None:
        """An update was refused."""
        self._refused.inc()

    def damaged(self) -> None:
        """A value could not be read."""
        self._damaged.inc()

    def moved_aside(self, records: int) -> None:
        """Records were moved aside."""
        self._aside.inc(records)


_metrics: _Metrics | None = None


def install() -> None:
    """Publish the metrics of this process; calling it again changes nothing."""
    global _metrics  # noqa: PLW0603 - prometheus has one registry for the process, too
    if _metrics is None:
        _metrics = _Metrics()
    if observer() is None:
        observe(_metrics)
