"""Reading everything in a store to see whether it can be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike

from .._native import Clocks, segment_info, unpack
from ..errors import CorruptData, Error
from ..sqlite.layout import Layout, SegmentPlace, layout
from ..sqlite.repairing import file_faults
from ..sqlite.replay import Replay
from ..sqlite.rewriting import Changed, documents, read_checkpoint, read_rows, read_segment
from ..sqlite.statistics import unreadable_paths
from ..sqlite.values import Values
from ..words import counted
from .opening import opened

__all__ = ["Damage", "Gap", "Verified", "verify_document", "verify_store"]

_ATTEMPTS = 20


@dataclass(frozen=True)
class Damage:
    """Something that is not as it should be.

    Args:
        path: the document's path key; None for the file.
        place: where it is stored: ``row N``, ``segment N``, ``before segment N``, ``checkpoint``.
        reason: what is wrong with it.
    """

    path: str | None
    place: str
    reason: str


@dataclass(frozen=True)
class Gap:
    """Clocks of a client that a history lacks; what follows them is held back by Yjs in the browser.

    Args:
        path: the document's path key.
        client: whose they are.
        first: the first of them.
        end: behind the last of them.
        awaited: whether something that is stored depends on them.
    """

    path: str
    client: int
    first: int
    end: int
    awaited: bool


@dataclass
class Verified:
    """What was found.

    Args:
        documents: that were read.
        updates: that were read.
        damage: what is not as it should be.
        gaps: what histories lack.
        deep: whether they were replayed.
        repaired: what was done about it.
    """

    documents: int = 0
    updates: int = 0
    damage: list[Damage] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    deep: bool = False
    repaired: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "documents": self.documents,
            "updates": self.updates,
            "deep": self.deep,
            "damage": [vars(damage) for damage in self.damage],
            "gaps": [vars(gap) for gap in self.gaps],
            "repaired": self.repaired,
        }


def verify_store(
    path: str | PathLike[str],
    values: Values | None = None,
    *,
    deep: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Verified:
    """Read everything in a store; nothing is changed, and no writer is held up, except with `deep` for a while.

    Args:
        path: the file.
        values: how values are read.
        deep: also check the file as such, replay every document, and compare its checkpoint with its history.
        progress: told how many of how many documents are done.

    Raises:
        Refused: it is not a store.
    """
    known = values or Values()
    result = Verified(deep=deep)
    with opened(path) as (connection, _):
        if deep:
            result.damage += [Damage(None, "file", fault) for fault in file_faults(connection)]
        try:
            paths = list(documents(connection))
            result.damage += [
                Damage(str(name), "path", "the path key is not text in UTF-8; no store can open it")
                for name in unreadable_paths(connection)
            ]
        except sqlite3.DatabaseError as error:
            result.damage.append(Damage(None, "file", str(error)))
            return result
        for number, name in enumerate(paths):
            try:
                verify_document(connection, name, known, result)
            except sqlite3.DatabaseError as error:
                result.damage.append(Damage(name, "file", str(error)))
            progress(number + 1, len(paths))
    return result


def verify_document(connection: sqlite3.Connection, path: str, values: Values, result: Verified) -> None:
    """Read everything of a document, and add what is found."""
    for _ in range(_ATTEMPTS):
        found = _Document(connection, path, values, result.deep)
        with suppress(Changed):
            found.run()
            break
    result.documents += 1
    result.updates += found.updates
    result.damage += found.damage
    result.gaps += found.gaps


class _Document:
    """The check of one document."""

    def __init__(self, connection: sqlite3.Connection, path: str, values: Values, deep: bool) -> None:
        self._connection = connection
        self._path = path
        self._values = values
        self._replay = Replay() if deep else None
        self._clocks = Clocks()
        self._behind = Clocks()  # the checkpoint, and what follows it
        self.updates = 0
        self.damage: list[Damage] = []
        self.gaps: list[Gap] = []
        self._position = 0  # of the update that is being looked at

    def run(self) -> None:
        """Read it.

        Raises:
            Changed: others changed it meanwhile.
        """
        at = layout(self._connection, self._path)
        checkpoint = self._checkpoint()
        if checkpoint is not None:
            with suppress(CorruptData):
                self._behind.add(checkpoint)
        for place, update in self._history(at):
            if update is not None:
                self._add(place, update, at.covered is not None and self._position >= at.covered)
        for client, ranges in self._clocks.gaps():
            awaited = dict(self._clocks.awaited()).get(client, [])
            self.gaps += [
                Gap(self._path, client, first, end, any(a < end and first < b for a, b in awaited))
                for first, end in ranges
            ]
        if checkpoint is not None and self._replay is not None:
            self._compare(checkpoint, at.covered)

    def _found(self, place: str, reason: str) -> None:
        self.damage.append(Damage(self._path, place, reason))

    def _checkpoint(self) -> bytes | None:
        value = read_checkpoint(self._connection, self._path)
        if value is None:
            return None
        try:
            state = self._values.decode(value)
            if self._replay is not None:
                Replay().apply(state)
        except Error as error:
            self._found("checkpoint", str(error))
            return None
        return state

    def _history(self, at: Layout) -> Iterator[tuple[str, bytes | None]]:
        for before, place in pairwise((None, *at.segments)):
            assert place is not None
            if before is not None and before.end != place.seq:
                missing = f"the updates {before.end} to {place.seq - 1} are missing"
                self._found(f"before segment {place.seq}", missing)
            yield from self._segment(place)
        self._position = at.first_loose
        for row in read_rows(self._connection, at):
            try:
                update: bytes | None = self._values.decode(row[1])
            except Error as error:
                self._found(f"row {row[0]}", str(error))
                update = None
            yield f"row {row[0]}", update
            self._position += 1

    def _segment(self, place: SegmentPlace) -> Iterator[tuple[str, bytes | None]]:
        name = f"segment {place.seq}"
        blob = read_segment(self._connection, self._path, place.seq)
        self._position = place.seq
        try:
            info = segment_info(blob)
            if (info.updates, info.raw_bytes) != (place.updates, place.raw_bytes):
                self._found(name, f"it holds {counted(info.updates, 'update')}, and its row says {place.updates}")
            for record in unpack(blob):
                yield name, record[0]
                self._position += 1
        except Error as error:
            self._found(name, str(error))

    def _add(self, place: str, update: bytes, behind: bool) -> None:
        self.updates += 1
        # Updates of a kind that this does not know are left to pycrdt.
        with suppress(CorruptData):
            self._clocks.add(update)
            if behind:
                self._behind.add(update)
        if self._replay is None:
            return
        try:
            self._replay.apply(update)
        except Error as error:
            self._found(place, str(error))

    def _compare(self, checkpoint: bytes, covered: int | None) -> None:
        assert self._replay is not None
        try:
            more = self._clocks.missing(checkpoint)
            if more is not None:
                self._found("checkpoint", f"it has {len(more)} bytes that the history lacks")
            # Where it is not known what it covers, it is not relied upon.
            if covered is not None and self._replay.complete:
                less = self._behind.missing(self._replay.state())
                if less is not None:
                    self._found("checkpoint", f"it lacks {len(less)} bytes of the history that it should hold")
        except CorruptData as error:
            self._found("checkpoint", str(error))
