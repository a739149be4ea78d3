"""What a live document holds that its stored history lacks.

A collaboration room sets values in its document before it asks the store to load, and records only what comes after.
The clocks of those values would be a gap in the history, and Yjs holds back whatever its client did later. So the store
keeps an account of what its history holds, and puts what is missing ahead of the first update that would not fit.
"""

from __future__ import annotations

import weakref
from typing import Protocol

from .._native import Clocks
from ..errors import CorruptData

__all__ = ["Unrecorded"]


class Document(Protocol):
    """The part of ``pycrdt.Doc`` that is needed here."""

    def get_update(self, state: bytes | None = None) -> bytes: ...
    def apply_update(self, update: bytes) -> None: ...


class Unrecorded:
    """Finds what has to be stored ahead of an update. Use it where the document may be used: in its thread.

    Args:
        ydoc: the document, after the history has been applied to it. It is held weakly.
        clocks: all updates of the history, added in order; from here on this object's own.
        close: close those gaps of the history that nothing depends on, in the document now, in the history with the
            next write. Whoever still holds the missing structs can never add them afterwards, so this is for
            histories that nobody has written for a while.
    """

    def __init__(self, ydoc: Document, clocks: Clocks, *, close: bool = False) -> None:
        self._ydoc = weakref.ref(ydoc)
        self._clocks = clocks
        self._waiting: list[bytes] = []
        if close and (closing := clocks.closing()) is not None:
            ydoc.apply_update(closing)
            clocks.add(closing)
            self._waiting.append(closing)
        self._held = self._missing()
        if self._held is not None:
            self._waiting.append(self._held)
        self._recorded = False
        self._seen: bytes | None = None

    def look(self) -> None:
        """Note what the document holds now; see `settle`."""
        self._seen = None if self._recorded else self._missing()

    def settle(self) -> None:
        """Take what the document holds for set before it is recorded, if that is what `look` saw, and nothing has been
        written in this session: an edit would have been, in between. It waits for the first write, and is no `rest`.
        """
        if self._seen is None or self._recorded or self._seen == self._held or self._missing() != self._seen:
            return
        self._waiting = [*(waiting for waiting in self._waiting if waiting is not self._held), self._seen]
        self._held = self._seen

    def ahead_of(self, update: bytes) -> list[bytes]:
        """The updates to store ahead of `update`, in order, and in one transaction with it. Usually there are none.

        Counts `update` and what it returns as stored. What is no Yjs update of version 1 passes unexamined.
        """
        self._recorded = True
        itself = Clocks()
        try:
            itself.add(update)
        except CorruptData:
            return []
        # The whole state, which a room writes when it made the document from its file, says it all itself.
        ahead = [waiting for waiting in self._waiting if itself.missing(waiting) is not None]
        self._waiting.clear()
        for waiting in ahead:
            self._clocks.add(waiting)
        if not self._clocks.add(update) and (more := self._missing()) is not None:
            # The document changed between loading and recording.
            self._clocks.add(more)
            ahead.append(more)
        return ahead

    def rest(self) -> bytes | None:
        """What the document holds now and its history lacks; None if that is nothing, or no more than at the beginning.

        Deletions alone are not seen.
        """
        missing = self._missing()
        return None if missing is None or missing in self._waiting else missing

    def _missing(self) -> bytes | None:
        ydoc = self._ydoc()
        if ydoc is None:
            return None
        try:
            return self._clocks.missing(ydoc.get_update(self._clocks.state_vector()))
        except CorruptData:
            return None
