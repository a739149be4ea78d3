"""The ways of compressing a value that people compare: those of ypress, of the standard library, and what is installed.

Each is set up the way its documentation tells to for many small values, with contexts that are reused where the
library lets them be.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import ypress

__all__ = ["Codec", "available_codecs"]


@dataclass(frozen=True, slots=True)
class Codec:
    """A way of compressing single values."""

    name: str
    """the method, such as ``zstd``."""
    level: int | None
    """its level; None if it has none."""
    library: str
    """the package that does it."""
    compress: Callable[[bytes], Any]
    decompress: Callable[[Any], Any]


def available_codecs() -> list[Codec]:
    """The codecs that can be compared here, those of ypress first."""
    codecs = [*_ypress(), *_standard_library()]
    for library in (_zstandard, _backports_zstd, _lz4, _brotli, _cramjam, _numcodecs):
        try:
            codecs += library()
        except ImportError:
            continue
    return codecs


def _each(name: str, library: str, levels: Iterable[int], pair: Callable[[int], tuple[Any, Any]]) -> Iterator[Codec]:
    for level in levels:
        yield Codec(name, level, library, *pair(level))


def _ypress() -> Iterator[Codec]:
    yield from _each("zstd", "ypress", (-7, 1, 3, 9, 19), lambda level: ypress.callbacks("zstd", level))
    yield Codec("lz4", None, "ypress", *ypress.callbacks("lz4"))
    yield from _each("brotli", "ypress", (0, 4, 9, 11), lambda level: ypress.callbacks("brotli", level))


def _standard_library() -> Iterator[Codec]:
    for name, levels, keyword in (
        ("gzip", (1, 6, 9), "compresslevel"),
        ("zlib", (1, 6, 9), "level"),
        ("bz2", (1, 9), "compresslevel"),
        ("lzma", (0, 6), "preset"),
    ):
        try:
            module = importlib.import_module(name)
        except ImportError:  # a Python may be built without them
            continue
        for level in levels:
            yield Codec(name, level, "Python", _with(module.compress, **{keyword: level}), module.decompress)


def _with(function: Callable[..., Any], **keywords: int) -> Callable[[bytes], Any]:
    return lambda value: function(value, **keywords)


def _zstandard() -> Iterator[Codec]:
    module = importlib.import_module("zstandard")
    yield from _each(
        "zstd",
        "zstandard",
        (1, 3, 9, 19),
        lambda level: (module.ZstdCompressor(level=level).compress, module.ZstdDecompressor().decompress),
    )


def _backports_zstd() -> Iterator[Codec]:
    try:
        module, name = importlib.import_module("compression.zstd"), "Python"
    except ImportError:
        module, name = importlib.import_module("backports.zstd"), "backports"
    yield Codec("zstd", 3, name, _with(module.compress, level=3), module.decompress)


def _lz4() -> Iterator[Codec]:
    frame = importlib.import_module("lz4.frame")
    block = importlib.import_module("lz4.block")
    yield Codec("lz4 frame", None, "lz4", frame.compress, frame.decompress)
    yield Codec("lz4 block", None, "lz4", block.compress, block.decompress)


def _brotli() -> Iterator[Codec]:
    module = importlib.import_module("brotli")
    yield from _each(
        "brotli", "brotli", (0, 4, 9, 11), lambda level: (_with(module.compress, quality=level), module.decompress)
    )


def _cramjam() -> Iterator[Codec]:
    module = importlib.import_module("cramjam")
    # It returns a buffer of its own, which a store cannot keep: bytes are part of the price.
    pairs = (
        ("zstd", 3, module.zstd.compress, module.zstd.decompress),
        ("lz4 block", None, module.lz4.compress_block, module.lz4.decompress_block),
        ("brotli", 4, module.brotli.compress, module.brotli.decompress),
    )
    for name, level, compress, decompress in pairs:
        keywords = {} if level is None else {"level": level}
        yield Codec(name, level, "cramjam", _to_bytes(_with(compress, **keywords)), _to_bytes(decompress))


def _numcodecs() -> Iterator[Codec]:
    module = importlib.import_module("numcodecs")
    for name, level, codec in (
        ("zstd", 3, module.Zstd(level=3)),
        ("lz4 block", None, module.LZ4()),
        ("blosc lz4", 5, module.Blosc()),
    ):
        yield Codec(name, level, "numcodecs", _to_bytes(codec.encode), _to_bytes(codec.decode))


def _to_bytes(function: Callable[[Any], Any]) -> Callable[[Any], bytes]:
    return lambda value: bytes(function(value))
