"""SQLite files with the schema of pycrdt-store, statement by statement as that package makes them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from os import PathLike
from pathlib import Path

from .room import Row

_YUPDATES = "CREATE TABLE yupdates (path TEXT NOT NULL, yupdate BLOB, metadata BLOB, timestamp REAL NOT NULL)"
_INDEX = "CREATE INDEX idx_yupdates_path_timestamp ON yupdates (path, timestamp)"
_YCHECKPOINTS = (
    "CREATE TABLE ycheckpoints (path TEXT NOT NULL, checkpoint BLOB NOT NULL, timestamp REAL NOT NULL, "
    "PRIMARY KEY(path))"
)


def write_stock_store(
    path: str | PathLike[str], rows: Iterable[Row], *, checkpoints: bool = True, auto_vacuum: bool = True
) -> Path:
    """Make a store file; one that is there already is replaced.

    Args:
        path: where.
        rows: what goes into ``yupdates``, in this order.
        checkpoints: whether the (empty) table ``ycheckpoints`` exists: since pycrdt-store 0.1.3 it does.
        auto_vacuum: whether the file shrinks by itself: not in files of 0.1.2 and before.

    Returns:
        the path of the file.
    """
    file = Path(path)
    for suffix in ("", "-journal", "-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"PRAGMA auto_vacuum = {'FULL' if auto_vacuum else 'NONE'}")
        if auto_vacuum:
            db.execute("VACUUM")
        db.execute(_YUPDATES)
        db.execute(_INDEX)
        if checkpoints:
            db.execute(_YCHECKPOINTS)
        db.execute("PRAGMA user_version = 2")
        db.executemany("INSERT INTO yupdates VALUES (?, ?, ?, ?)", rows)
        db.commit()
    return file


def read_stock_rows(path: str | PathLike[str]) -> Iterator[Row]:
    """The rows of a stock store in the order they were written; the file is only read."""
    with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as db:
        yield from db.execute("SELECT path, yupdate, metadata, timestamp FROM yupdates ORDER BY rowid")
