"""Checkpoints: the whole state of a document, so that opening it need not replay all of its history.

A checkpoint holds the history up to a position (`ypositions.covered`), noted in the transaction that writes it. Where
that is not known, because stock code made the checkpoint or removed rows since, all of the history is replayed:
applying an update twice is harmless, missing one is not.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import Error
from .history import Page, Reader, damaged, loose_tail, placed_records
from .layout import Layout, continues, layout, positions, snapshot
from .options import Options
from .replay import Replay
from .schema import add_cover_triggers, add_positions, has_table
from .values import Values
from .writing import last_timestamp

if TYPE_CHECKING:
    from .database import Database, Document

__all__ = ["after_writes", "at_close", "load", "make", "stock_timestamp", "store_covered"]

# Making checkpoints takes at most this share of the time: replaying holds the interpreter lock.
_SHARE = 0.1
# Seconds after which a checkpoint is tried again where updates are missing that others depend on.
_INCOMPLETE = 600.0
# Seconds that making one may take without counting.
_CHEAP = 0.02
# A checkpoint of so many bytes, or a quarter of the packed history, is worth its place in the file; a larger one is
# where replaying so many updates would take longer than people like to wait.
_LIGHT = 64 << 10
_LONG = 100_000
# A load that has to apply more updates than this on top of a checkpoint makes a new one.
_LONGEST_TAIL = 500


def after_writes(database: Database, document: Document, options: Options) -> None:
    """Have a checkpoint made if one is due."""
    interval = options.checkpoint_interval
    if not interval or document.since_checkpoint < interval:
        return
    if time.monotonic() < document.checkpoint_not_before:
        return
    document.since_checkpoint = 0
    path = document.path
    database.maintenance.add("checkpoint", path, lambda: make(database, path, options.values))


def at_close(database: Database, document: Document, options: Options) -> None:
    """Have a checkpoint that is there brought up to date, so that the document opens fast the next time."""
    if options.checkpoint_interval and document.since_checkpoint:
        path = document.path
        database.maintenance.add("checkpoint", path, lambda: _refresh(database, document, options.values))


def _refresh(database: Database, document: Document, values: Values) -> None:
    path = document.path
    if time.monotonic() >= document.checkpoint_not_before:
        stored = database.run(lambda connection: _stored(connection, path))
        if stored.value is not None and stored.covered is not None:
            document.since_checkpoint = 0
            make(database, path, values)


def make(database: Database, path: str, values: Values) -> None:
    """Bring the checkpoint of a document up to date, in the caller's thread.

    Raises:
        DamagedHistory: its history cannot be read.
    """
    start = time.monotonic()
    document = database.document(path)
    generation = document.generation
    replayed = _replay(database, path, values)
    now = time.monotonic()
    document.checkpoint_not_before = now + max(0.0, now - start - _CHEAP) / _SHARE
    if replayed is None:
        return
    replay, covered, at = replayed
    if not replay.complete:
        # pycrdt holds back what depends on updates that are missing, and would leave it out of the state.
        document.checkpoint_not_before = now + _INCOMPLETE
        return
    value = values.encode(replay.state())
    database.ride(lambda connection: _write(connection, document, generation, value, (covered, at)))


def load(database: Database, path: str, options: Options, *, checkpoint: bool = True) -> list[bytes]:
    """Everything that has to be applied to have a document, in order; in the caller's thread.

    Args:
        database: the file.
        path: the document's path key.
        options: how values are read, and whether there are checkpoints.
        checkpoint: whether the stored checkpoint is of use; if not, it is made anew from the history.

    Raises:
        DamagedHistory: a value that is needed cannot be read.
    """
    values = options.values
    document = database.document(path)
    generation = document.generation
    stored = database.run(lambda connection: _stored(connection, path))
    state, covered = _decoded(database, path, values, stored) if checkpoint else (None, None)
    if state is not None and covered is not None and (tail := _tail(database, document, values, stored)) is not None:
        # Read once for itself, so that damage shows before the first is applied to the caller's document.
        scratch = Replay()
        for place, update in tail:
            _apply(scratch, path, place, update)
        return [state, *(update for _, update in tail)]
    replayed = _replay(database, path, values, checkpoint=checkpoint)
    if replayed is None:
        return []
    replay, end, at = replayed
    if not replay.complete:
        # Only the updates themselves have what pycrdt holds back.
        before = [] if replay.base is None else [replay.base]
        reader = Reader(path, document)
        return [*before, *(update for _, update, _ in _updates(database, path, values, reader))]
    state = replay.state()
    if options.checkpoint_interval:
        value = values.encode(state)
        database.ride(lambda connection: _write(connection, document, generation, value, (end, at)))
        document.since_checkpoint = 0
    return [state]


def _tail(database: Database, document: Document, values: Values, stored: _Stored) -> list[tuple[str, bytes]] | None:
    """The updates behind a checkpoint, each with the place where it is stored; None if they are many."""
    path, covered = document.path, stored.covered
    if covered is None:
        return None
    if stored.tail is not None:
        return [(place, record[0]) for place, record in placed_records(stored.tail, path, values)]
    reader = Reader(path, document, covered)

    def look_up(connection: sqlite3.Connection) -> int | None:
        with snapshot(connection):
            at = reader.look_up(connection)
            return at.end - covered if at.covered == covered else None

    behind = database.run(look_up)
    if behind is None or not 0 <= behind <= _LONGEST_TAIL:
        return None
    # They are in a segment, which has to be unpacked: a checkpoint nearer to the end is of use.
    document.since_checkpoint = max(document.since_checkpoint, behind)
    return [(place, update) for place, update, _ in _updates(database, path, values, reader)]


def _replay(
    database: Database, path: str, values: Values, *, checkpoint: bool = True
) -> tuple[_Based, int, Layout | None] | None:
    """All of the history replayed, the position up to which that goes, and how it lies; None without any history."""
    reader = Reader(path, database.document(path))

    def begin(connection: sqlite3.Connection) -> _Stored:
        # In one snapshot, so that the position that the checkpoint names is a position of this layout.
        with snapshot(connection):
            reader.look_up(connection)
            return _stored(connection, path)

    stored = database.run(begin)
    state, covered = _decoded(database, path, values, stored) if checkpoint else (None, None)
    replay = _Based()
    if state is not None:
        try:
            replay.apply(state)
            replay.base = state
        except Error as error:
            _warn_of_checkpoint(database, path, error)
            replay, state, covered = _Based(), None, None
    end = covered or 0
    reader.go_to(end)
    found = state is not None
    for place, update, position in _updates(database, path, values, reader):
        _apply(replay, path, place, update)
        end = position
        found = True
    return (replay, end, reader.layout) if found else None


class _Based(Replay):
    """A replay, and the state of the checkpoint that it began with."""

    base: bytes | None = None


def _apply(replay: Replay, path: str, place: str, update: bytes) -> None:
    try:
        replay.apply(update)
    except Error as error:
        raise damaged(path, place, error) from error


def _updates(database: Database, path: str, values: Values, reader: Reader) -> Iterator[tuple[str, bytes, int]]:
    """The updates that a reader comes to: where each is stored, its bytes, and the position behind it."""
    while (page := database.run(reader.next_page)) is not None:
        position = page.position
        for place, (update, _, _) in placed_records(page, path, values):
            position += 1
            yield place, update, position


@dataclass(frozen=True)
class _Stored:
    """The checkpoint as it is stored.

    Args:
        value: its value; None if there is none.
        covered: the position up to which it is known to hold the history.
        tail: the rows behind that, and perhaps some before, if they are few.
    """

    value: object
    covered: int | None
    tail: Page | None


def _stored(connection: sqlite3.Connection, path: str) -> _Stored:
    with snapshot(connection):
        row = None
        if has_table(connection, "ycheckpoints"):
            query = "SELECT checkpoint, timestamp FROM ycheckpoints WHERE path = ?"
            row = connection.execute(query, (path,)).fetchone()
        value, since = row or (None, None)
        covered = positions(connection, path)[1]
        tail = None if covered is None else loose_tail(connection, path, covered, since, _LONGEST_TAIL)
    return _Stored(value, covered, tail)


def _decoded(database: Database, path: str, values: Values, stored: _Stored) -> tuple[bytes | None, int | None]:
    """The state in a checkpoint, and the position up to which it is known to hold the history."""
    if stored.value is None:
        return None, None
    try:
        return values.decode(stored.value), stored.covered
    except Error as error:
        _warn_of_checkpoint(database, path, error)
        return None, None


def _warn_of_checkpoint(database: Database, path: str, error: Error) -> None:
    # Nothing is lost: it is made anew from the history.
    database.log.warning("document %s: the checkpoint cannot be read and is made anew: %s", path, error)


def store_covered(connection: sqlite3.Connection, path: str, covered: int | None) -> None:
    """Note the position up to which the checkpoint holds the history, in the caller's transaction."""
    connection.execute(
        "INSERT INTO ypositions (path, covered) VALUES (?, ?) "
        "ON CONFLICT (path) DO UPDATE SET covered = excluded.covered",
        (path, covered),
    )


def _write(
    connection: sqlite3.Connection,
    document: Document,
    generation: int,
    value: bytes,
    read: tuple[int, Layout | None],
) -> None:
    """Store a checkpoint that holds the history up to a position of the layout by which it was read.

    In the caller's transaction.
    """
    path = document.path
    covered, before = read
    at = layout(connection, path, order=False)
    if document.generation != generation or not at.first <= covered <= at.end:
        return  # the history was moved aside meanwhile; it will have a checkpoint of its own
    if before is not None and before.stamp != at.stamp and not continues(before, at):
        return  # another process has squashed it
    if not _is_worthwhile(value, covered, at):
        return
    add_positions(connection)
    add_cover_triggers(connection)
    query = "INSERT OR REPLACE INTO ycheckpoints (path, checkpoint, timestamp) VALUES (?, ?, ?)"
    connection.execute(query, (path, value, stock_timestamp(connection, path, at, covered)))
    # Behind the insertion, since a trigger forgets the position when it sees a checkpoint being made.
    store_covered(connection, path, covered)


def _is_worthwhile(value: bytes, covered: int, at: Layout) -> bool:
    """Whether a checkpoint saves more than it costs: a packed history has the pictures of a notebook already."""
    packed = sum(segment.stored for segment in at.segments)
    return len(value) <= max(_LIGHT, packed // 4) or not packed or covered - at.first >= _LONG


def stock_timestamp(connection: sqlite3.Connection, path: str, at: Layout, covered: int) -> float:
    """A timestamp for stock code, which loads the checkpoint and all rows that are not older than it.

    Its own choice is the time of making; rows written meanwhile, or by a clock that was set back, would be missed. The
    last row that the checkpoint holds counts as well: the clock may have been set back before that one, and what
    follows it has times like its own. `loose_tail` relies on a row of this time or later having been there then.
    """
    behind = at.rowids[max(0, covered - at.first_loose - 1) :].tolist()
    if behind:
        marks = ",".join("?" * len(behind[:500]))
        query = f"SELECT min(timestamp) FROM yupdates WHERE rowid IN ({marks})"
        if len(behind) <= 500:
            return float(connection.execute(query, behind).fetchone()[0])
        query = "SELECT min(timestamp) FROM yupdates WHERE path = ?"
        return float(connection.execute(query, (path,)).fetchone()[0])
    latest = last_timestamp(connection, path)
    return latest if latest > 0 else 0.0
