"""Where this version of ypress packs histories: the functions that do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import ypress

Entry = tuple[bytes, bytes | None, float]
Packing = tuple[Callable[[Sequence[Entry]], bytes], Callable[[bytes], Iterator[Entry] | Iterable[Entry]]]


def packing() -> Packing | None:
    """The pair (pack, unpack), or None in a version without."""
    functions: Any = ypress
    pack, unpack = getattr(functions, "pack", None), getattr(functions, "unpack", None)
    return None if pack is None or unpack is None else (pack, unpack)
