"""The libraries that the row codec is compared with, as far as they are installed."""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import sys
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import ypress

Call = Callable[[bytes], Any]
Pair = tuple[Call, Call]

# What methods without a codec of ours are compared with.
OTHERS = "others, against ypress zstd"


def peers() -> dict[str, dict[str, Pair]]:
    """Pairs of compress and decompress, by method and name; ``ypress`` is in each."""
    found: dict[str, dict[str, Pair]] = {}
    for codec, level in (("zstd", 3), ("lz4", None), ("brotli", 4)):
        compress, decompress = ypress.callbacks(codec, level)
        assert compress is not None
        assert decompress is not None
        found[codec] = {"ypress": (compress, decompress)}
    found[OTHERS] = dict(found["zstd"])

    def add(codec: str, name: str, module: str, make: Callable[[Any], Pair]) -> None:
        try:
            found[codec][name] = make(importlib.import_module(module))
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)

    add("zstd", "zstandard", "zstandard", lambda m: (m.compress, m.decompress))
    add("zstd", "zstandard (kept)", "zstandard", _kept_zstandard)
    add("zstd", "backports.zstd", "backports.zstd", lambda m: (partial(m.compress, level=3), m.decompress))
    add("zstd", "cramjam", "cramjam", lambda m: (partial(m.zstd.compress, level=3), m.zstd.decompress))
    add("zstd", "numcodecs", "numcodecs.zstd", lambda m: (m.Zstd(level=3).encode, m.Zstd().decode))
    add("lz4", "lz4.block", "lz4.block", lambda m: (m.compress, m.decompress))
    add("lz4", "lz4.frame", "lz4.frame", lambda m: (m.compress, m.decompress))
    add("lz4", "numcodecs", "numcodecs.lz4", lambda m: (m.LZ4().encode, m.LZ4().decode))
    add("lz4", "cramjam", "cramjam", lambda m: (m.lz4.compress_block, m.lz4.decompress_block))
    add("brotli", "brotli", "brotli", lambda m: (partial(m.compress, quality=4), m.decompress))
    add("brotli", "cramjam", "cramjam", lambda m: (partial(m.brotli.compress, level=4), m.brotli.decompress))
    add(OTHERS, "Blosc zstd", "numcodecs.blosc", lambda m: _encoder(m.Blosc(cname="zstd", clevel=3)))
    add(OTHERS, "Blosc lz4", "numcodecs.blosc", lambda m: _encoder(m.Blosc(cname="lz4", clevel=5)))
    found[OTHERS] |= {
        "zlib": (zlib.compress, zlib.decompress),
        "gzip": (gzip.compress, gzip.decompress),
        "bz2": (bz2.compress, bz2.decompress),
        "lzma": (lzma.compress, lzma.decompress),
    }
    return found


def _kept_zstandard(module: Any) -> Pair:
    return module.ZstdCompressor(level=3).compress, module.ZstdDecompressor().decompress


def _encoder(codec: Any) -> Pair:
    return codec.encode, codec.decode
