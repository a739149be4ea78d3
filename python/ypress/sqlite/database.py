"""One `Database` for each file and process: all stores of a file share its connection, its threads and its queue."""

from __future__ import annotations

import atexit
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from .._native import keep_forever
from ..words import counted
from . import checkpoints, packing, squash, writing
from .aside import move_aside_within
from .cleanup import Cleanup
from .connection import MEMORY, Location
from .errors import NotStarted
from .maintenance import Maintenance
from .observing import observer
from .worker import Worker, Write

__all__ = ["Database", "Document", "acquire", "queued"]

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class Document:
    """What is remembered of a document between its writes.

    Args:
        path: its path key.
        stores: how many started stores it has.
        since_checkpoint: updates written since its last checkpoint.
        loose: updates that are not in a segment; None until they have been counted.
        loose_bytes: of the values written since it was packed the last time.
        ordered: the file's data version at which its rows were known to be in the order of their timestamps.
        structure: counts what changed the position or rowid of stored updates.
        shift: by how much its positions have become smaller without a note in the file.
        generation: counts how often its history was taken away as a whole.
        squashed: when it was squashed the last time, by the clock of its writes.
        checkpoint_not_before: monotonic time before which no new checkpoint is made.
        written: monotonic time of the last write.
        packing_later: whether it will be packed once nothing has been written for a while.
        unpackable: whether packing met a value that has to stay a row; it is not tried again.
    """

    path: str
    stores: int = 0
    since_checkpoint: int = 0
    loose: int | None = None
    loose_bytes: int = 0
    ordered: tuple[int, int] | None = None
    structure: int = 0
    shift: int = 0
    generation: int = 0
    squashed: float | None = None
    checkpoint_not_before: float = 0.0
    written: float = 0.0
    packing_later: bool = False
    unpackable: bool = False

    def squashed_by(self, shift: int) -> None:
        """Note that its history was squashed, and by how much positions have become smaller without a note."""
        self.structure += 1
        self.loose = None
        if shift:
            self.shift += shift
            self.generation += 1

    def history_gone(self) -> None:
        """Forget what is known of the stored history, since it was taken away."""
        self.structure += 1
        self.generation += 1
        self.since_checkpoint = 0
        self.loose = None
        self.unpackable = False


class Database:
    """A file that is open: made by `acquire`, closed when the last store has released it and everything is stored."""

    def __init__(self, location: Location, log: logging.Logger) -> None:
        self.location = location
        self.log = log
        self.maintenance = Maintenance(log, self._maintained)
        self.cleanup = Cleanup(self)
        self._documents: dict[str, Document] = {}
        self._stores = 0
        self._process = os.getpid()
        self._worker = Worker(location, log, self._insert, self._may_finish)
        self._worker.start()

    # For stores.

    def document(self, path: str) -> Document:
        """What is remembered of a document."""
        return self._documents.setdefault(path, Document(path))

    def submit(self, *writes: Write) -> None:
        """Take over writes: from here on they are stored, whatever becomes of the caller."""
        self._refuse_in_child()
        self._worker.submit(*writes)

    def ready(self) -> None:
        """Look at the queue again, since the metadata of a write is known now."""
        self._worker.wake()

    def release_unready(self, path: str | None = None) -> None:
        """Store writes, of one document or of all, without the metadata that they still wait for."""
        self._worker.release_unready(path)

    def call(self, job: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Run a job in the thread that owns the connection, outside of any transaction."""
        self._refuse_in_child()
        return self._worker.call(job)

    def ride(self, job: Callable[[sqlite3.Connection], object]) -> None:
        """Do something that nobody waits for in the transaction of the next writes, or a little later by itself."""
        self._worker.ride(job)

    def run(self, job: Callable[[sqlite3.Connection], T]) -> T:
        """Run a job there and wait for it; for other threads than an event loop's."""
        return self.call(job).result()

    def waiting(self, path: str | None = None) -> list[Write]:
        """The writes, of one document or of all, that are not on disk yet."""
        self._refuse_in_child()  # a thread of the parent may have held the lock that this takes
        return self._worker.waiting(path)

    def wait_stored(self, path: str, timeout: float) -> int:
        """Wait until nothing of a document waits any more. Returns how many updates do after `timeout` seconds."""
        return self._worker.wait_stored(path, timeout)

    @property
    def queued(self) -> int:
        """How many writes are not on disk yet."""
        return self._worker.queued

    @property
    def fault(self) -> BaseException | None:
        """Why writes are waiting, if they are."""
        return self._worker.fault

    @property
    def finished(self) -> threading.Event:
        """Set when everything is stored and the file is closed."""
        return self._worker.finished

    @property
    def inherited(self) -> bool:
        """Whether it is of the process that this one was forked from: its threads are not here."""
        return os.getpid() != self._process

    @property
    def shared(self) -> bool:
        """Whether a store uses it."""
        return self._stores > 0

    def release(self, path: str) -> None:
        """Give up one store's share; with the last one, the file is closed in the background."""
        if self.inherited:
            return
        with _registry_lock:
            self._stores -= 1
            document = self.document(path)
            document.stores -= 1
            if self._stores == 0:
                self.maintenance.hurry()
                self._worker.close()

    # For the worker.

    def _insert(self, connection: sqlite3.Connection, group: list[Write]) -> Callable[[], None]:
        """Store a group of writes in an open transaction."""
        committed: list[Callable[[], None]] = []
        begins = [index for index, write in enumerate(group) if write.supersedes is not None]
        for begin, end in pairwise([0, *begins, len(group)]):
            part = group[begin:end]
            if part and part[0].supersedes is not None:
                self._move_aside(connection, part[0], part[0].supersedes)
            committed += squash.before_writes(self, connection, part)
            writing.insert(connection, part)
        return lambda: self._inserted(group, committed)

    def _move_aside(self, connection: sqlite3.Connection, write: Write, reason: str) -> None:
        """Move aside what a document has, in an open transaction, since this write begins it anew."""
        count = move_aside_within(connection, write.path, reason, time.time())
        self.document(write.path).history_gone()
        if count:
            self.log.error(
                "document %s of %s: %s. What was stored is moved aside (%s); nothing is deleted",
                write.path, self.location.path, reason, counted(count, "record"),
            )  # fmt: skip
            if (watching := observer()) is not None:
                watching.moved_aside(count)

    def _inserted(self, group: list[Write], committed: list[Callable[[], None]]) -> None:
        for note in committed:
            note()
        if (watching := observer()) is not None:
            raw = sum(len(write.update) for write in group)
            stored = sum(len(write.value or b"") for write in group)
            watching.stored(len(group), raw, stored, max(0.0, time.time() - group[0].timestamp))
        documents: dict[str, list[Write]] = {}
        for write in group:
            documents.setdefault(write.path, []).append(write)
        for path, written in documents.items():
            document = self.document(path)
            options = written[-1].options
            document.since_checkpoint += len(written)
            checkpoints.after_writes(self, document, options)
            packing.after_writes(self, document, options, written)

    def _may_finish(self) -> bool:
        with _registry_lock:
            if self._stores or not self.maintenance.idle:
                return False
            key = _key(self.location)
            if _registry.get(key) is self:
                del _registry[key]
            return True

    def _maintained(self) -> None:
        self._worker.wake()

    def _refuse_in_child(self) -> None:
        if self.inherited:
            raise NotStarted(
                f"the store {self.location.path} was started in the process that this one was forked from; "
                "start a store of its own here"
            )


_registry: dict[str, Database] = {}
# Reentrant, since a store that the garbage collector finds is released in whichever thread that happens.
_registry_lock = threading.RLock()


def _key(location: Location) -> str:
    return os.path.normcase(os.path.realpath(location.path))


def _find(location: Location) -> Database | None:
    """The open database of a file, also under another name: SQLite's journal knows only one name of a hard link."""
    found = _registry.get(_key(location))
    if found is not None:
        return found
    with suppress(OSError):
        if os.stat(location.path).st_nlink > 1:
            for database in _registry.values():
                with suppress(OSError):
                    if os.path.samefile(database.location.path, location.path):
                        return database
    return None


def acquire(location: Location, path: str, log: logging.Logger) -> Database:
    """The database of a file, for one store of one document; to be released once.

    Args:
        location: the file. Its options are those of whoever opens it first.
        path: the document's path key.
        log: where faults are told, for the first.
    """
    if location.path == MEMORY:
        database = Database(location, log)
        database._stores = 1
    else:
        location = replace(location, path=os.path.realpath(location.path))
        with _registry_lock:
            database = _find(location) or Database(location, log)
            _registry.setdefault(_key(database.location), database)
            database._stores += 1
            database.maintenance.hurry(False)
            database._worker.close(False)
    database.document(path).stores += 1
    return database


def queued() -> int:
    """How many writes of this process are not on disk yet."""
    return sum(database.queued for database in list(_registry.values()))


def drain(timeout: float) -> None:
    """Wait until everything that was handed over is stored; at the end of the interpreter, when nobody else does."""
    deadline = time.monotonic() + timeout
    for database in list(_registry.values()):
        database.release_unready()  # no event loop is left to learn their metadata
        while database.waiting() and time.monotonic() < deadline:
            time.sleep(0.002)
        left = len(database.waiting())
        if left:
            database.log.error(
                "not stored in %s, since the process ends: %s: %s",
                database.location.path, counted(left, "update"), database.fault,
            )  # fmt: skip


def _forget_parent() -> None:
    """In a forked process: the parent's databases are the parent's, and their connections must not be closed here."""
    global _registry_lock  # noqa: PLW0603 - another thread of the parent may have held it
    _registry_lock = threading.RLock()
    for database in _registry.values():
        keep_forever(database)
    _registry.clear()


# A process that ends without stopping its stores: what was handed over a moment ago gets its moment.
atexit.register(drain, 5.0)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)
