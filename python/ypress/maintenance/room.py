"""Room on the disk: whether there is enough to begin, and giving back what was freed."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path

from ..sqlite.opening import Facts, facts
from ..sqlite.rewriting import vacuum
from .errors import Refused

__all__ = ["give_back", "rebuild", "refuse_without_room"]

_MB = 1_000_000
# What a transaction needs beside the file, at least: its journal and a segment.
_LEAST = 4 * _MB
# Below this, transactions are kept small.
_PLENTY = 128 * _MB
# Rebuilding is of use from so many free bytes on, and so much of the file; more of a large one, which takes longer.
_WORTH = 64_000
_SHARE, _SHARE_OF_LARGE, _LARGE = 0.05, 0.25, 256 * _MB


def refuse_without_room(file: Path, known: Facts) -> bool:
    """Whether transactions are to be small, since there is little room.

    Raises:
        Refused: there is too little.
    """
    free = shutil.disk_usage(file.absolute().parent).free
    need = min(_LEAST, known.size) + 200_000
    if free < need:
        raise Refused(
            f"{file}: only {free / _MB:.1f} MB are free on its disk, and at least {need / _MB:.1f} MB are needed to "
            "work safely; make room, or move the store to a larger disk and work on it there"
        )
    return free < min(_PLENTY, 2 * known.size + _LEAST)


def give_back(connection: sqlite3.Connection, file: Path) -> tuple[bool, str | None]:
    """Give free pages back to the disk.

    Most files do that at every commit. Others are rebuilt, if the disk has room for it and it is worth it.

    Returns:
        Whether the file was rebuilt, and why not where that would be of use.
    """
    known = facts(connection)
    if known.journal_mode == "wal":
        with suppress(sqlite3.OperationalError):  # somebody reads: the log is emptied at the next chance
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    free = known.size - known.used
    share = _SHARE_OF_LARGE if known.used > _LARGE else _SHARE
    if free < max(_WORTH, share * known.size):
        return False, None
    rebuilt, why = rebuild(connection, file)
    if rebuilt:
        return True, None
    return False, f"{free / _MB:.1f} MB in the file are free and will be used again; {why}"


def rebuild(connection: sqlite3.Connection, file: Path) -> tuple[bool, str | None]:
    """Rebuild the file without free pages, if the disk has room for it.

    Returns:
        Whether it was, and if not, why.
    """
    used = facts(connection).used
    # A copy of what is used, then the same again in the journal while it is copied back.
    need = int(2.2 * used) + _MB
    room = shutil.disk_usage(file.absolute().parent).free
    in_memory = used < 48 * _MB
    temporary = need if in_memory else shutil.disk_usage(tempfile.gettempdir()).free
    if min(room, temporary) < need:
        return False, f"rebuilding it takes {need / _MB:.1f} MB of room for a moment: make room and run this again"
    try:
        vacuum(connection, in_memory)
    except sqlite3.OperationalError as error:
        return False, f"it could not be rebuilt ({error}): run this again when nobody uses the store"
    return True, None
