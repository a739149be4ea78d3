"""Reading values that other programs compressed, named as people name them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ..sqlite.values import Callback, Values, resolve_callback
from .errors import Refused

__all__ = ["WAS", "reader", "values_for"]

# Module and function by name; those of the standard library are always there, the others if installed.
_CODECS = {
    "zlib": "zlib.decompress",
    "gzip": "gzip.decompress",
    "bz2": "bz2.decompress",
    "lzma": "lzma.decompress",
    "brotli": "brotli.decompress",
    "lz4": "lz4.frame.decompress",
    "lz4-block": "lz4.block.decompress",
    "zstd": "zstandard.decompress",
}
WAS = tuple(_CODECS)


def reader(was: str) -> Callback:
    """What decompresses values that were written by another program.

    Args:
        was: one of `WAS`; ``"numcodecs:<id>"`` such as ``numcodecs:blosc``; or the dotted path of a function from
            bytes to bytes, or of a class with a method ``decode``.

    Raises:
        Refused: there is no such thing here.
    """
    if was.startswith("numcodecs:"):
        return _numcodecs(was.partition(":")[2])
    dotted = _CODECS.get(was, was)
    if was in ("brotli", "zstd", "lz4"):
        return _with_ours(was, dotted)
    try:
        found: Any = resolve_callback("--was", dotted)
    except (ValueError, TypeError) as error:
        names = ", ".join(WAS)
        raise Refused(f"{error}; name one of {names}, numcodecs:<id>, or the dotted path of a function") from error
    if isinstance(found, type) and hasattr(found, "decode"):
        found = found().decode
    return _to_bytes(found)


def _with_ours(name: str, dotted: str) -> Callback:
    module, _, function = dotted.rpartition(".")
    try:
        return _to_bytes(getattr(importlib.import_module(module), function))
    except ImportError as error:
        if name != "brotli":  # ypress reads the frames of zstd and LZ4 itself
            from .._native import decompress

            return decompress
        raise Refused("reading brotli values without a tag needs the package brotli: pip install brotli") from error


def _numcodecs(identity: str) -> Callback:
    try:
        registry = importlib.import_module("numcodecs.registry")
    except ImportError as error:
        raise Refused("reading values of numcodecs needs the package: pip install numcodecs") from error
    try:
        codec = registry.get_codec({"id": identity})
    except (ValueError, TypeError) as error:
        raise Refused(f"numcodecs has no codec {identity!r}: {error}") from error
    return _to_bytes(codec.decode)


def _to_bytes(function: Callable[[bytes], Any]) -> Callback:
    def decompress(value: bytes) -> bytes:
        return bytes(function(value))

    return decompress


def values_for(codec: str | None, level: int | None, was: str | None) -> Values:
    """How values are written and read.

    Args:
        codec: ``"zstd"``, ``"lz4"``, ``"brotli"``, or None to write them as they are.
        level: of the codec.
        was: what wrote values that say nothing of themselves; see `reader`.

    Raises:
        Refused: one of them is not possible.
    """
    try:
        return Values(compression=codec, level=level, decompress=None if was is None else reader(was))
    except ValueError as error:
        raise Refused(str(error)) from error
