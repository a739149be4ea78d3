"""What a store file holds, read without a server."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import anyio
from jupyter_ydoc import YUnicode
from pycrdt import Doc

import ypress.store


def key(session: dict[str, str]) -> str:
    """A document's path key in the store."""
    return f".{session['type']}:{session['fileId']}.y"


def history(file: Path, path: str) -> list[tuple[bytes, bytes | None, float]]:
    """All records of a document."""

    class Store(ypress.store.SQLiteYStore):
        db_path = str(file)

    async def read() -> list[tuple[bytes, bytes | None, float]]:
        async with Store(path) as store:
            return [record async for record in store.read()]

    with ThreadPoolExecutor(1) as thread:  # the caller's may have an event loop already
        return thread.submit(anyio.run, read).result()


def updates(file: Path, path: str) -> list[bytes]:
    """All updates of a document."""
    return [update for update, _, _ in history(file, path)]


def text(file: Path, path: str) -> str:
    """The text that a text document's history amounts to."""
    doc: Doc = Doc()
    for update in updates(file, path):
        doc.apply_update(update)
    content: str = YUnicode(doc).get()
    return content


def count(file: Path, query: str) -> int:
    """The number that a query gives."""
    with closing(sqlite3.connect(file)) as connection:
        number: int = connection.execute(query).fetchone()[0]
        return number
