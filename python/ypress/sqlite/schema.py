"""The tables: those of pycrdt-store as they are, and ours beside them, made when they are first needed.

The stock tables keep their definition and ``user_version``, so that stock code opens the file. Triggers on them notice
when stock code removes rows or makes a checkpoint, so that what we know of the document's checkpoint is forgotten.
"""

from __future__ import annotations

import sqlite3

__all__ = [
    "OWN_TABLES",
    "add_aside",
    "add_cover_triggers",
    "add_positions",
    "add_segments",
    "create_stock",
    "has_table",
    "missing_stock",
]

_UPDATES = """CREATE TABLE IF NOT EXISTS yupdates
    (path TEXT NOT NULL, yupdate BLOB, metadata BLOB, timestamp REAL NOT NULL)"""
_INDEX = "CREATE INDEX IF NOT EXISTS idx_yupdates_path_timestamp ON yupdates (path, timestamp)"
_CHECKPOINTS = """CREATE TABLE IF NOT EXISTS ycheckpoints
    (path TEXT NOT NULL, checkpoint BLOB NOT NULL, timestamp REAL NOT NULL, PRIMARY KEY(path))"""

# `seq` is the position of the segment's first update in the document's history.
_SEGMENTS = """CREATE TABLE IF NOT EXISTS ysegments
    (path TEXT NOT NULL, seq INTEGER NOT NULL, first_timestamp REAL NOT NULL, last_timestamp REAL NOT NULL,
    updates INTEGER NOT NULL, raw_bytes INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (path, seq))"""

# `first` is the position of the document's first stored update: squashing n updates into one moves it by n - 1.
# `covered` is the position up to which the checkpoint holds the history; NULL where that is not known.
_POSITIONS = """CREATE TABLE IF NOT EXISTS ypositions
    (path TEXT NOT NULL PRIMARY KEY, first INTEGER NOT NULL DEFAULT 0, covered INTEGER) WITHOUT ROWID"""
# Stock code never changes a checkpoint in place, and one that is missing covers nothing: two triggers are enough.
_FORGET = "UPDATE ypositions SET covered = NULL WHERE path = {row}.path AND covered IS NOT NULL"
_TRIGGERS = (
    f"CREATE TRIGGER IF NOT EXISTS ypress_deleted AFTER DELETE ON yupdates BEGIN {_FORGET.format(row='OLD')}; END",
    f"CREATE TRIGGER IF NOT EXISTS ypress_made AFTER INSERT ON ycheckpoints BEGIN {_FORGET.format(row='NEW')}; END",
)

# The records of documents that could not be read, as they were: `kind` names the table, `record` keeps their order.
_ASIDE = """CREATE TABLE IF NOT EXISTS yaside
    (path TEXT NOT NULL, moved REAL NOT NULL, reason TEXT NOT NULL, kind TEXT NOT NULL, record INTEGER NOT NULL,
    value BLOB, metadata BLOB, timestamp REAL, seq INTEGER, last_timestamp REAL, updates INTEGER, raw_bytes INTEGER)"""
_ASIDE_INDEX = "CREATE INDEX IF NOT EXISTS idx_yaside_path_moved ON yaside (path, moved)"

OWN_TABLES = ("ysegments", "ypositions", "yaside")


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Whether the file has a table of this name."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return connection.execute(query, (name,)).fetchone() is not None


def missing_stock(connection: sqlite3.Connection) -> set[str]:
    """Those of the stock tables and indexes that the file lacks."""
    names = {"yupdates", "idx_yupdates_path_timestamp", "ycheckpoints"}
    return names - {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


def create_stock(connection: sqlite3.Connection, version: int) -> None:
    """Add what the file lacks of the stock schema, in the caller's transaction."""
    for statement in (_UPDATES, _INDEX, _CHECKPOINTS):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {int(version)}")


def add_segments(connection: sqlite3.Connection) -> None:
    """Add the table of segments, in the caller's transaction."""
    connection.execute(_SEGMENTS)


def add_positions(connection: sqlite3.Connection) -> None:
    """Add the table of positions, in the caller's transaction."""
    connection.execute(_POSITIONS)


def add_cover_triggers(connection: sqlite3.Connection) -> None:
    """Add what forgets a checkpoint's position when stock code acts, in the caller's transaction."""
    for trigger in _TRIGGERS:
        connection.execute(trigger)


def add_aside(connection: sqlite3.Connection) -> None:
    """Add the table of records that were moved aside, in the caller's transaction."""
    connection.execute(_ASIDE)
    connection.execute(_ASIDE_INDEX)
