"""Putting a store right: what is damaged moves aside, and checkpoints are made anew."""

from __future__ import annotations

import logging
import sqlite3
import time
from os import PathLike
from pathlib import Path

from .._native import Clocks
from ..errors import CorruptData, Error
from ..sqlite.checkpoints import make
from ..sqlite.connection import Location
from ..sqlite.database import acquire
from ..sqlite.history import placed_records, read_page
from ..sqlite.layout import layout
from ..sqlite.repairing import add_recovered, close_hole, drop_checkpoint, move_row_aside, move_segment_aside
from ..sqlite.rewriting import Changed, read_checkpoint
from ..sqlite.values import Values
from .opening import opened
from .pace import Pace
from .verify import Damage, Verified

__all__ = ["repair_store"]

_log = logging.getLogger(__name__)


def repair_store(path: str | PathLike[str], found: Verified, values: Values | None = None) -> None:
    """Put right what `verify_store` found, and note in it what was done.

    Damaged rows and segments move into the table ``yaside``; nothing is deleted. What a checkpoint has and the history
    lacks is added to the history. Checkpoints of these documents are made anew.

    Args:
        path: the file.
        found: what is to be put right.
        values: how values are read.

    Raises:
        Refused: it cannot be written.
        Stopped: the disk is full, or the file stays locked.
    """
    known = values or Values()
    file = Path(path)
    documents = list(dict.fromkeys(damage.path for damage in found.damage if damage.path is not None))
    moved = time.time()
    with opened(file, write=True) as (connection, _):
        pace = Pace(connection)
        for name in documents:
            # Backwards: what lies behind is not renumbered by what happens before it.
            for damage in reversed([damage for damage in found.damage if damage.path == name]):
                try:
                    _put_right(connection, pace, damage, moved)
                    found.repaired.append(f"{name}, {damage.place}: {_WORDS[damage.place.split()[0]]}")
                except (Changed, KeyError):
                    continue
            if _recover(connection, pace, name, known):
                found.repaired.append(f"{name}: what only the checkpoint had was added to the history")
    for name in documents:
        if _new_checkpoint(file, name, known):
            found.repaired.append(f"{name}: the checkpoint was made anew")


_WORDS = {
    "row": "moved aside",
    "segment": "moved aside",
    "before": "the hole was closed",
    "checkpoint": "moved aside",
}


def _put_right(connection: sqlite3.Connection, pace: Pace, damage: Damage, moved: float) -> None:
    path, reason = damage.path, damage.reason
    assert path is not None
    kind, _, number = damage.place.rpartition(" ")
    if damage.place == "checkpoint":
        if "lacks" in reason and reason.startswith("it has"):
            raise Changed  # that is of use: it is added to the history
        pace.run(lambda: drop_checkpoint(connection, path, reason, moved))
    elif kind == "row":
        pace.run(lambda: move_row_aside(connection, path, int(number), reason, moved))
    elif kind == "segment":
        pace.run(lambda: move_segment_aside(connection, path, int(number), reason, moved))
    elif kind == "before segment":
        pace.run(lambda: close_hole(connection, path, int(number)))
    else:
        raise KeyError(damage.place)


def _recover(connection: sqlite3.Connection, pace: Pace, path: str, values: Values) -> bool:
    """Add to the history what the checkpoint has and it lacks."""
    stored = read_checkpoint(connection, path)
    if stored is None:
        return False
    clocks = Clocks()
    try:
        state = values.decode(stored)
        at = layout(connection, path)
        position: int | None = at.first if at.end > at.first else None
        while position is not None:
            page = read_page(connection, path, at, position)
            for _, record in placed_records(page, path, values):
                try:
                    clocks.add(record[0])
                except CorruptData:
                    continue
            position = page.next
        missing = clocks.missing(state)
    except Error:
        return False
    if missing is None:
        return False
    pace.run(lambda: add_recovered(connection, path, missing))
    return True


def _new_checkpoint(file: Path, path: str, values: Values) -> bool:
    database = acquire(Location(str(file)), path, _log)
    try:
        make(database, path, values)
        stored = database.run(lambda connection: read_checkpoint(connection, path))
    except (Error, sqlite3.Error):
        return False
    finally:
        database.release(path)
        database.finished.wait(10)
    return stored is not None
