"""What a store holds, in numbers."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from .layout import snapshot
from .schema import has_table

__all__ = ["Summary", "summarize"]


@dataclass(frozen=True)
class Summary:
    """A store in numbers.

    Args:
        path: the file, as an absolute path.
        size: its bytes.
        documents: how many have a history.
        rows: updates that are rows.
        packed: updates that are in segments.
        aside: documents of which records were moved aside.
    """

    path: str
    size: int
    documents: int
    rows: int
    packed: int
    aside: int

    @property
    def updates(self) -> int:
        """All updates."""
        return self.rows + self.packed

    @property
    def packed_share(self) -> float:
        """The share of the updates that are in segments, from 0 to 1; 0 without any."""
        return self.packed / self.updates if self.updates else 0.0


def summarize(path: str | os.PathLike[str]) -> Summary | None:
    """Count what is in a store, without changing it.

    Args:
        path: the file.

    Returns:
        The numbers; None if there is no such file.

    Raises:
        sqlite3.Error: it cannot be read, or is no database.
    """
    file = Path(path).resolve()
    if not file.exists():
        return None
    # A connection of its own: the file is not to be created or changed, nor others kept waiting.
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=2.0)) as connection:
        connection.isolation_level = None
        with snapshot(connection):
            paths: set[str] = set()
            rows = packed = aside = 0
            if has_table(connection, "yupdates"):
                (rows,) = connection.execute("SELECT count(*) FROM yupdates").fetchone()
                paths.update(_paths(connection, "yupdates"))
            if has_table(connection, "ysegments"):
                (packed,) = connection.execute("SELECT coalesce(sum(updates), 0) FROM ysegments").fetchone()
                paths.update(_paths(connection, "ysegments"))
            if has_table(connection, "yaside"):
                aside = len(_paths(connection, "yaside"))
    return Summary(str(file), file.stat().st_size, len(paths), rows, packed, aside)


def _paths(connection: sqlite3.Connection, table: str) -> set[str]:
    return {path for (path,) in connection.execute(f"SELECT DISTINCT path FROM {table}")}
