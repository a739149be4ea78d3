"""Transactions that leave room for servers: short ones and pauses where others write, full speed where nobody does."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from ..sqlite.layout import data_version
from .errors import Stopped

__all__ = ["Pace"]

T = TypeVar("T")

# Seconds for which a file counts as used by others after they have written.
_SHARED_FOR = 15.0
# Rows of one transaction where others write: at first, at least (a commit takes its time, however few there are), and
# at most; in between they are adapted to take this long, in seconds.
_ROWS, _LEAST, _MOST = 1_000, 800, 4_000
_GOAL = 0.03
# Seconds for which it is watched whether others write, before a file of so many bytes is begun.
_WATCH = 0.12
_WATCHED = 8_000_000
# Seconds after which a lock that another process holds is given up on.
_PATIENCE = 60.0


class Pace:
    """Runs transactions.

    Args:
        connection: the file.
        small: whether to keep transactions small in any case, since the disk is nearly full.
        size: bytes of the file.
    """

    def __init__(self, connection: sqlite3.Connection, small: bool = False, size: int = 0) -> None:
        self._connection = connection
        self._small = small
        self._stamp = data_version(connection)
        self._seen = float("-inf")
        self.rows = _ROWS
        deadline = time.monotonic() + (_WATCH if size >= _WATCHED else 0.0)
        while time.monotonic() < deadline and not self.shared:
            time.sleep(0.01)

    @property
    def shared(self) -> bool:
        """Whether others have written to the file not long ago."""
        stamp = data_version(self._connection)
        if stamp != self._stamp:
            self._stamp = stamp
            self._seen = time.monotonic()
        return time.monotonic() - self._seen < _SHARED_FOR

    @property
    def careful(self) -> bool:
        """Whether transactions are to be small."""
        return self._small or self.shared

    def run(self, work: Callable[[], T], rows: int = 0) -> T:
        """Run a transaction, again and again while the file is locked.

        Args:
            work: begins and ends the transaction.
            rows: how many rows it moves.

        Raises:
            Stopped: the file stays locked, or the disk is full.
        """
        deadline = time.monotonic() + _PATIENCE
        while True:
            start = time.monotonic()
            try:
                result = work()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) and "busy" not in str(error):
                    raise _stopped(error) from error
                if time.monotonic() > deadline:
                    raise Stopped(f"{error}: another process has held the file for long; run it again later") from error
                self._seen = time.monotonic()
                time.sleep(0.1)
                continue
            spent = time.monotonic() - start
            if rows and rows <= 4 * self.rows:
                wanted = rows * _GOAL / max(spent, 1e-4)
                self.rows = int(min(_MOST, max(_LEAST, (self.rows + wanted) / 2)))
            if self.shared:
                # SQLite lets others try again only now and then: they need a while in which nobody holds the lock.
                time.sleep(max(0.04, 2 * spent))
            return result


def _stopped(error: sqlite3.OperationalError) -> Stopped:
    if "full" in str(error):
        return Stopped(
            "the disk is full; the store is intact, and what was done so far stays. "
            "Make room and run it again: it goes on where it stopped"
        )
    return Stopped(f"{error}; the store is intact, and running it again goes on where it stopped")
