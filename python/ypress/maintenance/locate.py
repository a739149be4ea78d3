"""Where things are: the store that Jupyter uses, and the names of documents."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..sqlite.file_ids import read_file_ids
from .errors import Refused

__all__ = ["DEFAULT_STORE", "Configuration", "Names", "default_store", "jupyter_configuration"]

DEFAULT_STORE = ".jupyter_ystore.db"


@dataclass(frozen=True)
class Configuration:
    """What Jupyter's configuration says of stores.

    Args:
        store_class: the class, or its dotted path, if it names one.
        db_path: the file, if it names one.
    """

    store_class: object = None
    db_path: str | None = None


def jupyter_configuration() -> Configuration:
    """Read Jupyter's configuration as its server does, if Jupyter is installed here."""
    try:
        from jupyter_core.paths import jupyter_config_path
        from traitlets.config.loader import Config, ConfigFileNotFound, JSONFileConfigLoader, PyFileConfigLoader
    except ImportError:
        return Configuration()
    merged: Any = Config()
    for folder in reversed([os.getcwd(), *jupyter_config_path()]):
        for name in ("jupyter_config", "jupyter_server_config"):
            for kind, extension in ((PyFileConfigLoader, "py"), (JSONFileConfigLoader, "json")):
                try:
                    merged.merge(kind(f"{name}.{extension}", path=folder).load_config())
                except ConfigFileNotFound:
                    continue
                except Exception as error:  # a configuration is a program, and may fail in any way
                    raise Refused(
                        f"Jupyter's configuration {os.path.join(folder, name)}.{extension} fails: {error}; "
                        "correct it, or name the store"
                    ) from error
    store_class = merged.get("YDocExtension", {}).get("ystore_class")
    db_path = merged.get("SQLiteYStore", {}).get("db_path")
    return Configuration(store_class, db_path if isinstance(db_path, str) else None)


def default_store(configuration: Configuration | None = None) -> Path:
    """The store that Jupyter's configuration names, else the one in this folder."""
    known = jupyter_configuration() if configuration is None else configuration
    return Path(known.db_path or DEFAULT_STORE)


class Names:
    """The names of documents, from the database of jupyter_server_fileid where there is one.

    Args:
        database: that database; None for its usual place.
    """

    def __init__(self, database: Path | None = None) -> None:
        self._names: dict[str, str] = {}
        place = _file_id_database() if database is None else database
        try:
            if place is not None and place.is_file():
                self._names = read_file_ids(place)
        except (OSError, sqlite3.Error):  # names are a help; without them the path keys do
            self._names = {}

    def name(self, path: str) -> str | None:
        """The name of the document with this path key; None if it is not known."""
        return self._names.get(file_id(path))

    def find(self, wanted: str, paths: Iterable[str]) -> str:
        """The path key that is meant by a name, a path key, a file id, or the beginning of one.

        Raises:
            Refused: there is none, or several; the message lists them.
        """
        known = list(paths)
        for same in (self._exactly, self._beginning):
            found = [path for path in known if same(wanted, path)]
            if len(found) == 1:
                return found[0]
            if found:
                listed = "; ".join(f"{path} ({self.name(path)})" if self.name(path) else path for path in found[:8])
                more = f"; and {len(found) - 8} more" if len(found) > 8 else ""
                raise Refused(f"{wanted!r} may be one of {len(found)} documents: {listed}{more}. Write more of it")
        raise Refused(f"no document {wanted!r} in the store; `jupyter ypress info` lists them")

    def _forms(self, path: str) -> list[str]:
        identity = file_id(path)
        name = self.name(path)
        forms = [path, path.removesuffix(".y"), identity]
        if name is not None:
            forms += [name, name.rpartition("/")[2]]
        return forms

    def _exactly(self, wanted: str, path: str) -> bool:
        return wanted in self._forms(path)

    def _beginning(self, wanted: str, path: str) -> bool:
        return bool(wanted) and any(form.startswith(wanted) for form in self._forms(path))


def file_id(path: str) -> str:
    """The file id (or name) in a path key such as ``.notebook:<id>.y`` or ``json:notebook:<id>``."""
    return path.rpartition(":")[2].removesuffix(".y")


def _file_id_database() -> Path | None:
    try:
        from jupyter_core.paths import jupyter_data_dir
    except ImportError:
        return None
    return Path(jupyter_data_dir()) / "file_id_manager.db"
