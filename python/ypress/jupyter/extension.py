"""What is done when the server starts: look at the configuration, say what is used, and publish metrics."""

from __future__ import annotations

import sqlite3
import threading
from logging import Logger
from pathlib import Path

from jupyter_server.serverapp import ServerApp
from traitlets import TraitError

from ..sqlite.connection import MEMORY
from ..sqlite.summary import summarize
from ..words import counted
from . import metrics
from .running import collaboration
from .store import SQLiteYStore

__all__ = ["load"]


def load(server: ServerApp) -> None:
    """Check that the server uses this package's store as it is configured, and log one line about it.

    Wrong options end the server, as other wrong configuration does.

    Args:
        server: with its other extensions loaded.
    """
    extension = collaboration(server)
    if extension is None:
        server.log.warning(
            "ypress | jupyter-server-ydoc is not enabled in this server, so there is no history to store. "
            "Install jupyter-collaboration, or run `jupyter ypress disable`"
        )
        return
    used = extension.ystore_class  # type: ignore[attr-defined]
    if not issubclass(used, SQLiteYStore):
        wanted = extension.config.YDocExtension.get("ystore_class", "nothing")
        server.log.error(
            "ypress | the server stores history with %s.%s and not with ypress; configured is %s. "
            "Run `jupyter ypress status` to see why, or `jupyter ypress disable` if that is meant",
            used.__module__,
            used.__qualname__,
            wanted,
        )
        return
    try:
        store = used(path="", config=extension.config, log=server.log)
    except TraitError as error:
        server.log.critical("ypress | wrong configuration: %s", error)
        server.exit(1)
        return
    metrics.install()
    # Counting the rows of a large file takes a while, and nothing waits for it.
    threading.Thread(target=_log_summary, args=(store, server.log), name="ypress-summary", daemon=True).start()


def _log_summary(store: SQLiteYStore, log: Logger) -> None:
    codec = store.compression or "no compression"
    if store.compression_level is not None:
        codec = f"{codec} {store.compression_level}"
    if store.db_path == MEMORY:
        log.info("ypress | history is stored in memory, %s", codec)
        return
    try:
        found = summarize(store.db_path)
    except (sqlite3.Error, OSError) as error:
        log.error(
            "ypress | the store %s cannot be read: %s. Documents will open from their files. "
            "Run `jupyter ypress verify` on it, or move it away",
            store.db_path,
            error,
        )
        return
    if found is None:
        new = "new" if Path(store.db_path).absolute().parent.is_dir() else "new, in a folder that will be made"
        log.info("ypress | history is stored in %s (%s), %s", store.db_path, new, codec)
        return
    log.info(
        "ypress | history is stored in %s (%.1f MB), %s; %s, %s, %.0f %% of them packed",
        found.path, found.size / 1e6, codec, counted(found.documents, "document"), counted(found.updates, "update"),
        100 * found.packed_share,
    )  # fmt: skip
    if found.aside:
        log.warning(
            "ypress | histories that could not be read were moved aside (%s); "
            "run `jupyter ypress verify` on the store to see them",
            counted(found.aside, "document"),
        )
