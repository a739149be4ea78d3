"""The second thread of a file: work that nobody waits for, one piece at a time, each document's once in line."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable

from ..errors import Error

__all__ = ["Maintenance"]


class Maintenance:
    """A line of named tasks, done in a thread of their own that lives while there are some.

    Args:
        log: where the failure of a task is told.
        emptied: called in the thread when it has nothing left to do at once.
    """

    def __init__(self, log: logging.Logger, emptied: Callable[[], None]) -> None:
        self._log = log
        self._emptied = emptied
        self._wake = threading.Condition()
        # Insertion order is the order of work; the value is the task and the monotonic time before which it waits.
        self._tasks: dict[tuple[str, str], tuple[Callable[[], None], float]] = {}
        self._thread: threading.Thread | None = None
        self._hurried = False
        self._working = False

    def add(self, kind: str, document: str, task: Callable[[], None], delay: float = 0.0) -> None:
        """Do a task after `delay` seconds. One of the same kind and document that waits already is replaced."""
        with self._wake:
            due = time.monotonic() + delay
            self._tasks.pop((kind, document), None)
            self._tasks[kind, document] = (task, due)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="ypress-maintenance", daemon=True)
                self._thread.start()
            else:
                self._wake.notify_all()

    def settle(self, timeout: float) -> bool:
        """Wait until nothing is being done and nothing is due. Returns whether that was so within `timeout` seconds."""

        def settled() -> bool:
            now = time.monotonic()
            return not self._working and not any(due <= now for _, due in self._tasks.values())

        with self._wake:
            return self._wake.wait_for(settled, timeout)

    def hurry(self, hurried: bool = True) -> None:
        """Wait for no delay any more, since the file is to be closed; or, with False, do so again."""
        with self._wake:
            self._hurried = hurried
            self._wake.notify_all()

    @property
    def hurried(self) -> bool:
        """Whether the file is to be closed: long tasks stop at the next good place."""
        return self._hurried

    @property
    def idle(self) -> bool:
        """Whether nothing is being done or waits to be done."""
        return self._thread is None

    def _run(self) -> None:
        while True:
            task = self._next()
            if task is None:
                self._emptied()
                return
            kind, document, work = task
            try:
                work()
            except Error as error:  # says what, where and what to do
                self._log.error("%s of document %s failed: %s", kind, document, error)
            except sqlite3.OperationalError as error:  # locked, full or out of reach
                self._log.warning("%s of document %s is left for later: %s", kind, document, error)
            except BaseException:  # noqa: BLE001 - a panic of pycrdt is one; the next task has nothing to do with it
                self._log.exception("%s of document %s failed; it is tried again later", kind, document)

    def _next(self) -> tuple[str, str, Callable[[], None]] | None:
        """The first task that is due; None when the thread ends, which it does under the lock that `add` takes."""
        with self._wake:
            self._working = False
            self._wake.notify_all()
            while self._tasks:
                now = time.monotonic()
                for (kind, document), (work, due) in self._tasks.items():
                    if self._hurried or due <= now:
                        del self._tasks[kind, document]
                        self._working = True
                        return kind, document, work
                self._wake.wait(min(due for _, due in self._tasks.values()) - now)
            self._thread = None
            return None
