"""Writing and removing the configuration that makes Jupyter's server use ypress."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..callbacks import callbacks
from .errors import Refused

__all__ = ["EXTENSION", "STORE_CLASS", "Level", "Written", "disable", "enable"]

STORE_CLASS = "ypress.jupyter.SQLiteYStore"
EXTENSION = "ypress.jupyter"
_CONFIG = "jupyter_server_config.json"
_EXTENSIONS = "jupyter_server_config.d"
# A section of the extension's file: what was configured where `enable` wrote, for `disable` to put back.
_REPLACED = "YpressReplaced"
# Options that the stock class does not know, and would complain of.
_OURS = (
    *("compression", "compression_level", "compress", "decompress", "busy_timeout", "load_timeout", "journal_mode"),
    *("max_update_size", "pack_history", "pack_every", "pack_idle", "stop_timeout"),
)

Level = Literal["user", "sys-prefix", "system"]


@dataclass(frozen=True)
class Written:
    """What was done.

    Args:
        files: that were written or removed.
        replaced: another store class that was configured in this place, if there was one; `disable` restores it.
        left: the store class that is configured in this place afterwards, if it is another one.
    """

    files: tuple[Path, ...]
    replaced: str | None = None
    left: str | None = None


def enable(codec: str | None = "zstd", level: int | None = None, at: Level = "sys-prefix") -> Written:
    """Have Jupyter's server store history with ypress.

    Args:
        codec: ``"zstd"``, ``"lz4"``, ``"brotli"``, or None for no compression.
        level: the codec's level; None for its default.
        at: whose configuration is written: this user's, this environment's, or the whole system's.

    Raises:
        Refused: the codec or level does not exist, jupyter-collaboration is not installed, or the configuration that
            is there cannot be read.
        OSError: the configuration cannot be written.
    """
    try:
        callbacks(codec, level)
    except (ValueError, TypeError) as error:
        raise Refused(str(error)) from error
    _check_importable()
    folder = _folder(at)
    config = _read(folder / _CONFIG)
    section, options = _section(config, "YDocExtension"), _section(config, "SQLiteYStore")
    before = section.get("ystore_class")
    others = before is not None and not _names_us(section)
    replaced = _present(section, "ystore_class") | _present(options, "compression", "compression_level")
    if before == STORE_CLASS or not _names_us(section):
        section["ystore_class"] = STORE_CLASS
    options["compression"] = codec
    options["compression_level"] = level
    if level is None:
        del options["compression_level"]
    extension = folder / _EXTENSIONS / f"{EXTENSION}.json"
    extensions = _read(extension)
    _section(_section(extensions, "ServerApp"), "jpserver_extensions")[EXTENSION] = True
    if others:
        extensions[_REPLACED] = replaced
    _write(folder / _CONFIG, config)
    _write(extension, extensions)
    return Written((folder / _CONFIG, extension), str(before) if others else None)


def disable(at: Level = "sys-prefix") -> Written:
    """Have Jupyter's server store history as before: take away what `enable` wrote, and put back what it replaced.

    Options that the stock class has, such as ``db_path``, stay. What is stored is not changed: see `restore`.

    Args:
        at: whose configuration is changed.

    Raises:
        Refused: the configuration that is there cannot be read.
        OSError: it cannot be written.
    """
    folder = _folder(at)
    files = []
    config = _read(folder / _CONFIG)
    ours = _names_us(config.get("YDocExtension"))
    changed = ours and _drop(config, "YDocExtension", ["ystore_class"])
    changed |= _drop(config, "SQLiteYStore", list(_OURS))
    extension = folder / _EXTENSIONS / f"{EXTENSION}.json"
    if ours:
        _put_back(config, _replaced(extension))
    if changed:
        _write(folder / _CONFIG, config)
        files.append(folder / _CONFIG)
    if extension.exists():
        extension.unlink()
        files.append(extension)
    return Written(tuple(files), left=config.get("YDocExtension", {}).get("ystore_class"))


def _present(section: dict[str, Any], *options: str) -> dict[str, Any]:
    """Those of these options that a section sets."""
    return {option: section[option] for option in options if option in section}


def _replaced(extension: Path) -> dict[str, Any]:
    """What `enable` has noted of what it replaced."""
    try:
        noted = _read(extension).get(_REPLACED)
    except Refused:  # the file goes in any case
        return {}
    return noted if isinstance(noted, dict) else {}


def _put_back(config: dict[str, Any], replaced: dict[str, Any]) -> None:
    for option, value in replaced.items():
        _section(config, "YDocExtension" if option == "ystore_class" else "SQLiteYStore")[option] = value


def _names_us(section: object) -> bool:
    """Whether a section names our class, also where that cannot be imported any more."""
    named = section.get("ystore_class") if isinstance(section, dict) else None
    return isinstance(named, str) and (named == STORE_CLASS or _is_ours(named))


def _check_importable() -> None:
    try:
        import ypress.jupyter  # noqa: F401
    except ImportError as error:
        raise Refused(
            f"{STORE_CLASS} cannot be imported here: {error}. Install jupyter-collaboration in the environment of the "
            "Jupyter server, and run this there"
        ) from error


def _is_ours(dotted: str) -> bool:
    """Whether a dotted path leads to our class or a subclass of it."""
    from traitlets.utils.importstring import import_item

    try:
        from ..jupyter import SQLiteYStore

        found = import_item(dotted)
    except Exception:  # noqa: BLE001 - importing runs what it likes
        return False
    return isinstance(found, type) and issubclass(found, SQLiteYStore)


def _folder(at: Level) -> Path:
    try:
        from jupyter_core.paths import ENV_CONFIG_PATH, SYSTEM_CONFIG_PATH, jupyter_config_dir
    except ImportError as error:
        raise Refused("Jupyter is not installed in this environment") from error
    if at == "user":
        return Path(jupyter_config_dir())
    return Path((ENV_CONFIG_PATH if at == "sys-prefix" else SYSTEM_CONFIG_PATH)[0])


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise Refused(f"{file} is no JSON: {error}. Correct it first; nothing was changed") from error
    if not isinstance(content, dict):
        raise Refused(f"{file} has no configuration in it. Correct it first; nothing was changed")
    return content


def _section(config: dict[str, Any], name: str) -> dict[str, Any]:
    section = config.setdefault(name, {})
    if not isinstance(section, dict):
        raise Refused(f"{name} in Jupyter's configuration is no section. Correct it first; nothing was changed")
    return section


def _drop(config: dict[str, Any], name: str, options: list[str]) -> bool:
    """Take options out of a section, and the section if nothing is left. Returns whether there were any."""
    section = config.get(name)
    if not isinstance(section, dict):
        return False
    found = [option for option in options if option in section]
    for option in found:
        del section[option]
    if found and not section:
        del config[name]
    return bool(found)


def _write(file: Path, content: dict[str, Any]) -> None:
    """Write a file as a whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    # Where it is a link, what it leads to is replaced.
    file = Path(os.path.realpath(file))
    handle, new = tempfile.mkstemp(prefix=f"{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(content, stream, indent=2)
            stream.write("\n")
        # A temporary file is private; a configuration has the permissions that others of its kind have.
        os.chmod(new, file.stat().st_mode & 0o777 if file.exists() else 0o666 & ~_umask())
        os.replace(new, file)
    except BaseException:
        os.unlink(new)
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
