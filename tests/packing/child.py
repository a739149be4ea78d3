"""What the packing tests run in processes of their own: ``child.py write|steps DB ...``."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from functools import partial

from ypress.sqlite import worker
from ypress.sqlite.packing import pack_document
from ypress.store import SQLiteYStore


def store_class(db: str, pack_every: int) -> type[SQLiteYStore]:
    """A store that packs often."""
    options = {"db_path": db, "compression": "zstd", "checkpoint_interval": None, "pack_every": pack_every}
    return type("Store", (SQLiteYStore,), options)


async def write(db: str, document: str, first: int, count: int) -> None:
    """Write numbered updates, and print each number once it is on disk."""
    async with store_class(db, 20)(document) as store:
        for number in range(first, first + count):
            await store.write(update(document, number))
            print(number, flush=True)


def update(document: str, number: int) -> bytes:
    """The update of a number; some are large enough to be compressed as rows."""
    return f"{document} {number};".encode() * (40 if number % 7 == 0 else 1)


async def steps(db: str, document: str, fatal: int) -> None:
    """Pack a document, and be killed right before the statement of this number; without that many, end."""
    connect = worker.connect
    seen = 0
    armed = False

    def traced(*arguments: object) -> sqlite3.Connection:
        connection = connect(*arguments)  # type: ignore[arg-type]
        connection.set_trace_callback(before_statement)
        return connection

    def before_statement(_: str) -> None:
        nonlocal seen
        seen += armed
        if seen == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    worker.connect = traced  # type: ignore[assignment]
    store = store_class(db, 10**9)(document)
    store.pack_history = False  # only what is asked for here is packed
    async with store:
        share = store._share
        assert share is not None
        share.database.call(lambda _: None).result()
        armed = True
        work = partial(pack_document, share.database, share.document, share.options)
        await asyncio.get_running_loop().run_in_executor(None, work)
        armed = False
        print(seen, flush=True)


if __name__ == "__main__":
    command, path, name, *numbers = sys.argv[1:]
    asyncio.run({"write": write, "steps": steps}[command](path, name, *map(int, numbers)))
