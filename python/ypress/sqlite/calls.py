"""Jobs of the database's thread, awaited by an event loop."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from .database import Database
from .errors import StoreError, StoreUnavailable
from .notify import outcome

__all__ = ["AsyncConnection", "ask", "explained"]

T = TypeVar("T")


async def ask(database: Database, job: Callable[[sqlite3.Connection], T]) -> T:
    """Run a job in the thread that owns the connection, and wait for what it returns.

    Raises:
        StoreUnavailable: the file is locked or out of reach.
        StoreError: the file is damaged.
    """
    try:
        return await outcome(database.call(job))
    except sqlite3.Error as error:
        raise explained(database, error) from error


def explained(database: Database, error: sqlite3.Error) -> StoreError:
    """What SQLite says of a file, with the file's name and what to do."""
    path = database.location.path
    if isinstance(error, sqlite3.OperationalError):
        return StoreUnavailable(f"the store {path} cannot be read at the moment: {error}")
    return StoreError(f"the store {path} is damaged: {error}; run `jupyter ypress verify` on it")


class AsyncConnection:
    """The file's connection in the shape that code written for the stock store's `_db` expects.

    Args:
        database: whose connection it is. It is not closed by `close`, since other stores share it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def cursor(self) -> AsyncCursor:
        """A cursor."""
        return AsyncCursor(self._database)

    async def commit(self) -> None:
        """Nothing: statements commit on their own."""

    async def close(self) -> None:
        """Nothing: the database closes with its last store."""


class AsyncCursor:
    """A cursor of `AsyncConnection`.

    It takes all rows of a statement at once: one that is left half-way would hold the file's lock.

    Args:
        database: where it is used.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows: Iterator[tuple[object, ...]] = iter(())

    async def execute(self, sql: str, parameters: Sequence[object] = ()) -> AsyncCursor:
        """Run one statement."""
        rows = await ask(self._database, lambda connection: connection.execute(sql, parameters).fetchall())
        self._rows = iter(rows)
        return self

    async def fetchone(self) -> tuple[object, ...] | None:
        """The next row, or None."""
        return next(self._rows, None)

    async def fetchall(self) -> list[tuple[object, ...]]:
        """All rows that are left."""
        return list(self._rows)
