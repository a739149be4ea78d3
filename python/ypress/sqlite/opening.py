"""Opening a file that exists, to look into it or to rework it: nothing is created, moved or migrated."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Facts", "facts", "may_write", "open_existing"]

_STOCK_COLUMNS = {"path", "yupdate", "metadata", "timestamp"}


@dataclass(frozen=True)
class Facts:
    """What a file is, by its header and schema.

    Args:
        version: its ``user_version``.
        tables: the names of its tables.
        is_store: whether it has the table of updates, with its columns.
        page_size: bytes.
        pages: of the file.
        free_pages: those that hold nothing.
        auto_vacuum: 0 none, 1 full, 2 incremental.
        journal_mode: ``"delete"``, ``"wal"``, ...
    """

    version: int
    tables: frozenset[str]
    is_store: bool
    page_size: int
    pages: int
    free_pages: int
    auto_vacuum: int
    journal_mode: str

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.page_size * self.pages

    @property
    def used(self) -> int:
        """Bytes of the file that hold something."""
        return self.page_size * (self.pages - self.free_pages)


def open_existing(file: Path, *, write: bool = False, busy_timeout: float = 10.0) -> sqlite3.Connection:
    """Open a file that exists.

    Paths that are not UTF-8 are read with surrogate escapes instead of failing.

    Args:
        file: the file.
        write: whether it will be changed.
        busy_timeout: seconds that SQLite waits for another process's lock.
    """
    uri = f"{file.absolute().as_uri()}?mode={'rw' if write else 'ro'}"
    connection = sqlite3.connect(uri, uri=True, timeout=busy_timeout, isolation_level=None, check_same_thread=False)
    connection.text_factory = _text
    return connection


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def facts(connection: sqlite3.Connection) -> Facts:
    """What a file is.

    Raises:
        sqlite3.DatabaseError: it is not a database.
    """
    tables = frozenset(name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
    columns = {row[1] for row in connection.execute("PRAGMA table_info(yupdates)")}

    def pragma(name: str) -> int:
        return int(connection.execute(f"PRAGMA {name}").fetchone()[0])

    return Facts(
        pragma("user_version"),
        tables,
        columns >= _STOCK_COLUMNS,
        pragma("page_size"),
        pragma("page_count"),
        pragma("freelist_count"),
        pragma("auto_vacuum"),
        str(connection.execute("PRAGMA journal_mode").fetchone()[0]),
    )


def may_write(connection: sqlite3.Connection) -> None:
    """Begin to write, and take it back.

    Raises:
        sqlite3.OperationalError: the file is read-only, or another process holds it for too long.
    """
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Only a statement that writes finds out whether it may.
        connection.execute(f"PRAGMA user_version = {int(version)}")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
