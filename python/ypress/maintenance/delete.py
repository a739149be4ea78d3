"""Deleting a document from a store."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ..sqlite.removing import begin_secure, remove_all_but_rows, remove_rows
from .opening import opened
from .pace import Pace
from .room import rebuild

__all__ = ["Deleted", "delete_document"]

_ROWS = 4_000


@dataclass(frozen=True)
class Deleted:
    """What was done.

    Args:
        records: that were removed.
        rebuilt: whether the file was rebuilt, so that nothing of it is left in free pages.
        note: why not.
    """

    records: int
    rebuilt: bool
    note: str | None


def delete_document(file: str | PathLike[str], path: str) -> Deleted:
    """Remove a document's history, segments, checkpoint and moved-aside records for good.

    What is removed is overwritten, and the file is rebuilt: free pages may hold what was moved or replaced before.

    Args:
        file: the store.
        path: the document's path key.

    Raises:
        Refused: the file cannot be written.
        Stopped: the file stays locked. Some of it may be left; run it again.
    """
    with opened(file, write=True) as (connection, known):
        pace = Pace(connection)
        begin_secure(connection)
        records = pace.run(lambda: remove_all_but_rows(connection, path))
        while True:
            most = pace.rows if pace.careful else _ROWS
            removed = pace.run(lambda most=most: remove_rows(connection, path, most), most)  # type: ignore[misc]
            records += removed
            if not removed:
                break
        if known.journal_mode == "wal":
            with suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        rebuilt, note = rebuild(connection, Path(file))
    return Deleted(records, rebuilt, note)
