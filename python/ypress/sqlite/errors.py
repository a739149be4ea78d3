"""What can go wrong with a store. `ypress.store` exports these."""

from __future__ import annotations

from ..errors import Error

__all__ = ["DamagedHistory", "NotDurable", "NotStarted", "StoreError", "StoreUnavailable"]


class StoreError(Error):
    """Something is wrong with a store or one of its documents; the message says what, where, and what to do.

    Args:
        message: what happened, in words.
        document: the path key of the document, or None where the whole file is meant.
        place: where in the document's history, for example ``"row 17"`` or ``"segment 4000"``; None if unknown.
    """

    def __init__(self, message: str, document: str | None = None, place: str | None = None) -> None:
        super().__init__(message, document, place)
        self.document = document
        self.place = place


class NotStarted(StoreError, RuntimeError):
    """The store has not been started, or was started in the process that this one was forked from."""


class StoreUnavailable(StoreError):
    """The file cannot be opened or read at the moment: locked, no permission, not a database."""


class NotDurable(StoreError):
    """The store was stopped while updates could not be stored; they stay in memory and are retried."""


class DamagedHistory(StoreError):
    """A stored value of a document cannot be read. Nothing was deleted."""
