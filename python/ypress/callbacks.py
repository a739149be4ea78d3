"""The codec API in the shape that pycrdt-store wants it."""

from __future__ import annotations

from ._native import Compressor, decompress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    _Callback = Callable[[bytes], bytes]

__all__ = ["callbacks", "register"]

# The releases of pycrdt-store that write through the compress callback but do not call decompress everywhere.
_CANNOT_LOAD = ((0, 1, 1), (0, 1, 5))
_warned: set[type] = set()


def callbacks(codec: str | None = "zstd", level: int | None = None) -> tuple[_Callback, _Callback] | tuple[None, None]:
    """The pair ``(compress, decompress)`` of a codec and level, for ``register_compression_callbacks``.

    Args:
        codec: ``"zstd"``, ``"lz4"``, ``"brotli"``, or None for no compression.
        level: as for `ypress.compress`.

    Returns:
        Two callables that take and return ``bytes``, and that pickle; ``(None, None)`` for None.

    Raises:
        ValueError: no such codec, a level outside of its range, or a level without a codec.
        TypeError: codec or level is of the wrong type.
    """
    if codec is None:
        if level is not None:
            raise ValueError(f"level {level} has no codec to apply to; name one, or leave out the level")
        return None, None
    return Compressor(codec, level), decompress


def register(store: Any, codec: str | None = "zstd", level: int | None = None) -> None:
    """Register ypress as the compression of a pycrdt store.

    Args:
        store: a store with ``register_compression_callbacks``, such as ``pycrdt.store.SQLiteYStore``.
        codec: as for `callbacks`; with None nothing is registered.
        level: as for `ypress.compress`.

    Raises:
        TypeError: the store cannot compress.
        ValueError: as for `callbacks`.

    Warns:
        RuntimeWarning: the installed pycrdt-store writes compressed rows that it cannot load again.
    """
    pair = callbacks(codec, level)
    if pair[0] is None:
        return
    if not callable(getattr(store, "register_compression_callbacks", None)):
        raise TypeError(
            f"{type(store).__qualname__} has no register_compression_callbacks, so it cannot compress; "
            "use pycrdt.store.SQLiteYStore of pycrdt-store 0.1.1 or newer, or ypress.store.SQLiteYStore"
        )
    _warn_if_unreadable(store)
    store.register_compression_callbacks(*pair)


def _warn_if_unreadable(store: object) -> None:
    """Warn where the class that will read is the stock one, in a release that does not decompress all it reads."""
    import importlib.metadata
    import re
    import warnings

    kind = type(store)
    # A subclass that replaces both ways of reading does not inherit their faults.
    readers = [getattr(kind, name, None) for name in ("read", "apply_updates")]
    if kind in _warned or all(
        str(getattr(reader, "__module__", "")).split(".")[:2] != ["pycrdt", "store"] for reader in readers
    ):
        return
    try:
        installed = importlib.metadata.version("pycrdt-store")
    except importlib.metadata.PackageNotFoundError:
        return
    version = tuple(int(number) for number in re.findall(r"\d+", installed)[:3])
    if not _CANNOT_LOAD[0] <= version <= _CANNOT_LOAD[1]:
        return
    # Remembered here, because a process with filters of its own would otherwise hear it for every room. A filter that
    # turns the warning into an error refuses every registration.
    warnings.warn(
        f"pycrdt-store {installed} does not decompress everything that it loads: documents which {kind.__qualname__} "
        "writes compressed may fail to load, or load in part. Use ypress.store.SQLiteYStore in its place (it reads "
        "the same file), or register no compression.",
        RuntimeWarning,
        stacklevel=3,
    )
    _warned.add(kind)
