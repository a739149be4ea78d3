"""`cleanup_when_db_size_above`: never at the cost of content, and not again on every write."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ypress.sqlite import squash

from .support import Ours, Stock, content, history, loaded, locked, make, sql, stock_fails, typed, write_all

pytestmark = pytest.mark.anyio


@stock_fails("above the limit, every write squashes everything again")
async def test_not_on_every_write(db: Path, base: type[Stock], monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[object] = []
    name = "squash" if base is Ours else "_squash_document_history"
    place = squash if base is Ours else base
    original = getattr(place, name)
    monkeypatch.setattr(place, name, lambda *args: [runs.append(args), original(*args)][1])
    async with make(db, base=base, cleanup_when_db_size_above=0.001, checkpoint_interval=None) as store:
        for update in typed(120):
            await store.write(update)
    assert 0 < len(runs) < 10


@pytest.mark.parametrize("compression", [None, "zstd"])
async def test_content_is_kept(db: Path, compression: str | None) -> None:
    texts = {name: typed(60, client, size=50) for client, name in enumerate("abc", 1)}
    options = {"compression": compression, "cleanup_when_db_size_above": 0.03}
    for name, updates in texts.items():
        async with make(db, name, metadata=lambda: b"m", **options) as store:
            for update in updates:
                await store.write(update)
    assert db.stat().st_size < 0.04 * 1024 * 1024
    for name, updates in texts.items():
        async with make(db, name, **options) as store:
            assert await loaded(store) == content(updates)
            assert content(await history(store)) == content(updates)
            assert {record[1] async for record in store.read()} == {b"m"}


async def test_its_failure_is_not_the_writes(db: Path) -> None:
    """The file cannot be made smaller at the moment; what was written is stored all the same."""
    updates = typed(30, size=500)
    async with make(db) as store:
        await write_all(store, updates[:-1])
    reader = sqlite3.connect(db, isolation_level=None)
    async with make(db, cleanup_when_db_size_above=0.001, busy_timeout=0.05) as store:
        await store.write(updates[-1])
        with locked(db):
            assert not await store._cleanup_if_needed()
        assert await loaded(store) == content(updates)
    reader.close()


async def test_in_a_file_without_auto_vacuum(db: Path) -> None:
    connection = sqlite3.connect(db)
    connection.execute(
        "CREATE TABLE yupdates (path TEXT NOT NULL, yupdate BLOB, metadata BLOB, timestamp REAL NOT NULL)"
    )
    connection.execute("CREATE INDEX idx_yupdates_path_timestamp ON yupdates (path, timestamp)")
    connection.execute("PRAGMA user_version = 2")
    updates = typed(1500, size=20)
    connection.executemany("INSERT INTO yupdates VALUES ('doc', ?, x'', 1.7e9)", [(update,) for update in updates])
    connection.commit()
    connection.close()
    before = db.stat().st_size
    async with make(db, cleanup_when_db_size_above=0.02) as store:
        await store.write(b"\0\0")
        assert db.stat().st_size < before / 2
        assert await loaded(store) == content(updates)
    assert sql(db, "PRAGMA integrity_check") == [("ok",)]
