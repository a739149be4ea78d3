"""What Jupyter's server will store history with, and whether everything fits together."""

from __future__ import annotations

import importlib.metadata
import os
import re
import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..sqlite.connection import MEMORY
from ..sqlite.summary import Summary, summarize
from ..words import counted
from .enabling import EXTENSION, STORE_CLASS
from .places import is_shown, network_file_system

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp
    from traitlets.config import Configurable

    from ..jupyter import SQLiteYStore

__all__ = ["Status", "status"]

_PACKAGES = ("ypress", "jupyter-collaboration", "jupyter-server-ydoc", "pycrdt-store", "pycrdt", "jupyter-server")
# The first release that is known not to fit, and why, is not known of any; these are the oldest that do.
_OLDEST = {"jupyter-server-ydoc": (2, 0), "pycrdt-store": (0, 1, 3)}


@dataclass(frozen=True)
class Status:
    """What was found.

    Args:
        versions: of the packages that matter; None for one that is not installed.
        configured: the store class that the configuration names; None if it names none.
        used: the class that a server started now would use, as a dotted path; None without jupyter-server-ydoc.
        enabled: whether that class is ours.
        files: the configuration files that were read, the most important last.
        codec: the codec in words.
        store: the file; None if it is not used.
        summary: what is in it; None if there is no such file, or it cannot be read.
        problems: what does not fit, in words that say what to do.
    """

    versions: dict[str, str | None]
    configured: str | None
    used: str | None
    enabled: bool
    files: tuple[str, ...]
    codec: str
    store: Path | None
    summary: Summary | None
    problems: tuple[str, ...]


def status() -> Status:
    """Read the configuration as a server that is started in this folder does, and look at what it leads to."""
    versions = {name: _version(name) for name in _PACKAGES}
    problems = _old_versions(versions)
    try:
        server, extension = _configured_server(problems)
    except ImportError as error:
        problems.append(f"jupyter-collaboration is not installed in this environment ({error}): install it here")
        return Status(versions, None, None, False, (), "", None, None, tuple(problems))
    configured = _dotted(extension.config.get("YDocExtension", {}).get("ystore_class"))
    used: type = extension.ystore_class  # type: ignore[attr-defined]
    files = tuple(reversed(server.loaded_config_files))
    enabled = _is_ours(used)
    _check_extensions(server, enabled, problems)
    if not enabled:
        problems.extend(_why_not_used(configured, used))
        file, summary = _of_others(used, extension)
        if summary is not None and summary.packed:
            problems.append(
                f"{summary.path} has {counted(summary.packed, 'packed update')} that {_dotted(used)} cannot read: run "
                "`jupyter ypress restore` to unpack them, or `jupyter ypress enable`"
            )
        return Status(versions, configured, _dotted(used), False, files, "", file, summary, tuple(problems))
    store = _make(used, extension, problems)
    if store is None:
        return Status(versions, configured, _dotted(used), True, files, "", None, None, tuple(problems))
    codec = store.compression or "no compression"
    if store.compression_level is not None:
        codec = f"{codec}, level {store.compression_level}"
    file = None if store.db_path == MEMORY else Path(store.db_path).absolute()
    summary = None if file is None else _look_at(file, server, store, problems)
    return Status(versions, configured, _dotted(used), True, files, codec, file, summary, tuple(problems))


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _old_versions(versions: dict[str, str | None]) -> list[str]:
    problems = []
    for package, oldest in _OLDEST.items():
        installed = versions[package]
        if installed is not None and tuple(map(int, re.findall(r"\d+", installed)[:3])) < oldest:
            needed = ".".join(map(str, oldest))
            problems.append(f"{package} {installed} is older than what ypress works with: install {needed} or newer")
    return problems


def _configured_server(problems: list[str]) -> tuple[ServerApp, Configurable]:
    """A server that is not started, and jupyter-server-ydoc's extension, configured as they would be."""
    from jupyter_server.serverapp import ServerApp
    from jupyter_server_ydoc.app import YDocExtension  # type: ignore[import-untyped]
    from traitlets.config import Application
    from traitlets.config.loader import ConfigFileNotFound

    server = ServerApp(log_level="CRITICAL")
    server.load_config_file()
    with suppress(ConfigFileNotFound):  # `jupyter lab` reads this as well
        Application.load_config_file(server, "jupyter_lab_config", path=server.config_file_paths)
    extension = YDocExtension(log_level="CRITICAL")
    try:
        # This is how the server does it, too; when it fails there, it goes on with the class's default.
        extension._link_jupyter_server_extension(server)
    except Exception as error:  # noqa: BLE001 - importing the configured class may raise anything
        problems.append(f"the configuration is not accepted, and the server goes on without it: {error}")
    return server, extension


def _check_extensions(server: ServerApp, enabled: bool, problems: list[str]) -> None:
    from jupyter_server.extension.config import ExtensionConfigManager

    manager = ExtensionConfigManager(read_config_path=server.config_file_paths)
    extensions: dict[str, bool] = dict(manager.get_jpserver_extensions())  # type: ignore[no-untyped-call]
    extensions.update(server.jpserver_extensions)
    if not extensions.get("jupyter_server_ydoc"):
        problems.append("jupyter-server-ydoc is not enabled: run `jupyter server extension enable jupyter_server_ydoc`")
    if enabled and not extensions.get(EXTENSION):
        problems.append(
            "the server extension ypress.jupyter is not enabled, so there are no metrics, and wrong options show only "
            "when the first document opens: run `jupyter ypress enable`"
        )


def _is_ours(used: type) -> bool:
    from ..jupyter import SQLiteYStore

    return issubclass(used, SQLiteYStore)


def _why_not_used(configured: str | None, used: type) -> list[str]:
    if configured is None:
        return ["ypress is not configured: run `jupyter ypress enable`"]
    if configured == STORE_CLASS:
        return [f"{STORE_CLASS} is configured, and the server uses {_dotted(used)} all the same"]
    return [f"another store class is configured: {configured}. `jupyter ypress enable` replaces it"]


def _of_others(used: type, extension: Configurable) -> tuple[Path | None, Summary | None]:
    """The file that another class uses, and what is in it, as far as that can be told."""
    try:
        name = used(path="", config=extension.config).db_path
        file = None if name == MEMORY else Path(name).absolute()
        return file, None if file is None else summarize(file)
    except Exception:  # noqa: BLE001 - another's class, and a file that may be anything
        return None, None


def _dotted(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, type):
        module = "ypress.jupyter" if value.__module__ == "ypress.jupyter.store" else value.__module__
        return f"{module}.{value.__qualname__}"
    return repr(value)


def _make(used: type, extension: Configurable, problems: list[str]) -> SQLiteYStore | None:
    from traitlets import TraitError

    try:
        store: SQLiteYStore = used(path="", config=extension.config)
    except TraitError as error:
        problems.append(f"an option is wrong, and the server will not start: {error}")
        return None
    return store


def _look_at(file: Path, server: ServerApp, store: SQLiteYStore, problems: list[str]) -> Summary | None:
    root = Path(server.root_dir)
    allow_hidden = bool(server.config.get("ContentsManager", {}).get("allow_hidden", False))
    if is_shown(file, root, allow_hidden=allow_hidden):
        problems.append(
            f"the store lies visibly in the folder {root} that the server shows. Its journal comes and goes there, "
            "which makes folder listings fail now and then: give it a name that begins with a dot, or another folder"
        )
    kind = network_file_system(file)
    if kind is not None:
        problems.append(
            f"the store lies on a network file system ({kind}), where SQLite's locks are not reliable: set "
            "SQLiteYStore.db_path to a local file"
        )
        if store.journal_mode == "wal":
            problems.append("journal_mode = 'wal' does not work on a network file system")
    place = file if file.exists() else next(parent for parent in file.parents if parent.exists())
    if not file.parent.exists():
        problems.append(
            f"the folder {file.parent} of the store is not there: the server will make it. If it is mistyped, correct "
            f"SQLiteYStore.db_path{', in which ~ does not stand for the home folder' if '~' in file.parts else ''}"
        )
    if not os.access(place, os.W_OK):
        problems.append(f"{place} cannot be written by this user")
    try:
        summary = summarize(file)
    except (sqlite3.Error, OSError) as error:
        problems.append(
            f"the store cannot be read: {error}. Run `jupyter ypress verify` on it, or move it away; until then, "
            "documents open from their files"
        )
        return None
    if summary is not None and summary.aside:
        problems.append(
            f"histories that could not be read were moved aside ({counted(summary.aside, 'document')}): "
            "`jupyter ypress verify` shows them"
        )
    return summary
