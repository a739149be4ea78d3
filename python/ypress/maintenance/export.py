"""Documents out of a store: as they are, as they were, or all of them with their history."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from pycrdt import Array, Doc, Text

from .._native import pack
from ..errors import Error
from ..sqlite.history import Record
from ..sqlite.replay import apply
from ..sqlite.rewriting import documents
from ..sqlite.values import Values
from .errors import Refused, Stopped
from .history import read_history, records
from .locate import Names, file_id
from .opening import opened

__all__ = ["Exported", "export_all", "export_document"]

# Of one file in the archive.
_UPDATES = 32_768
_BYTES = 16 << 20


@dataclass(frozen=True)
class Exported:
    """A document's content.

    Args:
        content: a notebook as JSON, or text; as it is written into a file.
        extension: ``".ipynb"`` or ``".txt"``.
        updates: how many it was made of.
        last: time of the last of them; None without any.
    """

    content: bytes
    extension: str
    updates: int
    last: float | None


def export_document(
    file: str | PathLike[str], path: str, *, at: float | None = None, values: Values | None = None
) -> Exported:
    """A document as it is, or as it was.

    Args:
        file: the store.
        path: the document's path key.
        at: seconds since the epoch; later updates are left out.
        values: how values are read.

    Raises:
        Refused: there was nothing at that time, or the document is of a kind that cannot be written as a file.
        DamagedHistory: a value cannot be read.
    """
    return _content(read_history(file, path, values), path, at)


def _content(history: Iterable[Record], path: str, at: float | None = None) -> Exported:
    doc: Doc[Any] = Doc()
    count, last = 0, None
    for update, _, timestamp in history:
        if at is not None and timestamp > at:
            continue
        apply(doc, update)
        count += 1
        last = timestamp
    if not count:
        raise Refused(f"document {path}: nothing was written before that time; `history` lists when it was edited")
    return Exported(*_written(doc, path), count, last)


def _written(doc: Doc[Any], path: str) -> tuple[bytes, str]:
    if (
        "notebook" in path.split(":", maxsplit=1)[0].rsplit(":", maxsplit=1)[-1]
        or ":notebook:" in path
        or _has(doc, "cells")
    ):
        return _notebook(doc), ".ipynb"
    if _has(doc, "source"):
        return str(doc.get("source", type=Text)).encode("utf-8", "surrogatepass"), ".txt"
    roots = ", ".join(sorted(map(str, doc.keys()))) or "none"
    raise Refused(f"document {path}: neither a notebook nor text (its parts: {roots}); only these can be exported")


def _has(doc: Doc[Any], root: str) -> bool:
    return root in list(doc.keys())


def _notebook(doc: Doc[Any]) -> bytes:
    try:
        from jupyter_ydoc import YNotebook
    except ImportError as error:
        raise Refused("writing notebooks needs jupyter-ydoc: pip install jupyter-ydoc") from error
    doc.get("cells", type=Array)
    source = YNotebook(doc).get()
    return (json.dumps(source, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def export_all(
    file: str | PathLike[str],
    output: str | PathLike[str],
    *,
    names: Names | None = None,
    values: Values | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Write every document and its history into a ZIP archive.

    For each document ``NNNN/`` has its content as a file, and its history as segments that `ypress.unpack` reads.
    ``index.json`` says which document that is. Segments are stored as they are, since they are compressed.

    Args:
        file: the store.
        output: the archive; written under another name first.
        names: the names of documents.
        values: how values are read.
        progress: told how many of how many documents are done.

    Returns:
        The content of ``index.json``.

    Raises:
        Refused: it is not a store, or the archive cannot be written.
        Stopped: the archive could not be finished.
    """
    known, reading = Names() if names is None else names, values or Values()
    target = Path(output)
    part = target.with_name(f"{target.name}.part")
    index: dict[str, Any] = {"format": "ypress history 1", "documents": []}
    try:
        with (
            opened(file) as (connection, _),
            zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        ):
            paths = list(documents(connection))
            for number, path in enumerate(paths):
                entry = _Archived(archive, f"{number:04}", path, known.name(path))
                entry.write(_parts(records(connection, path, reading)))
                index["documents"].append(entry.index)
                progress(number + 1, len(paths))
            archive.writestr("index.json", json.dumps(index, indent=1))
        part.replace(target)
    except OSError as error:
        raise Stopped(f"{target}: {error.strerror or error}; the archive was not written") from error
    finally:
        part.unlink(missing_ok=True)
    return index


def _parts(history: Iterable[Record]) -> Iterable[list[Record] | Error]:
    """A history in parts that become one segment each; at the end, what stopped it if it cannot be read."""
    part: list[Record] = []
    size = 0
    try:
        for record in history:
            part.append(record)
            size += len(record[0])
            if len(part) >= _UPDATES or size >= _BYTES:
                yield part
                part, size = [], 0
    except Error as error:
        yield part
        yield error
        return
    yield part


class _Archived:
    """A document in an archive."""

    def __init__(self, archive: zipfile.ZipFile, folder: str, path: str, name: str | None) -> None:
        self._archive = archive
        self._folder = folder
        self._path = path
        self.index: dict[str, Any] = {"folder": folder, "path": path, "name": name, "updates": 0, "segments": 0}

    def write(self, parts: Iterable[list[Record] | Error]) -> None:
        """Write the history, and the content that it leads to."""
        doc: Doc[Any] = Doc()
        for part in parts:
            if isinstance(part, Error):
                self.index["damage"] = str(part)
                break
            if not part:
                continue
            name = f"{self._folder}/{self.index['segments']:04}.segment"
            self._archive.writestr(zipfile.ZipInfo(name), pack(part, level=1))
            self.index["segments"] += 1
            self.index["updates"] += len(part)
            self.index.setdefault("first", part[0][2])
            self.index["last"] = part[-1][2]
            self._apply(doc, part)
        try:
            content, extension = _written(doc, self._path)
        except Error as error:
            self.index["content"] = None
            self.index.setdefault("damage", str(error))
            return
        stem = Path(self.index["name"] or file_id(self._path)).name or "document"
        safe = "".join(c if c.isalnum() or c in " ._-" else "_" for c in stem)[:80]
        name = f"{self._folder}/{safe}{'' if safe.endswith(extension) or '.' in safe else extension}"
        self.index["content"] = name
        self._archive.writestr(name, content)

    def _apply(self, doc: Doc[Any], part: list[Record]) -> None:
        for update, _, _ in part:
            try:
                apply(doc, update)
            except Error as error:
                self.index.setdefault("damage", str(error))
