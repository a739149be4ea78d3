"""A pytest plugin for the tests of jupyter-server-ydoc: puts our store class in place of theirs.

YPRESS_SUBSTITUTE is ``stock`` (change nothing), ``none`` or ``zstd`` (the compression of ypress.jupyter.SQLiteYStore).
"""

from __future__ import annotations

import os
import sys

import jupyter_server_ydoc.app
import jupyter_server_ydoc.stores


def _substitute() -> type:
    which = os.environ["YPRESS_SUBSTITUTE"]
    if which == "stock":
        return jupyter_server_ydoc.stores.SQLiteYStore
    from traitlets import Enum

    from ypress.jupyter import SQLiteYStore
    from ypress.jupyter.store import CODECS

    default = None if which == "none" else which
    traits = {"compression": Enum(CODECS, default_value=default, allow_none=True).tag(config=True)}
    ours = type("SQLiteYStore", (SQLiteYStore,), traits)
    # What the application, and the fixtures of the tests, take as it is.
    jupyter_server_ydoc.stores.SQLiteYStore = ours
    jupyter_server_ydoc.app.SQLiteYStore = ours
    jupyter_server_ydoc.app.YDocExtension.ystore_class.default_value = ours
    fixtures = sys.modules.get("jupyter_server_ydoc.pytest_plugin")
    if fixtures is not None:
        fixtures.SQLiteYStore = ours
    return ours


_CLASS = _substitute()


def pytest_report_header() -> str:
    return f"class under test: {_CLASS.__mro__[:2]}"


def pytest_collection_finish(session) -> None:
    """Fail if anything got hold of the stock class all the same."""
    modules = {item.module for item in session.items} | {sys.modules["jupyter_server_ydoc.pytest_plugin"]}
    for module in modules:
        used = getattr(module, "SQLiteYStore", _CLASS)
        if used is not _CLASS:
            raise AssertionError(f"{module.__name__} uses {used!r}, not the class under test")
    assert jupyter_server_ydoc.app.YDocExtension().ystore_class is _CLASS
