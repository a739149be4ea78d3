"""The disk is full, and later it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from .support import Stock, content, history, loaded, make, sql, stock_fails, typed
from .test_locked import failed

pytestmark = pytest.mark.anyio


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of a quarter of a megabyte."""
    place = folder / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system is not permitted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@stock_fails("the error is swallowed, the update dropped, and `write` returns")
async def test_max_page_count(db: Path, base: type[Stock]) -> None:
    updates = typed(12, size=9000)
    async with make(db, base=base, checkpoint_interval=None) as store:
        await store.write(updates[0])
        cursor = await store._db.cursor()
        (pages,) = sql(db, "PRAGMA page_count")[0]
        await cursor.execute(f"PRAGMA max_page_count = {pages + 8}")
        async with anyio.create_task_group() as group:
            for update in updates[1:]:
                group.start_soon(store.write, update)
        assert await history(store) == updates


@pytest.mark.parametrize("compression", [None, "zstd"])
async def test_a_full_file_system(small_disk: Path, compression: str | None) -> None:
    db, ballast = small_disk / "store.db", small_disk / "ballast"
    updates = [typed(1, client)[0] + b"" for client in range(1, 30)]
    large = [os.urandom(20_000) for _ in updates]
    async with make(db, compression=compression, pack_every=5) as store:
        await store.write(updates[0])
        ballast.write_bytes(bytes(120_000))
        async with anyio.create_task_group() as group:
            for update, noise in zip(updates[1:], large, strict=False):
                group.start_soon(store.write, update)
                group.start_soon(store.write, noise)
            await failed(store)
            assert await history(store)
            subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
        expected = [update for pair in zip(large, updates[1:], strict=False) for update in reversed(pair)]
        assert await history(store) == [updates[0], *expected]
    assert sql(db, "PRAGMA integrity_check") == [("ok",)]


async def test_full_where_it_is_created(small_disk: Path) -> None:
    db, ballast = small_disk / "store.db", small_disk / "ballast"
    ballast.write_bytes(bytes(256 * 1024))
    updates = typed(5)
    async with make(db) as store, anyio.create_task_group() as group:
        for update in updates:
            group.start_soon(store.write, update)
        await failed(store)
        ballast.unlink()
    async with make(db) as store:
        assert await loaded(store) == content(updates)


async def test_full_while_squashing(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A squash needs room itself; the write behind it must not depend on that for ever."""
    import time

    db, ballast = small_disk / "store.db", small_disk / "ballast"
    updates = typed(20, size=3000)
    async with make(db, checkpoint_interval=None) as store:
        for update in updates[:-1]:
            await store.write(update)
    later = time.time() + 1000
    monkeypatch.setattr(time, "time", lambda: later)
    ballast.write_bytes(bytes(256 * 1024 - db.stat().st_size - 32 * 1024))
    async with make(db, squash_after_inactivity_of=60, checkpoint_interval=None) as store:
        with anyio.fail_after(60):
            await store.write(updates[-1])
        assert await loaded(store) == content(updates)
