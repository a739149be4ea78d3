"""Updates into documents, with every failure of pycrdt as an exception that can be caught."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pycrdt import Doc

from .._native import Clocks
from ..errors import CorruptData

__all__ = ["Replay", "apply", "is_update"]


def apply(doc: Doc[Any], update: bytes) -> None:
    """Apply one update.

    Raises:
        CorruptData: it is not a Yjs update, or does not fit to the document.
    """
    try:
        doc.apply_update(update)
    except (ValueError, RuntimeError, TypeError) as error:
        raise CorruptData(f"not an update that pycrdt can apply: {error}", "update", 0) from error
    except BaseException as error:
        # A panic of pycrdt's core is derived from BaseException, under a name that cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise CorruptData(f"pycrdt fails on this update: {error}", "update", 0) from error


def is_update(content: bytes) -> bool:
    """Whether pycrdt can read it."""
    try:
        apply(Doc(), content)
    except CorruptData:
        return False
    return True


class Replay:
    """A history being replayed, that knows whether the document has all of it."""

    def __init__(self) -> None:
        self._doc: Doc[Any] = Doc()
        self.clocks = Clocks()

    def apply(self, update: bytes) -> None:
        """Apply the next update.

        Raises:
            CorruptData: it is not a Yjs update, or does not fit to the document.
        """
        apply(self._doc, update)
        # What pycrdt can read and this cannot is of a kind that we do not know: it is not accounted for.
        with suppress(CorruptData):
            self.clocks.add(update)

    @property
    def complete(self) -> bool:
        """Whether `state` has everything. pycrdt keeps what depends on something missing to itself."""
        return not self.clocks.awaited()

    def state(self) -> bytes:
        """The whole state, as one update."""
        return self._doc.get_update()
