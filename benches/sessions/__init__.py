"""Editing sessions, replayed through pycrdt and jupyter-ydoc, as the rows a pycrdt store would hold.

The same seed and sizes give the same rows on every run and machine, so benches and tests need no stored data.
``python -m sessions`` (run from ``benches``) writes the three kinds as SQLite files.
"""

from __future__ import annotations

from .keystrokes import keystrokes
from .notebooks import notebooks
from .room import Row
from .stock import read_stock_rows, write_stock_store
from .streams import streams

KINDS = {"keystrokes": keystrokes, "notebooks": notebooks, "streams": streams}

__all__ = ["KINDS", "Row", "keystrokes", "notebooks", "read_stock_rows", "streams", "write_stock_store"]
