"""``docs/benchmarks.md``, its plot, and the tables that other pages quote, made of the benches' results."""

from __future__ import annotations

from .page import make_page
from .quoting import quote
from .results import Results

__all__ = ["Results", "make_page", "quote"]
