"""Whether Jupyter's configuration can read what compressing makes."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from .errors import Refused
from .locate import Configuration, default_store, jupyter_configuration

__all__ = ["refuse_unreadable"]


def refuse_unreadable(file: Path, configuration: Configuration | None = None) -> None:
    """Refuse if Jupyter's configuration uses this file with a class that cannot read packed history.

    Args:
        file: the store.
        configuration: of Jupyter; the one of this environment if None.

    Raises:
        Refused: it does.
    """
    known = jupyter_configuration() if configuration is None else configuration
    if not _concerns(file, known):
        return
    name = _store_class(known)
    if name is not None:
        raise Refused(
            f"{file}: Jupyter's configuration opens it with {name}, which cannot read the result; "
            "run `jupyter ypress enable` first, or use --force if another server will open it"
        )


def _concerns(file: Path, known: Configuration) -> bool:
    """Whether the configuration may mean this file; a relative path there is relative to wherever a server starts."""
    named = default_store(known)
    if named.is_absolute():
        return os.path.realpath(named) == os.path.realpath(file)
    return named.name == file.name


def _store_class(known: Configuration) -> str | None:
    """The name of the configured class if it cannot read segments; None if it can, or if there is none."""
    chosen = known.store_class
    if chosen is None:
        try:
            importlib.import_module("jupyter_server_ydoc")
        except ImportError:
            return None
        return "the stock class jupyter_server_ydoc.stores.SQLiteYStore"
    if isinstance(chosen, str):
        module, _, name = chosen.rpartition(".")
        try:
            chosen = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError):
            # Jupyter falls back to the stock class for what cannot be imported.
            return f"{chosen} (which cannot be imported here)"
    from ..store import SQLiteYStore

    if isinstance(chosen, type) and issubclass(chosen, SQLiteYStore):
        return None
    return f"{getattr(chosen, '__module__', '')}.{getattr(chosen, '__qualname__', chosen)}"
