"""The exceptions of the codec API. The native module raises these classes."""

from __future__ import annotations

__all__ = ["CorruptData", "Error", "TooLarge", "UnsupportedFormat"]


class Error(Exception):
    """Something about stored bytes is not as it should be; the subclasses say what."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class CorruptData(Error, ValueError):
    """The bytes are not what they claim to be: cut off, altered, or followed by something else.

    Args:
        message: what happened, in words.
        format: what the bytes claim to be, for example ``"zstd frame"``.
        offset: the byte at which it was noticed, counted from the beginning of the value.
    """

    def __init__(self, message: str, format: str = "", offset: int = 0) -> None:
        super().__init__(message, format, offset)
        self.format = format
        self.offset = offset


class TooLarge(Error, ValueError):
    """The content is, or claims to be, larger than the caller allows.

    Args:
        message: what happened, in words.
        format: what the bytes are.
        size: the size of the content in bytes; where it was given up half-way, the size reached.
        limit: the limit in bytes that was in force.
    """

    def __init__(self, message: str, format: str = "", size: int = 0, limit: int = 0) -> None:
        super().__init__(message, format, size, limit)
        self.format = format
        self.size = size
        self.limit = limit


class UnsupportedFormat(Error, ValueError):
    """The bytes were written by a newer ypress.

    Args:
        message: what happened, in words.
        format: what is unknown, for example ``"frame method"``.
        version: its number.
    """

    def __init__(self, message: str, format: str = "", version: int = 0) -> None:
        super().__init__(message, format, version)
        self.format = format
        self.version = version
