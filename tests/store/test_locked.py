"""Another process holds the lock for longer than the busy timeout."""

from __future__ import annotations

import sqlite3
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import anyio
import pytest

from ypress.sqlite import worker
from ypress.store import NotDurable, StoreUnavailable

from .support import Messages, Stock, content, gone, history, loaded, locked, make, sql, stock_fails, typed, write_all

pytestmark = pytest.mark.anyio


@stock_fails("the error is swallowed, the update dropped, and `write` returns")
async def test_nothing_is_lost(db: Path, base: type[Stock]) -> None:
    updates = typed(30)
    async with make(db, base=base) as store:
        await store.write(updates[0])
        if base is Stock:
            cursor = await store._db.cursor()
            await cursor.execute("PRAGMA busy_timeout = 50")
        returned: list[int] = []

        async def wait(number: int, write: Coroutine[Any, Any, None]) -> None:
            await write
            returned.append(number)

        async with anyio.create_task_group() as group:
            with locked(db):
                for number in range(1, 30):
                    group.start_soon(wait, number, store.write(updates[number]))
                await failed(store) if base is not Stock else await anyio.sleep(1)
                assert returned == [], "write says that it is durable"
        assert sorted(returned) == list(range(1, 30))
        assert await history(store) == updates


async def failed(store: object) -> None:
    """Wait until an attempt to store has failed."""
    with anyio.fail_after(30):
        while store._share.database.fault is None:  # type: ignore[attr-defined]
            await anyio.sleep(0.01)


async def test_several_documents_in_order(db: Path) -> None:
    stores = [make(db, name, busy_timeout=0.05) for name in ("a", "b", "c")]
    texts = {store.path: typed(10, client) for client, store in enumerate(stores, 1)}
    async with stores[0], stores[1], stores[2], anyio.create_task_group() as group:
        await stores[0].write(b"\0\0")
        with locked(db):
            for number in range(10):
                for store in stores:
                    group.start_soon(store.write, texts[store.path][number])
            await failed(stores[0])
    for path, updates in texts.items():
        async with make(db, path) as store:
            assert [update for update in await history(store) if update != b"\0\0"] == updates


async def test_the_log_tells_how_many_wait(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    updates = typed(7)
    messages = Messages()
    async with make(db, log=messages.log, busy_timeout=0.01) as store, anyio.create_task_group() as group:
        await store.write(updates[0])
        with locked(db):
            for update in updates[1:]:
                group.start_soon(store.write, update)
            await failed(store)
            with anyio.fail_after(30):
                retry = store._share.database._worker._retry_at
                while store._share.database._worker._retry_at == retry:  # it has been tried again
                    await anyio.sleep(0.01)
            waiting = [line for line in messages.lines if "waits in memory" in line]
            assert len(waiting) == 1, "once a minute"
            assert str(db) in waiting[0]
            assert "6 updates" in waiting[0]
            monkeypatch.setattr(worker, "_LOG_EVERY", 0.0)
            with anyio.fail_after(30):
                while len([line for line in messages.lines if "waits in memory" in line]) < 3:
                    await anyio.sleep(0.01)
    assert "can be written again" in messages.lines[-1]


async def test_stopping_meanwhile(db: Path) -> None:
    """`stop` says what is not stored; it stays, is seen by others, and goes in when the fault ends."""
    updates = typed(20)
    store = make(db, busy_timeout=0.05, stop_timeout=0.3)
    async with store:
        await store.write(updates[0])
    with locked(db):
        with pytest.raises(NotDurable, match="doc: 19 updates"):
            async with store:
                pending = [store.write(update) for update in updates[1:]]
        other = make(db, busy_timeout=0.05, stop_timeout=0.1)
        await other.__aenter__()
        with pytest.raises(StoreUnavailable):
            await loaded(other)
        with pytest.raises(NotDurable):
            await other.__aexit__(None, None, None)
        assert sql_locked(db)
    for write in pending:
        await write
    async with make(db) as other:
        assert await history(other) == updates
        assert await loaded(other) == content(updates)
    assert gone(db)


def sql_locked(db: Path) -> bool:
    """Whether a statement meets the lock."""
    connection = sqlite3.connect(db, timeout=0)
    try:
        connection.execute("SELECT * FROM yupdates")
    except sqlite3.OperationalError:
        return True
    finally:
        connection.close()
    return False


async def test_loading_what_waits(db: Path) -> None:
    """A reader of a file that another process has for writing only: it loads what is stored and what waits."""
    updates = typed(20)
    async with make(db, busy_timeout=0.05) as store, anyio.create_task_group() as group:
        await write_all(store, updates[:10])
        connection = sqlite3.connect(db, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        for update in updates[10:]:
            group.start_soon(store.write, update)
        await failed(store)
        other = make(db)
        await other.__aenter__()
        assert await loaded(other) == content(updates)
        connection.execute("ROLLBACK")
        connection.close()
        await other.__aexit__(None, None, None)


async def test_opened_while_locked(db: Path) -> None:
    updates = typed(5)
    async with make(db) as store:
        await store.write(updates[0])
    with locked(db):
        store = make(db, busy_timeout=0.05)
        await store.__aenter__()
        pending = [store.write(update) for update in updates[1:]]
        with pytest.raises(StoreUnavailable):
            await history(store)
    for write in pending:
        await write
    assert await history(store) == updates
    await store.__aexit__(None, None, None)


@stock_fails(
    "a write that is cancelled while it waits for the lock leaves its connection in a transaction", always=False
)
async def test_a_cancelled_write_leaves_no_lock(db: Path, base: type[Stock]) -> None:
    """Cancelled at every moment; nobody else is locked out afterwards."""
    async with make(db, base=base) as store:
        await store.write(b"\0\0")
        for patience in range(40):
            with anyio.move_on_after(patience / 20_000):
                async with anyio.create_task_group() as group:
                    for _ in range(5):
                        group.start_soon(store.write, typed(1)[0])
        if base is not Stock:
            await store.write(b"\0\0")
        connection = sqlite3.connect(db, timeout=0.5, isolation_level=None)
        try:
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
        finally:
            connection.close()
        if base is not Stock:
            assert sql(db, "SELECT count(*) FROM yupdates") == [(202,)]
        else:
            assert sql(db, "SELECT count(*) FROM yupdates") == [(201,)]
