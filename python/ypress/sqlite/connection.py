"""Opening the file: its schema, its pragmas, and what is said when it is not what it should be."""

from __future__ import annotations

import itertools
import logging
import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .errors import StoreError, StoreUnavailable
from .schema import create_stock, missing_stock

__all__ = ["MEMORY", "Connection", "Location", "connect", "is_passing", "transaction"]

MEMORY = ":memory:"
_JOURNAL_MODES = ("delete", "truncate", "persist", "memory", "wal")
# How long another process may take between creating the stock tables and marking their version.
_CREATION_GRACE = 2.0


@dataclass(frozen=True)
class Location:
    """A file and how to open it.

    Args:
        path: the file, or ``":memory:"``.
        version: the ``user_version`` of the schema.
        busy_timeout: seconds that SQLite waits for another process's lock.
        journal_mode: to be set when the file is opened; None leaves it as it is.
    """

    path: str
    version: int = 2
    busy_timeout: float = 5.0
    journal_mode: str | None = None

    def __post_init__(self) -> None:
        if not self.path:
            raise ValueError("db_path is empty; name a file")
        if self.journal_mode is not None and str(self.journal_mode).lower() not in _JOURNAL_MODES:
            modes = ", ".join(_JOURNAL_MODES)
            raise ValueError(f"journal_mode = {self.journal_mode!r}; there are: {modes}, or None to leave it as it is")
        if not isinstance(self.busy_timeout, int | float):
            raise TypeError(f"busy_timeout = {self.busy_timeout!r}; it is a number of seconds")
        if not self.busy_timeout >= 0:
            raise ValueError(f"busy_timeout = {self.busy_timeout!r}; it is a number of seconds, 0 or more")


_opened = itertools.count(1)


class Connection(sqlite3.Connection):
    """A connection that can be told from those before it: SQLite's ``data_version`` counts anew in each.

    Args:
        seen: which file had the name right before it was opened.
    """

    def __init__(self, *args: Any, seen: tuple[int, int] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.opened = next(_opened)
        self.seen = seen


def _identity(location: Location) -> tuple[int, int] | None:
    try:
        stat = os.stat(location.path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def is_passing(error: sqlite3.Error) -> bool:
    """Whether the error says that the file is locked, full or out of reach: trying again later may succeed."""
    return isinstance(error, sqlite3.OperationalError)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """A write transaction that takes the lock at its beginning, so that it cannot fail half-way for want of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has rolled back on its own after some errors (a full disk is one).
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def connect(location: Location, log: logging.Logger) -> sqlite3.Connection:
    """Open the file, create it or what it lacks, and move it aside if it has another version.

    Raises:
        StoreUnavailable: it cannot be opened at the moment.
        StoreError: it is not a store.
    """
    try:
        return _connect(location, log)
    except sqlite3.OperationalError as error:
        raise StoreUnavailable(f"cannot open the store {location.path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{location.path} is not a store: {error}; move it away, or set db_path to another file"
        ) from error
    except OSError as error:
        raise StoreUnavailable(f"cannot open the store {location.path}: {error}") from error


def _connect(location: Location, log: logging.Logger) -> sqlite3.Connection:
    if location.path != MEMORY:
        _make_folder(location, log)
    with _alone(location):
        return _opened_store(location, log)


def _make_folder(location: Location, log: logging.Logger) -> None:
    """Make the folder that the file lies in, and say so: its name may be mistyped."""
    folder = os.path.dirname(os.path.abspath(location.path))
    if os.path.isdir(folder):
        return
    os.makedirs(folder, exist_ok=True)
    log.warning(
        "the folder %s was not there and has been made, since db_path is %r. If that is not meant, correct db_path",
        folder,
        location.path,
    )


@contextmanager
def _alone(location: Location) -> Iterator[None]:
    """Open files of this folder one process after the other.

    Nobody may have a connection to a file of another version while that is moved and a new one is made in its place:
    SQLite would take the new file's journal for one of the old file, and roll the old one back by it. Where the file
    system has no such locks, or somebody takes longer than the busy timeout, it goes on without.
    """
    if sys.platform == "win32" or location.path == MEMORY:  # Windows moves no file that somebody has open
        yield
        return
    import fcntl

    try:
        folder = os.open(os.path.dirname(os.path.abspath(location.path)), os.O_RDONLY)
    except PermissionError:  # it may be used and not listed
        yield
        return
    try:
        deadline = time.monotonic() + location.busy_timeout
        while True:
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < deadline:
                    time.sleep(0.005)
                    continue
            except OSError:
                pass
            break
        yield
    finally:
        os.close(folder)


def _opened_store(location: Location, log: logging.Logger) -> Connection:
    connection = _open(location)
    try:
        while _has_other_version(connection, location):
            _move_away(connection, location, log)
            connection.close()
            connection = _open(location)
        missing = missing_stock(connection)
        if missing:
            if "yupdates" in missing:
                _refuse_other_application(connection, location)
            try:
                with transaction(connection):
                    create_stock(connection, location.version)
            except sqlite3.OperationalError as error:
                if "yupdates" in missing or "readonly" not in str(error):
                    raise
                # A file of pycrdt-store 0.1.2 that may only be read: it can be.
        if location.journal_mode is not None:
            connection.execute(f"PRAGMA journal_mode = {location.journal_mode}")
    except BaseException:
        connection.close()
        raise
    return connection


def _open(location: Location) -> Connection:
    # One thread uses the connection at a time, but not always the one that opened it.
    connection = Connection(
        location.path,
        timeout=location.busy_timeout,
        isolation_level=None,
        check_same_thread=False,
        seen=_identity(location),
    )
    try:
        if connection.execute("PRAGMA page_count").fetchone()[0] == 0:
            # Freed pages are given back at every commit. In a file that has tables it would have no effect, but be a
            # write.
            connection.execute("PRAGMA auto_vacuum = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _has_other_version(connection: sqlite3.Connection, location: Location) -> bool:
    """Whether the file is a store of another schema version."""
    deadline = time.monotonic() + _CREATION_GRACE
    while "yupdates" not in missing_stock(connection):
        version = _version(connection)
        if version != 0 or location.version == 0:
            return version != location.version
        # Stock code creates the tables first and marks the version last. If it was killed in between, the tables are
        # there all the same.
        if time.monotonic() > deadline:
            connection.execute(f"PRAGMA user_version = {int(location.version)}")
            return False
        time.sleep(0.02)
    return False


def _refuse_other_application(connection: sqlite3.Connection, location: Location) -> None:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'y%'"
    other = connection.execute(query).fetchone()
    if other is not None:
        raise StoreError(
            f"{location.path} is another application's database (it has a table {other[0]!r}); "
            "set db_path to another file"
        )


def _move_away(connection: Connection, location: Location, log: logging.Logger) -> None:
    """Move the file aside that the connection has open, unless another process has just done so.

    That one may have a new file of this name by now: this is done under the lock of the old file, and looks once more.
    """
    if os.name == "nt":
        connection.close()
        _rename(location, log)
        return
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("BEGIN EXCLUSIVE")
    try:
        if _version(connection) != location.version and connection.seen == _identity(location):
            _rename(location, log)
    finally:
        connection.execute("ROLLBACK")


def _rename(location: Location, log: logging.Logger) -> None:
    stem, extension = os.path.splitext(location.path)
    number = 1
    while os.path.exists(new_path := f"{stem}({number}){extension}"):
        number += 1
    log.warning("YStore version mismatch, moving %s to %s", location.path, new_path)
    os.rename(location.path, new_path)
