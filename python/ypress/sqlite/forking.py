"""Forks wait until no thread is within SQLite.

SQLite keeps the locks that a process has on a file in memory, for all connections together. A child that is forked in
the middle of a transaction inherits this account, and nobody there can ever settle it: every connection of its own
would find the file locked for ever, or read it without a lock.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["within_sqlite"]

# Seconds after which a fork goes on all the same: a file system that hangs must not stop who needs no store.
_PATIENCE = 15.0


class _Gate:
    """Counts who is within SQLite, and is shut while a fork is under way."""

    def __init__(self) -> None:
        # Reentrant, since a garbage collection may come in between, and with it another connection's end.
        self._changed = threading.Condition(threading.RLock())
        self._inside: dict[int, int] = {}
        self._forking: dict[int, int] = {}

    def enter(self) -> None:
        """Go in, once no other thread forks."""
        me = threading.get_ident()
        with self._changed:
            while me not in self._inside and self._forking.keys() - {me}:
                self._changed.wait()
            self._inside[me] = self._inside.get(me, 0) + 1

    def leave(self) -> None:
        """Go out."""
        with self._changed:
            self._count_down(self._inside)

    def shut(self) -> None:
        """Let nobody in any more, and wait until everybody else is out."""
        me = threading.get_ident()
        deadline = time.monotonic() + _PATIENCE
        with self._changed:
            self._forking[me] = self._forking.get(me, 0) + 1
            self._changed.wait_for(lambda: not self._inside.keys() - {me}, deadline - time.monotonic())

    def open(self) -> None:
        """Let everybody in again."""
        with self._changed:
            self._count_down(self._forking)

    def _count_down(self, threads: dict[int, int]) -> None:
        me = threading.get_ident()
        threads[me] -= 1
        if not threads[me]:
            del threads[me]
        self._changed.notify_all()


_gate = _Gate()


@contextmanager
def within_sqlite() -> Iterator[None]:
    """Use a connection: no other thread forks meanwhile."""
    gate = _gate
    gate.enter()
    try:
        yield
    finally:
        gate.leave()


def _before() -> None:
    _gate.shut()


def _in_parent() -> None:
    _gate.open()


def _in_child() -> None:
    global _gate  # noqa: PLW0603 - the threads that the parent's one counts are not here
    _gate = _Gate()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
