"""Stores, histories and other processes for the tests of the store."""

from __future__ import annotations

import importlib.metadata
import logging
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import pycrdt
import pycrdt.store
import pytest

import ypress.store
from ypress.sqlite import database

Stock = pycrdt.store.SQLiteYStore
Ours = ypress.store.SQLiteYStore
Doc = pycrdt.Doc[Any]

STOCK_VERSION = importlib.metadata.version("pycrdt-store")


def stock_fails(reason: str, base: str = "base", *, always: bool = True) -> pytest.MarkDecorator:
    """Run a test with our class and, where it has to fail, with the stock class of pycrdt-store 0.1.5.

    A fault that is a race shows nearly every time, but not `always`.
    """
    marks = [pytest.mark.xfail(strict=always, reason=reason)]
    if STOCK_VERSION != "0.1.5":
        marks.append(pytest.mark.skip(reason=f"the fault was found in 0.1.5, not in {STOCK_VERSION}"))
    return pytest.mark.parametrize(
        base, [pytest.param(Ours, id="ypress"), pytest.param(Stock, id="stock", marks=marks)]
    )


def make(
    db: object, path: str = "doc", base: type[Stock] = Ours, *, metadata: Any = None, log: Any = None, **options: Any
) -> Any:
    """A store of a subclass with these options."""
    if base is Ours:
        options.setdefault("busy_timeout", 0.2)
        options.setdefault("stop_timeout", 20.0)
    cls = type("Store", (base,), {"db_path": db if db == ":memory:" else str(db), **options})
    return cls(path, metadata_callback=metadata, log=log)


def typed(count: int, client: int = 1, word: str = "abcdefghij", size: int = 1) -> list[bytes]:
    """The updates of a text that is typed letter by letter, each of them `size` times."""
    doc: Doc = pycrdt.Doc(client_id=client)
    updates: list[bytes] = []
    doc.observe(lambda event: updates.append(event.update))
    text = doc.get("text", type=pycrdt.Text)
    for number in range(count):
        text += word[number % len(word)] * size
    return updates


def content(doc_or_updates: Doc | Iterable[bytes]) -> str:
    """The text of a document, or of the document that updates make."""
    if isinstance(doc_or_updates, pycrdt.Doc):
        doc = doc_or_updates
    else:
        doc = pycrdt.Doc()
        for update in doc_or_updates:
            doc.apply_update(update)
    return str(doc.get("text", type=pycrdt.Text))


async def write_all(store: Any, updates: Iterable[bytes]) -> None:
    """Write updates, all handed over at once and in order."""
    async with anyio.create_task_group() as group:
        for update in updates:
            group.start_soon(store.write, update)


async def loaded(store: Any) -> str:
    """The text of the document that a store loads."""
    doc: Doc = pycrdt.Doc()
    await store.apply_updates(doc)
    return content(doc)


async def history(store: Any) -> list[bytes]:
    """The updates that a store reads."""
    return [update async for update, *_ in store.read()]


async def settle(store: Any) -> None:
    """Wait until the store's packing and checkpoints that are due are done."""
    maintenance = store._share.database.maintenance
    assert await anyio.to_thread.run_sync(maintenance.settle, 30.0)


def sql(db: Path, query: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Run a statement on a file, in a connection of its own."""
    with closing(sqlite3.connect(db, timeout=10)) as connection, connection:
        return connection.execute(query, parameters).fetchall()


def gone(db: Path) -> bool:
    """Whether no database of this file is left open in this process."""
    return all(one.location.path != str(db) for one in database._registry.values())


@contextmanager
def python(code: str, *arguments: object, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Another Python process that runs this code; it is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


_LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
print("free", flush=True)
"""


@contextmanager
def locked(db: Path) -> Iterator[None]:
    """Another process holds the lock of a file."""
    with python(_LOCK, db) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        yield
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "free\n"


class Messages(logging.Handler):
    """A logger that remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.log = logging.Logger("test")
        self.log.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
