"""Who wants to know what becomes of the updates: metrics, for example. With nobody, telling costs a comparison."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Observer", "observe", "observer"]


class Observer(Protocol):
    """What is told of all stores of this process, in the threads of the databases. It must be quick and not raise."""

    def stored(self, updates: int, raw_bytes: int, stored_bytes: int, seconds: float) -> None:
        """Updates were committed in one transaction, of so many bytes as written by the room and in the rows.

        `seconds` is the time from handing over the first of them to the end of the transaction.
        """

    def packed(self, updates: int, seconds: float) -> None:
        """Updates were moved from rows into a segment."""

    def failed(self, updates: int) -> None:
        """A transaction that should have stored so many updates failed. They stay queued and are tried again."""

    def refused(self) -> None:
        """SQLite refused an update for itself; its writer was told."""

    def damaged(self) -> None:
        """A stored value was found that cannot be read."""

    def moved_aside(self, records: int) -> None:
        """So many records of a document were moved aside."""


_observer: Observer | None = None


def observe(new: Observer | None) -> None:
    """Have this object told, and nobody else; None for nobody."""
    global _observer  # noqa: PLW0603 - one for the process, as the stores are
    _observer = new


def observer() -> Observer | None:
    """Who is told, if anybody."""
    return _observer
