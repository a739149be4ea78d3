"""What stops maintenance."""

from __future__ import annotations

from ..errors import Error

__all__ = ["Refused", "Stopped"]


class Refused(Error):
    """It was not begun, and nothing was changed; the message says why and what to do."""


class Stopped(Error):
    """It was begun and could not go on. The store is intact, and running it again goes on where it stopped."""
