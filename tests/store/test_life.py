"""Starting and stopping: event loops, forks, threads, handles."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import sqlite3
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
import trio

from ypress.sqlite import database
from ypress.store import NotStarted

from .support import content, gone, history, loaded, make, sql, typed, write_all


@pytest.mark.anyio
async def test_in_memory() -> None:
    async with make(":memory:") as one, make(":memory:") as two:
        await write_all(one, [b"\0\0"])
        await write_all(two, [b"\0\0"] * 2)
        assert len(await history(one)) == 1
        assert len(await history(two)) == 2
    assert not Path(":memory:").exists()


@pytest.mark.anyio
async def test_again_and_again(db: Path) -> None:
    """No threads, handles or databases are left over."""
    store = make(db, compression="zstd", pack_every=5)

    async def once() -> None:
        async with store:
            await write_all(store, typed(6))
            await loaded(store)
        assert gone(db)

    await once()
    threads, handles = threading.active_count(), count_handles()
    for _ in range(20):
        await once()
    assert count_handles() <= handles
    assert not [thread for thread in threading.enumerate() if thread.name == "ypress-store"]
    assert threading.active_count() <= threads


def count_handles() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


@pytest.mark.anyio
async def test_started_twice_or_not_at_all(db: Path) -> None:
    store = make(db)
    with pytest.raises(RuntimeError):
        await store.stop()
    with pytest.raises(RuntimeError):
        await history(store)
    async with store:
        with pytest.raises(RuntimeError, match="already running"):
            await store.start()
    with pytest.raises(RuntimeError):
        await store.stop()
    with pytest.raises(RuntimeError):
        await loaded(store)


@pytest.mark.anyio
async def test_two_stores_of_a_document(db: Path) -> None:
    updates = typed(20)
    async with make(db) as one, make(db) as two:
        for number, update in enumerate(updates):
            await (one, two)[number % 2].write(update)
        assert await history(one) == await history(two) == updates
        assert await loaded(two) == content(updates)
    async with make(db) as two:
        async with make(db) as one:
            await one.write(b"\0\0")
        await two.write(b"\0\0")
        assert len(await history(two)) == 22


@pytest.mark.anyio
async def test_forgotten_without_being_stopped(db: Path) -> None:
    """A store that nobody refers to any more is released, and what it had taken over is stored."""
    store = make(db)
    share_only = store
    share_only._open()
    finished = share_only._share.database.finished
    for update in typed(30):
        share_only.write(update).close()
    del store, share_only
    gc.collect()
    assert await anyio.to_thread.run_sync(finished.wait, 30)
    assert len(sql(db, "SELECT * FROM yupdates")) == 30


def test_several_event_loops(db: Path) -> None:
    """Loops of both kinds, in threads of their own, with one file; then one after the other in this thread."""
    failures: list[BaseException] = []

    async def session(number: int) -> None:
        async with make(db, f"doc{number}") as store:
            for update in typed(30, client=number + 1):
                await store.write(update)
            assert await loaded(store) == content(typed(30))

    def run(number: int) -> None:
        try:
            anyio.run(session, number, backend=("asyncio", "trio")[number % 2])
        except BaseException as error:  # noqa: BLE001 - raised below
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in (6, 7):
        run(number)
    assert failures == []
    assert gone(db)
    assert sql(db, "SELECT count(DISTINCT path), count(*) FROM yupdates") == [(8, 240)]


@pytest.mark.parametrize("run", [asyncio.run, lambda coroutine: trio.run(lambda: coroutine)])
def test_a_loop_that_ends_while_updates_wait(db: Path, run: Any) -> None:
    async def session() -> None:
        store = make(db)
        store._open()
        for update in typed(50):
            store.write(update).close()

    run(session())
    gc.collect()
    database.drain(10)
    assert len(sql(db, "SELECT * FROM yupdates")) == 50


async def _child(db: Path) -> None:
    async with make(db, "child") as store:
        await write_all(store, typed(5))


def _spawned(db: Path) -> None:
    anyio.run(_child, db)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
async def test_other_processes(db: Path, method: str) -> None:
    """A child does not use what its parent has open; with a store of its own it does what it likes."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} on {sys.platform}")
    async with make(db) as store:
        await write_all(store, typed(5))
        target = _spawned if method == "spawn" else lambda db: _forked(store, db)
        process = multiprocessing.get_context(method).Process(target=target, args=(db,))
        process.start()
        await anyio.to_thread.run_sync(process.join, 60)
        assert process.exitcode == 0
        await write_all(store, typed(5))
        assert len(await history(store)) == 10
    assert sql(db, "SELECT count(*) FROM yupdates WHERE path = 'child'") == [(5,)]
    assert sql(db, "PRAGMA integrity_check") == [("ok",)]


def _run_in_fork(run: Callable[[], Awaitable[None]]) -> None:
    """Run it in a forked process whose parent has a loop, and end that process by its outcome."""
    asyncio._set_running_loop(None)
    try:
        trio.run(run)
    except BaseException:  # noqa: BLE001 - told by the exit code
        import traceback

        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _forked(store: Any, db: Path) -> None:
    async def run() -> None:
        with pytest.raises(NotStarted, match="forked"):
            await store.write(b"\0\0")
        with pytest.raises(NotStarted, match="forked"):
            await history(store)
        store._close()
        await _child(db)

    _run_in_fork(run)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
async def test_a_fork_in_the_middle_of_a_transaction(db: Path) -> None:
    """SQLite's account of the locks that a process holds is inherited; it must be empty then, or it stays so."""
    inside, forked = threading.Event(), threading.Event()

    def job(connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        inside.set()
        forked.wait(0.5)  # it ends without, where the fork waits for this
        connection.execute("COMMIT")

    async with make(db) as store:
        await write_all(store, typed(5))
        done = store._share.database.call(job)
        assert inside.wait(10)
        process = multiprocessing.get_context("fork").Process(target=_fresh_in_fork, args=(db,))
        process.start()
        forked.set()
        done.result()
        await anyio.to_thread.run_sync(process.join, 60)
        assert process.exitcode == 0
        await write_all(store, typed(5))
    assert sql(db, "SELECT path, count(*) FROM yupdates GROUP BY path") == [("child", 5), ("doc", 10)]


def _fresh_in_fork(db: Path) -> None:
    async def run() -> None:
        async with make(db, "child", busy_timeout=0.5, stop_timeout=1.0) as store:
            with trio.fail_after(5):
                await write_all(store, typed(5))

    _run_in_fork(run)
