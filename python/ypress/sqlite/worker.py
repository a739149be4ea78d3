"""The thread that owns the connection: it commits what waits in one transaction, and runs jobs in between.

Writes are accepted without waiting and stay queued, in order, until they are on disk. Where they cannot be stored
(the file is locked, the disk full) they are retried; meanwhile jobs go on.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from ..errors import Error
from ..words import counted
from .connection import MEMORY, Location, connect, is_passing, transaction
from .errors import NotStarted, StoreError
from .forking import within_sqlite
from .notify import Completion, resolve
from .observing import observer
from .options import Options

__all__ = ["Worker", "Write"]

T = TypeVar("T")

# Seconds between two attempts to store what waits: doubled from the first to the last.
_RETRY_FIRST = 0.05
_RETRY_LAST = 5.0
# Seconds between two log lines about a fault that goes on.
_LOG_EVERY = 60.0
# Seconds that something waits for writes to ride along with.
_RIDE_WITHIN = 0.5
# One transaction holds at most so many updates and bytes, so that a job never waits long.
_GROUP_UPDATES = 5000
_GROUP_BYTES = 64 << 20


# What SQLite says of a value that it will never take, whatever the state of the file.
_REFUSALS = (sqlite3.DataError, sqlite3.InterfaceError, sqlite3.ProgrammingError, OverflowError, UnicodeError)


@dataclass(eq=False, slots=True)
class Write:
    """An update on its way to the disk.

    Args:
        path: the document's path key.
        update: the update's bytes.
        timestamp: seconds since the epoch at which it was handed over.
        options: of the store that it was handed to.
        metadata: its metadata, once it is known.
        ready: whether the metadata is known; until then, it and what follows it in its document waits.
        completion: resolved once the update is on disk; None where nobody waits.
        value: what is stored for the update, once it has been encoded.
        supersedes: why the records that the document has are moved aside before this is stored; None if they are not.
    """

    path: str
    update: bytes
    timestamp: float
    options: Options
    metadata: bytes | None = b""
    ready: bool = True
    completion: Completion | None = None
    value: bytes | None = None
    supersedes: str | None = None


class Worker(threading.Thread):
    """The one thread that uses a file's connection.

    Args:
        location: the file.
        log: where faults are told.
        insert: stores a group of writes in an open transaction, and returns what is to be done once it is committed.
        may_finish: asked when it is closed and nothing waits; after yes, nothing more may be handed in.
    """

    def __init__(
        self,
        location: Location,
        log: logging.Logger,
        insert: Callable[[sqlite3.Connection, list[Write]], Callable[[], None]],
        may_finish: Callable[[], bool],
    ) -> None:
        super().__init__(name="ypress-store", daemon=True)
        self.location = location
        self.finished = threading.Event()
        self.fault: BaseException | None = None
        self._log = log
        self._insert = insert
        self._may_finish = may_finish
        # Reentrant, since a store that the garbage collector finds is released in whichever thread that happens.
        lock = threading.RLock()
        self._wake = threading.Condition(lock)
        self._stored = threading.Condition(lock)
        self._writes: deque[Write] = deque()
        self._jobs: deque[tuple[Future[object], Callable[[sqlite3.Connection], object]]] = deque()
        # Done in the transaction of the next writes, or in one of their own at this time.
        self._riders: list[Callable[[sqlite3.Connection], object]] = []
        self._ride_at = 0.0
        self._closing = False
        self._signal = False
        self._done = False
        self._connection: sqlite3.Connection | None = None
        self._was_open = False
        self._retry_at = 0.0
        self._retry_delay = _RETRY_FIRST
        self._logged_at = 0.0

    # What other threads call.

    def submit(self, *writes: Write) -> None:
        """Take over writes; they stay together and in order."""
        with self._wake:
            self._refuse_if_finished()
            self._writes.extend(writes)
            self._wake.notify()

    def call(self, job: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Run a job with the connection, outside of any transaction."""
        future: Future[T] = Future()
        with self._wake:
            self._refuse_if_finished()
            self._jobs.append((future, job))  # type: ignore[arg-type]
            self._wake.notify()
        return future

    def ride(self, job: Callable[[sqlite3.Connection], object]) -> None:
        """Do something that nobody waits for in the transaction of the next writes, to spare one of its own.

        Where no writes come, it is done by itself a little later. If it fails, that is logged, and it is undone.
        """
        with self._wake:
            self._refuse_if_finished()
            if not self._riders:
                self._ride_at = time.monotonic() + _RIDE_WITHIN
            self._riders.append(job)
            self._wake.notify()

    def wake(self) -> None:
        """Look at everything again: a write has become ready, or finishing has become possible."""
        with self._wake:
            self._signal = True
            self._wake.notify()

    def close(self, closing: bool = True) -> None:
        """Finish once everything is stored and `may_finish` agrees; or, with False, go on after all."""
        with self._wake:
            self._closing = closing
            self._signal = True
            self._wake.notify()

    def waiting(self, path: str | None = None) -> list[Write]:
        """The writes, of one document or of all, that are not on disk yet."""
        with self._wake:
            return [write for write in self._writes if path is None or write.path == path]

    @property
    def queued(self) -> int:
        """How many writes are not on disk yet."""
        return len(self._writes)

    def release_unready(self, path: str | None = None) -> None:
        """Let go of writes, of one document or of all, that still wait for their metadata."""
        for write in self.waiting(path):
            write.ready = True
        self.wake()

    def wait_stored(self, path: str, timeout: float) -> int:
        """Wait until nothing of a document waits any more. Returns how many updates do after `timeout` seconds."""

        def left() -> int:
            return sum(write.path == path for write in self._writes)

        with self._stored:
            self._stored.wait_for(lambda: not left(), timeout)
            return left()

    def _refuse_if_finished(self) -> None:
        if self._done:
            raise NotStarted(f"the store {self.location.path} is closed; start it again")

    # The thread.

    def run(self) -> None:
        """Work until closed; an error of a write or job ends that, not the thread."""
        while True:
            with self._wake:
                if not (self._jobs or self._signal or self._is_due()):
                    self._wake.wait(self._retry_in())
                self._signal = False
                group = self._next_group()
                alone = not group and bool(self._riders) and (self._closing or time.monotonic() >= self._ride_at)
                job = self._jobs.popleft() if self._jobs else None
            if group:
                self._commit(group)
            elif alone:
                self._ride_alone()
            if job is not None:
                self._run_job(*job)
            if self._closing and self._finish(worked=bool(group or alone or job)):
                return

    def _finish(self, worked: bool) -> bool:
        """End the thread's work if there is none left; `worked` says that it is worth looking again."""
        with self._wake:
            if self._writes or self._jobs or self._riders or worked:
                self._signal = self._signal or worked
                return False
        # Asked without our lock: whoever asks us may hold what this takes.
        if not self._may_finish():
            return False
        with self._wake:
            if (
                self._writes or self._jobs or self._riders
            ):  # handed in meanwhile, by a reader of a store that is being stopped
                self._signal = True
                return False
            self._done = True
        self._close_connection()
        self.finished.set()
        return True

    def _is_due(self) -> bool:
        if self._riders and time.monotonic() >= self._ride_at:
            return True
        return self._is_write_due()

    def _is_write_due(self) -> bool:
        if self.fault is not None and time.monotonic() < self._retry_at:
            return False
        return any(write.ready for write in self._writes)

    def _retry_in(self) -> float | None:
        """Seconds until something that waits is to be tried; None where nothing waits."""
        times = [self._retry_at] if self.fault is not None and self._writes else []
        times += [self._ride_at] if self._riders else []
        return max(0.001, min(times) - time.monotonic()) if times else None

    def _next_group(self) -> list[Write]:
        """What to store next: a prefix of each document's writes, as far as their metadata is known."""
        if not self._is_write_due():
            return []
        group: list[Write] = []
        held: set[str] = set()
        size = 0
        for write in self._writes:
            if not write.ready:
                held.add(write.path)
            elif write.path not in held:
                group.append(write)
                size += len(write.update)
                if len(group) >= _GROUP_UPDATES or size >= _GROUP_BYTES:
                    break
        return group

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            if self._was_open and not os.path.exists(self.location.path):
                self._log.error(
                    "the store %s is gone: it was deleted or moved while it was open. A new one is begun; what was "
                    "stored before is in the old file, if there is one",
                    self.location.path,
                )
            self._connection = connect(self.location, self._log)
            self._was_open = True
        return self._connection

    def _commit(self, group: list[Write]) -> None:
        try:
            # Before the lock is taken, since it may take long; once, however often storing is tried.
            for write in group:
                if write.value is None:
                    write.value = write.options.values.encode(write.update)
            with within_sqlite(), transaction(self._open()) as connection:
                committed = self._insert(connection, group)
                self._take_riders(connection)
        except _REFUSALS as error:
            self._refused(group, error)
            return
        except BaseException as error:  # noqa: BLE001 - whatever it is, what waits must not be lost, nor the thread end
            self._failed(error, len(group))
            return
        self._forget(group)
        if self.fault is not None:
            self._log.warning("the store %s can be written again; nothing that waited was lost", self.location.path)
            self.fault = None
        try:
            committed()
        except Exception:  # noqa: BLE001 - what was stored is stored; what should follow comes with a later write
            self._log.exception("the store %s: its maintenance could not be started", self.location.path)
        resolve(write.completion for write in group if write.completion is not None)

    def _take_riders(self, connection: sqlite3.Connection) -> None:
        """Do what rides along, each undone by itself if it fails."""
        with self._wake:
            riders, self._riders = self._riders, []
        for rider in riders:
            connection.execute("SAVEPOINT rider")
            try:
                rider(connection)
            except Exception:
                if not connection.in_transaction:
                    raise  # the whole transaction is gone: that is the writes' failure, too
                connection.execute("ROLLBACK TO rider")
                self._log.exception("the store %s: a checkpoint could not be stored", self.location.path)
            connection.execute("RELEASE rider")

    def _ride_alone(self) -> None:
        try:
            with within_sqlite(), transaction(self._open()) as connection:
                self._take_riders(connection)
        except (sqlite3.Error, Error) as error:
            with self._wake:
                self._riders.clear()
            self._log.warning("the store %s: a checkpoint could not be stored: %s", self.location.path, error)

    def _refused(self, group: list[Write], error: Exception) -> None:
        """SQLite refuses a value for itself: find it, tell its writer, and store the others."""
        if len(group) > 1:
            middle = len(group) // 2
            self._commit(group[:middle])
            if self.fault is None:
                self._commit(group[middle:])
            return
        (write,) = group
        self._forget(group)
        if (watching := observer()) is not None:
            watching.refused()
        message = f"an update of {len(write.update)} bytes cannot be stored: {error}"
        self._log.error("document %s of %s: %s", write.path, self.location.path, message)
        if write.completion is not None:
            write.completion.error = StoreError(message, write.path)
            resolve([write.completion])

    def _forget(self, group: list[Write]) -> None:
        with self._wake:
            if len(group) == len(self._writes):
                self._writes.clear()
            else:
                stored = set(map(id, group))
                self._writes = deque(write for write in self._writes if id(write) not in stored)
            self._stored.notify_all()

    def _failed(self, error: BaseException, updates: int) -> None:
        """Keep what waits, say so once a minute, and try again later."""
        if (watching := observer()) is not None:
            watching.failed(updates)
        now = time.monotonic()
        if self.fault is None:
            self._retry_delay = _RETRY_FIRST
            self._logged_at = now - _LOG_EVERY
        self.fault = error
        self._retry_at = now + self._retry_delay
        self._retry_delay = min(2 * self._retry_delay, _RETRY_LAST)
        if now - self._logged_at >= _LOG_EVERY:
            self._logged_at = now
            waiting = self.waiting()
            self._log.error(
                "the store %s cannot be written: %s; what could not be stored (%s, %d bytes) waits in memory and is "
                "tried again. Look for another process that holds the file, a full disk, or missing permissions.",
                self.location.path,
                error,
                counted(len(waiting), "update"),
                sum(len(write.update) for write in waiting),
            )
        self._reopen_unless_busy(error)

    def _reopen_unless_busy(self, error: BaseException) -> None:
        """A connection to a file that was moved, or could only be read, stays so: the next attempt opens it anew."""
        busy = isinstance(error, sqlite3.Error) and is_passing(error) and "locked" in str(error)
        if self.location.path != MEMORY and not busy:
            self._close_connection()

    def _close_connection(self) -> None:
        if self._connection is not None:
            with within_sqlite():
                self._connection.close()
            self._connection = None

    def _run_job(self, future: Future[object], job: Callable[[sqlite3.Connection], object]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            with within_sqlite():
                result = job(self._open())
        except BaseException as error:  # noqa: BLE001 - it is raised where the job was asked for
            future.set_exception(error)
        else:
            future.set_result(result)
