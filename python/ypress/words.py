"""Numbers in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number and what it counts: ``1 update``, ``2,500 updates``.

    Args:
        number: how many.
        noun: what one is called.
        plural: what several are called; the noun with an ``s`` if None.
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
