"""Large updates, and those that SQLite refuses."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest

from ypress.sqlite.calls import ask
from ypress.store import StoreError

from .support import history, make, sql, typed

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("compression", [None, "zstd"])
async def test_between_small_ones(db: Path, compression: str | None) -> None:
    """They are written in pieces, in one transaction with their neighbours and in order."""
    noise = Random(1)
    updates = [noise.randbytes(size) for size in (9, (4 << 20) - 1, 7, 4 << 20, (5 << 20) + 1, 5)]
    async with make(db, compression=compression, pack_history=False) as store:
        for write in [store.write(update) for update in updates]:
            await write
        assert await history(store) == updates
    assert sql(db, "SELECT yupdate FROM yupdates")[3] == (updates[3],)
    assert sql(db, "PRAGMA integrity_check") == [("ok",)]


async def test_off_the_event_loop(db: Path) -> None:
    threads = []

    def compress(data: bytes) -> bytes:
        threads.append(threading.current_thread().name)
        return data

    async with make(db, compress=compress) as store:
        await store.write(b"\0\0")
    assert threads == ["ypress-store"]


async def test_what_is_refused(db: Path) -> None:
    """Only its own write fails; its neighbours in the same transaction are stored, in order."""
    updates = typed(12)
    async with make(db) as store:
        await store.write(updates[0])

        def limit(connection: sqlite3.Connection) -> Any:
            return connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 10_000)

        await ask(store._share.database, limit)
        writes = [store.write(update) for update in updates[1:6]]
        refused = store.write(bytes(20_000))
        writes += [store.write(update) for update in updates[6:]]
        with pytest.raises(StoreError, match="an update of 20000 bytes cannot be stored"):
            await refused
        with anyio.fail_after(30):
            for write in writes:
                await write
        assert await history(store) == updates
