"""One store's share of a file: what the store's methods do, without the event loop's side of it."""

from __future__ import annotations

import os
import sqlite3
import time
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from functools import partial
from logging import Logger
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from .._native import Clocks
from ..errors import CorruptData, Error
from . import checkpoints, packing
from .aside import move_aside
from .calls import ask, explained
from .cleanup import size_in_use
from .connection import MEMORY, Location
from .database import Database, acquire
from .errors import DamagedHistory
from .history import Reader, Record
from .observing import observer
from .options import Options
from .pages import read_pages
from .replay import apply
from .unrecorded import Unrecorded
from .worker import Write
from .writing import last_timestamp

if TYPE_CHECKING:
    from pycrdt import Doc

__all__ = ["Share"]


# Seconds without a write after which gaps in a history are taken to be final.
_SETTLED = 3600.0


def _clocks(updates: list[bytes]) -> Clocks:
    clocks = Clocks()
    for update in updates:
        with suppress(CorruptData):  # of a kind that we do not know, since pycrdt has applied it
            clocks.add(update)
    return clocks


class Share:
    """A started store's part in a `Database`.

    Args:
        location: the file.
        path: the document's path key.
        options: of the store.
        log: where faults are told.
    """

    def __init__(self, location: Location, path: str, options: Options, log: Logger) -> None:
        self.path = path
        self.options = options
        self.log = log
        self.database = acquire(location, path, log)
        # The real path, whatever becomes of the working directory.
        self.location = self.database.location
        self.document = self.database.document(path)
        self._unrecorded: Unrecorded | None = None
        self._supersedes: str | None = None
        # Also where the store is forgotten without being stopped.
        self._release = weakref.finalize(self, self.database.release, path)
        # At the end of the interpreter, storing what waits is all there is time for: `database.drain` does that.
        self._release.atexit = False
        packing.schedule(self.database, self.document, options, packing.WORTH_PACKING)

    @property
    def closed(self) -> bool:
        """Whether it was given up."""
        return not self._release.alive

    def close(self) -> None:
        """Give it up; the file is closed in its own thread once everything is stored."""
        if not self.closed:
            if not self.database.inherited:
                packing.schedule(self.database, self.document, self.options, packing.WORTH_PACKING)
                checkpoints.at_close(self.database, self.document, self.options)
            self._release()

    def drain(self, timeout: float) -> int:
        """Wait until what was written is stored and, if nobody else uses it, the file is closed.

        Args:
            timeout: seconds.

        Returns:
            How many updates are still waiting.
        """
        if self.database.inherited:
            return 0
        left = self.database.wait_stored(self.path, timeout)
        if left and self.database.fault is None:
            # The callback for their metadata does not come back: better without it than not at all.
            self.database.release_unready(self.path)
            left = self.database.wait_stored(self.path, timeout)
        if not left and not self.database.shared:
            self.database.finished.wait(timeout)
        return left

    def submit(self, write: Write) -> Database:
        """Hand an update over, behind what the document held before it was loaded and the history lacks.

        Returns:
            To whom.
        """
        ahead = [] if self._unrecorded is None else self._unrecorded.ahead_of(write.update)
        writes = [Write(self.path, update, write.timestamp, write.options) for update in ahead]
        writes.append(write)
        writes[0].supersedes, self._supersedes = self._supersedes, None
        if not self.closed:
            self.database.submit(*writes)
            return self.database
        # A task of a room that has been torn down: its update is as good as any other.
        database = acquire(self.location, self.path, self.log)
        try:
            database.submit(*writes)
        finally:
            database.release(self.path)
        return database

    def look(self) -> None:
        """Note what the document holds now, for `settle` a while later. To be called in the document's thread."""
        if self._unrecorded is not None:
            self._unrecorded.look()

    def settle(self) -> None:
        """Where nothing was written or changed since `look`, take what the document holds for what its room has set
        without recording it; that alone is not worth storing. To be called in the document's thread.
        """
        if self._unrecorded is not None:
            self._unrecorded.settle()

    def submit_rest(self) -> None:
        """Hand over what the loaded document holds and nobody has written. To be called in the document's thread.

        A room that is torn down drops the updates that it had not come round to writing.
        """
        rest = None if self._unrecorded is None else self._unrecorded.rest()
        if rest is not None:
            self.submit(Write(self.path, rest, time.time(), self.options))

    def pages(self, damage: Callable[[DamagedHistory], object] | None = None) -> AsyncGenerator[list[Record], None]:
        """The history, a page of records at a time, with nothing held in between.

        Args:
            damage: told of what cannot be decoded, which is left out then; without it, that is raised.
        """
        reader = Reader(self.path, self.document)
        return read_pages(self.database, reader, self.path, self.options.values, damage)

    async def load(self, doc: Doc[Any]) -> bool:
        """Apply everything that is stored or waits to be stored to a document.

        Returns:
            Whether there was anything.

        Raises:
            DamagedHistory: a value cannot be read; the records were moved aside.
            StoreError: the file cannot be read.
        """
        queue = self.database.waiting(self.path)
        begins = [index for index, write in enumerate(queue) if write.supersedes is not None]
        waiting = [write.update for write in queue[begins[-1] if begins else 0 :]]
        updates: list[bytes] = []
        try:
            if not begins:
                load = partial(checkpoints.load, self.database, self.path, self.options)
                updates = await anyio.to_thread.run_sync(load, abandon_on_cancel=True)
                try:
                    self._apply(doc, updates)
                except DamagedHistory as error:
                    # Of all that is loaded, the checkpoint alone has not been applied before.
                    self.log.warning("%s; it is made anew from the history", error)
                    load = partial(load, checkpoint=False)
                    updates = await anyio.to_thread.run_sync(load, abandon_on_cancel=True)
                    self._apply(doc, updates)
            updates += waiting
            self._apply(doc, waiting)
        except sqlite3.Error as error:
            raise explained(self.database, error) from error
        except DamagedHistory as error:
            raise await self._move_aside(error) from error
        clocks = _clocks(updates)
        # The file is asked only where there are gaps that might be closed.
        close = not waiting and bool(clocks.gaps()) and await self._is_settled()
        self._unrecorded = Unrecorded(doc, clocks, close=close)
        return bool(updates)

    def begin_anew(self, doc: Doc[Any], reason: str) -> None:
        """Let what is written next, which has to be the whole document, take the place of what is stored.

        For a document that could not be loaded and is made from its file: in one history with what is stored, its
        content would be there twice. What is stored moves aside with the next write, in the same transaction.

        Args:
            doc: the document; what it holds at the next write is all of it.
            reason: why it could not be loaded.
        """
        self._supersedes = reason
        self._unrecorded = Unrecorded(doc, Clocks())

    async def _is_settled(self) -> bool:
        """Whether nobody has written for so long that what is missing in the history will not come any more."""
        latest = await ask(self.database, lambda connection: last_timestamp(connection, self.path))
        return time.time() - latest > _SETTLED

    def _apply(self, doc: Doc[Any], updates: list[bytes]) -> None:
        for update in updates:
            try:
                apply(doc, update)
            except Error as error:
                raise DamagedHistory(f"document {self.path}: {error}", self.path) from error

    async def _move_aside(self, damage: DamagedHistory) -> DamagedHistory:
        """Move the document's records aside, and say so."""
        moved = time.time()

        def job(connection: sqlite3.Connection) -> int:
            count = move_aside(connection, self.path, str(damage), moved)
            self.document.history_gone()
            if (watching := observer()) is not None:
                watching.moved_aside(count)
            return count

        count = await ask(self.database, job)
        message = f"{damage}. The document's {count} stored records were moved aside; nothing was deleted"
        self.log.error("%s", message)
        return DamagedHistory(message, damage.document, damage.place)

    async def size(self) -> int:
        """The bytes of the file."""
        path = self.database.location.path
        if path == MEMORY:
            return await ask(self.database, size_in_use)
        try:
            return os.stat(path).st_size
        except FileNotFoundError:
            return 0

    async def clean_up(self, limit: int) -> bool:
        """Make the file smaller than `limit` bytes if it is larger. Returns whether that was done."""
        if not self.database.cleanup.due(await self.size(), limit):
            return False
        run = partial(self.database.cleanup.run, self.options, limit)
        try:
            return await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        except (sqlite3.Error, Error) as error:
            # Whoever waits for this wrote something, and that is stored.
            self.log.error("the store %s cannot be made smaller at the moment: %s", self.location.path, error)
            return False
