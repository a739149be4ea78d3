"""A pytest plugin for the tests of pycrdt-store: puts the class to be tested in place of theirs.

It is loaded before their test module, whose own class then derives from ours. The environment says what to put there:
YPRESS_SUBSTITUTE is ``stock`` (change nothing), ``none`` or ``zstd`` (the compression of ypress.store.SQLiteYStore).
"""

from __future__ import annotations

import os

import pycrdt.store


def _substitute() -> str:
    which = os.environ["YPRESS_SUBSTITUTE"]
    if which == "stock":
        return "pycrdt.store.SQLiteYStore"
    from ypress.store import SQLiteYStore

    compression = None if which == "none" else which
    ours = type("SQLiteYStore", (SQLiteYStore,), {"compression": compression})
    pycrdt.store.SQLiteYStore = ours
    return f"ypress.store.SQLiteYStore with compression = {compression!r}"


_CLASS = _substitute()


def pytest_report_header() -> str:
    return f"class under test: {_CLASS}"


def pytest_collection_finish(session) -> None:
    """Fail if their module got hold of the stock class all the same."""
    for module in {item.module for item in session.items}:
        used = getattr(module, "SQLiteYStore", None)
        if used is not None and used is not pycrdt.store.SQLiteYStore:
            raise AssertionError(f"{module.__name__} uses {used!r}, not the class under test")
