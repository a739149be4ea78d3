"""ypress in Jupyter: the store class for jupyter-collaboration, and the server extension that looks after it.

``jupyter ypress enable`` sets both up. By hand, in ``jupyter_server_config.py``::

    c.YDocExtension.ystore_class = "ypress.jupyter.SQLiteYStore"
    c.SQLiteYStore.compression = "zstd"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .store import SQLiteYStore

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

__all__ = ["SQLiteYStore"]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """What Jupyter Server asks an extension for."""
    return [{"module": "ypress.jupyter"}]


def _load_jupyter_server_extension(server: ServerApp) -> None:
    """Called by Jupyter Server at its start."""
    from .extension import load

    load(server)
