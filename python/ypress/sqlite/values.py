"""Between updates and stored values: the codec API, or the callbacks that a user registered in its place."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from .._native import DEFAULT_MAX_SIZE, compress, decompress
from ..callbacks import callbacks
from ..errors import CorruptData, Error
from .replay import is_update

__all__ = ["Callback", "Values", "resolve_callback"]

Callback = Callable[[bytes], bytes]
Record = tuple[bytes, bytes | None, float]


def resolve_callback(option: str, value: Callback | str | None) -> Callback | None:
    """The callable that an option names.

    Args:
        option: the option's name, for messages.
        value: a callable, a dotted path ``"package.module.name"``, or None.

    Raises:
        ValueError: nothing can be imported under that path.
        TypeError: it is not callable.
    """
    if value is None:
        return None
    found: object = value
    if isinstance(value, str):
        module, _, name = value.rpartition(".")
        try:
            found = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(f"{option} = {value!r} cannot be imported: {error}") from error
    if not callable(found):
        raise TypeError(f"{option} = {value!r} is not callable")
    return found


class Values:
    """Encodes updates into values and decodes values into updates.

    Args:
        compression: a codec's name, or None to write values as they are.
        level: the codec's level; None for its default.
        compress: takes the place of the codec.
        decompress: reads what ypress does not recognise.
        max_size: the most bytes that a value may unfold to; larger updates are written as they are.
        log: told when the user's ``compress`` fails.
    """

    def __init__(
        self,
        *,
        compression: str | None = None,
        level: int | None = None,
        compress: Callback | None = None,
        decompress: Callback | None = None,
        max_size: int | None = None,
        log: logging.Logger | None = None,
    ) -> None:
        self._compress = compress or callbacks(compression, level)[0]
        self._custom = compress is not None
        self._decompress = decompress
        if max_size is not None and (isinstance(max_size, bool) or not isinstance(max_size, int)):
            raise TypeError(f"max_update_size = {max_size!r}; it is a number of bytes, or None")
        if max_size is not None and max_size < 0:
            raise ValueError(f"max_update_size = {max_size!r}; it is a number of bytes, 0 or more")
        self._max_size = DEFAULT_MAX_SIZE if max_size is None else max_size
        self._log = log or logging.getLogger(__name__)

    def encode(self, update: bytes) -> bytes:
        """The value to store for an update. Never fails: what cannot be compressed is stored as it is."""
        if self._compress is None or len(update) > self._max_size:
            return compress(update, None)
        if not self._custom:
            return self._compress(update)
        try:
            value = self._compress(update)
            if not isinstance(value, bytes):
                raise TypeError(f"it returned {type(value).__name__}, not bytes")  # noqa: TRY301
        except BaseException as error:  # noqa: BLE001 - a panic of Rust code is one; the update must not be lost
            self._log.error("compress callback failed, an update is stored uncompressed: %r", error)
            return compress(update, None)
        return value

    def decode(self, value: object) -> bytes:
        """The update in a stored value.

        Raises:
            CorruptData, TooLarge, UnsupportedFormat: it cannot be read.
        """
        if not isinstance(value, bytes):
            raise CorruptData(f"the value is {'missing' if value is None else type(value).__name__}", "value", 0)
        if self._decompress is None:
            return decompress(value, max_size=self._max_size)
        return self._decode_with_callback(self._decompress, value)

    def decode_rows(self, rows: Iterable[tuple[object, bytes | None, float]]) -> list[Record]:
        """The records of stored rows; one with a raw value is its own record.

        Raises:
            CorruptData, TooLarge, UnsupportedFormat: one of them cannot be read.
        """
        decode: Callable[[Any], bytes] = self.decode
        if self._decompress is None:
            # Whether it is bytes, it says itself. It is faster without a limit of its own.
            own = self._max_size != DEFAULT_MAX_SIZE
            decode = partial(decompress, max_size=self._max_size) if own else decompress
        try:
            return [
                row if (update := decode(value := row[0])) is value else (update, row[1], row[2])  # type: ignore[misc]
                for row in rows
            ]
        except TypeError:
            return [(self.decode(value), metadata, timestamp) for value, metadata, timestamp in rows]

    def _decode_with_callback(self, callback: Callback, value: bytes) -> bytes:
        """Ours where it verifies; then the callback; then what needs none, from before the callback was set."""
        ours: bytes | None = None
        problem: Error | None = None
        try:
            ours = decompress(value, max_size=self._max_size)
        except Error as error:  # perhaps not ours at all: other formats may begin like a tag
            problem = error
        if ours is not None and value[1:2] == b"\0" and value[0] >= 0x80:
            return ours
        try:
            return bytes(callback(value))
        except BaseException as error:
            # A panic of Rust code is derived from BaseException, under a name that cannot be imported.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            if problem is not None:
                raise problem from error
            if ours is not None and (ours is not value or is_update(ours)):
                return ours
            raise CorruptData(f"the decompress callback failed: {error!r}", "value", 0) from error
