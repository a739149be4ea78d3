"""Making a file smaller that has grown above a limit, without losing content: cheap things first, squashing last."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from .connection import transaction
from .options import Options
from .packing import WORTH_PACKING, pack_document
from .schema import has_table
from .squash import try_squash

if TYPE_CHECKING:
    from .database import Database

__all__ = ["Cleanup", "size_in_use"]

# Cleaning up stops once the file is this much below the limit, so that it is not due again at once.
_ENOUGH = 0.9


def size_in_use(connection: sqlite3.Connection) -> int:
    """The bytes of the file that hold something; the rest can be given back."""
    page_size, pages, free = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_size", "page_count", "freelist_count")
    )
    return page_size * (pages - free)


class Cleanup:
    """Keeps a file below a limit, and remembers when that was tried in vain.

    Args:
        database: the file.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._running = threading.Lock()
        self._not_below = 0

    def due(self, size: int, limit: int) -> bool:
        """Whether a file of this size, in bytes, is to be made smaller.

        What could not be made small enough is tried again only once it has grown by a tenth of the limit.
        """
        return size > max(limit, self._not_below) and not self._running.locked()

    def run(self, options: Options, limit: int) -> bool:
        """Bring the file below a limit, in the caller's thread.

        First the loose rows of all documents are packed, if this store packs; then checkpoints go, which are made
        anew; then documents are squashed, from the one whose last edit is the longest ago.

        Args:
            options: of the store whose limit it is.
            limit: bytes.

        Returns:
            Whether the file is small enough now.
        """
        if not self._running.acquire(blocking=False):
            return False
        try:
            # In case it fails half-way, it is not tried again at every write either.
            self._not_below = self._database.run(size_in_use) + limit // 10
            enough = self._shrink(options, int(limit * _ENOUGH))
            left = self._database.run(size_in_use)
            self._not_below = 0 if enough else left + limit // 10
        finally:
            self._running.release()
        return enough

    def _shrink(self, options: Options, goal: int) -> bool:
        database = self._database
        for step in _steps(database, options):
            step()
            if database.run(size_in_use) <= goal:
                database.run(_give_back)
                return True
        database.run(_give_back)
        return False


def _steps(database: Database, options: Options) -> Iterator[Callable[[], object]]:
    paths = database.run(_by_last_edit)
    if options.pack:
        # A first segment brings its table along: that has to be worth it.
        packed = database.run(lambda connection: has_table(connection, "ysegments"))
        least = WORTH_PACKING if packed else options.pack_every
        for path in paths:
            yield partial(pack_document, database, database.document(path), options, least)
    yield partial(database.run, _drop_checkpoints)
    for path in paths:
        yield partial(database.run, partial(_squash, database, options, path))


def _by_last_edit(connection: sqlite3.Connection) -> list[str]:
    """The documents, the one whose last edit is the longest ago first."""
    union = "SELECT path, timestamp AS latest FROM yupdates"
    if has_table(connection, "ysegments"):
        union += " UNION ALL SELECT path, last_timestamp FROM ysegments"
    query = f"SELECT path FROM ({union}) GROUP BY path ORDER BY max(latest)"
    return [path for (path,) in connection.execute(query)]


def _drop_checkpoints(connection: sqlite3.Connection) -> None:
    with transaction(connection):
        connection.execute("DELETE FROM ycheckpoints")


def _squash(database: Database, options: Options, path: str, connection: sqlite3.Connection) -> None:
    with transaction(connection):
        committed = try_squash(database, connection, database.document(path), options, float("inf"))
    committed()


def _give_back(connection: sqlite3.Connection) -> None:
    """Give free pages back to the file system. New files do so at every commit; older ones once they are rebuilt."""
    if connection.execute("PRAGMA freelist_count").fetchone()[0] == 0:
        return
    connection.execute("PRAGMA auto_vacuum = FULL")
    connection.execute("VACUUM")
