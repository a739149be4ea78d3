"""A collaboration room: one document on the server, people who edit copies of it, and the rows that result."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from random import Random
from typing import TypeVar

from jupyter_ydoc import YNotebook, YUnicode
from pycrdt import Doc

Row = tuple[str, bytes, bytes, float]
"""(path, update, metadata, timestamp in seconds since the epoch), as in the table ``yupdates``."""

Document = TypeVar("Document", YNotebook, YUnicode)

# A fixed day, so that the rows do not depend on when they are made.
_MONDAY = 1_709_536_000.0


class Room:
    """Collects what the server's document reports, under a clock that the replay moves."""

    def __init__(self, kind: str, rnd: Random) -> None:
        """
        Args:
            kind: ``"notebook"`` or ``"text:file"``, the first part of the key of the document.
            rnd: the source of every choice.
        """
        self.path = f".{kind}:{uuid.UUID(int=rnd.getrandbits(128), version=4)}.y"
        self.now = _MONDAY + rnd.randrange(7 * 86400) + rnd.random()
        self.rows: list[Row] = []
        self._rnd = rnd
        self._people: list[Doc] = []
        self._server: Doc = Doc(client_id=self._client())
        self._server.observe(lambda event: self._store(event.update))

    def _client(self) -> int:
        return self._rnd.getrandbits(53) | 1 << 52

    def _store(self, update: bytes) -> None:
        self.rows.append((self.path, update, b"", self.now))

    def join(self, document: Callable[[Doc], Document]) -> Document:
        """A new person's copy: what is done to it reaches the server and everybody else at once."""
        doc: Doc = Doc(client_id=self._client())
        doc.apply_update(self._server.get_update())

        def forward(event) -> None:
            # What others did arrives here too; only what the server does not know yet is news to it.
            if doc is self._author:
                self._server.apply_update(event.update)
                for other in self._people:
                    if other is not doc:
                        other.apply_update(event.update)

        doc.observe(forward)
        self._people.append(doc)
        self._author = doc
        return document(doc)

    def speak_as(self, document: YNotebook | YUnicode) -> None:
        """The edits that follow are made by this person."""
        self._author = document.ydoc

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def keystroke(self) -> None:
        """The time between two keys, with a longer pause for thought now and then."""
        rnd = self._rnd
        pause = rnd.expovariate(1 / 30) if rnd.random() < 0.01 else 0.0
        self.now += max(0.03, rnd.gauss(0.22, 0.1)) + pause

    def save_whole_state(self) -> None:
        """Store the whole document once more, as is done when its file changed on disk."""
        self._store(self._server.get_update())
