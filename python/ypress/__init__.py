"""Compact, safe history for pycrdt stores and Jupyter real-time collaboration.

This module is the codec API. Importing it loads no pycrdt, traitlets, click or numpy. The store is ``ypress.store``.
"""

from __future__ import annotations

from ._native import (
    DEFAULT_MAX_SIZE,
    RowInfo,
    SegmentInfo,
    __version__,
    compress,
    decompress,
    pack,
    row_info,
    segment_info,
    unpack,
)
from .callbacks import callbacks, register
from .errors import CorruptData, Error, TooLarge, UnsupportedFormat

__all__ = [
    "DEFAULT_MAX_SIZE",
    "CorruptData",
    "Error",
    "RowInfo",
    "SegmentInfo",
    "TooLarge",
    "UnsupportedFormat",
    "__version__",
    "callbacks",
    "compress",
    "decompress",
    "pack",
    "register",
    "row_info",
    "segment_info",
    "unpack",
]
