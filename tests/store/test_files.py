"""Files of other versions and applications, files that move, and the names that a file may have."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import anyio
import pytest

from ypress.sqlite import database
from ypress.store import StoreError, StoreUnavailable

from .support import Stock, content, gone, history, loaded, make, settle, sql, stock_fails, typed, write_all

pytestmark = pytest.mark.anyio


def old_file(db: Path, updates: list[bytes], *, checkpoints: bool, index: bool = True) -> None:
    """A file as pycrdt-store 0.1.0 to 0.1.2 made it."""
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute(
            "CREATE TABLE yupdates (path TEXT NOT NULL, yupdate BLOB, metadata BLOB, timestamp REAL NOT NULL)"
        )
        if index:
            connection.execute("CREATE INDEX idx_yupdates_path_timestamp ON yupdates (path, timestamp)")
        if checkpoints:
            connection.execute(
                "CREATE TABLE ycheckpoints (path TEXT NOT NULL, checkpoint BLOB NOT NULL, timestamp REAL NOT NULL, "
                "PRIMARY KEY(path))"
            )
        connection.execute("PRAGMA user_version = 2")
        rows = [(update, 1.6e9 + number) for number, update in enumerate(updates)]
        connection.executemany("INSERT INTO yupdates VALUES ('doc', ?, NULL, ?)", rows)


@stock_fails("a file without ycheckpoints cannot be loaded")
async def test_a_file_of_0_1_2(db: Path, base: type[Stock]) -> None:
    old_file(db, typed(20), checkpoints=False)
    inode = db.stat().st_ino
    with anyio.fail_after(20):
        async with make(db, base=base) as store:
            assert await loaded(store) == content(typed(20))
    assert db.stat().st_ino == inode
    assert os.listdir(db.parent) == [db.name]


@pytest.mark.parametrize("checkpoints", [False, True])
@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("compression", [None, "zstd"])
async def test_old_files_go_on(db: Path, checkpoints: bool, index: bool, compression: str | None) -> None:
    updates = typed(60)
    old_file(db, updates[:30], checkpoints=checkpoints, index=index)
    async with make(db, compression=compression, pack_every=10, checkpoint_interval=10) as store:
        assert await loaded(store) == content(updates[:30])
        await write_all(store, updates[30:])
        await settle(store)
        assert await history(store) == updates
    async with make(db) as store:
        assert await loaded(store) == content(updates)
    async with make(db, base=Stock) as stock:
        await stock.write(b"\0\0")


KEYS = [
    ".notebook:5d2b.y", "name\\.notebook:x", "it's", 'say "x"', "line\nbreak", "nul\0byte", "", "ключ 🗝", "k" * 10_240,
    "RTC:doc", "%s ? :x",
]  # fmt: skip


@pytest.mark.parametrize("compression", [None, "zstd"])
async def test_path_keys(db: Path, compression: str | None) -> None:
    """Documents whose keys are strange, or the beginning of each other, side by side."""
    updates = {key: typed(12, number) for number, key in enumerate(KEYS, 1)}
    for round_ in range(2):
        for key, part in updates.items():
            async with make(db, key, compression=compression, pack_every=4, checkpoint_interval=5) as store:
                await write_all(store, part[6 * round_ : 6 * round_ + 6])
                await settle(store)
    for key, part in updates.items():
        async with make(db, key) as store:
            assert await history(store) == part
            assert await loaded(store) == content(part)


def test_a_key_that_is_no_text(db: Path) -> None:
    with pytest.raises(ValueError, match="cannot be stored as text"):
        make(db, "lone \ud800 surrogate")
    with pytest.raises(TypeError, match="path is int"):
        make(db, 5)  # type: ignore[arg-type]


async def test_another_version_moves_away(db: Path) -> None:
    async with make(db, version=1) as store:
        await store.write(b"\0\0")
    async with make(db) as store:
        await store.write(b"\1\0")
        assert await history(store) == [b"\1\0"]
    assert sorted(os.listdir(db.parent)) == ["store(1).db", "store.db"]
    assert sql(db.with_name("store(1).db"), "SELECT yupdate FROM yupdates") == [(b"\0\0",)]


async def test_an_empty_file(db: Path) -> None:
    db.touch()
    async with make(db) as store:
        await store.write(b"\0\0")
        assert await history(store) == [b"\0\0"]
    assert sql(db, "PRAGMA auto_vacuum") == [(1,)]


async def test_a_folder_and_other_applications(folder: Path) -> None:
    (folder / "folder").mkdir()
    (folder / "text").write_text("no database\n" * 100)
    sql(folder / "other", "CREATE TABLE users (name TEXT)")
    for name, kind, message in (
        ("folder", StoreUnavailable, "unable to open"),
        ("text", StoreError, "is not a store"),
        ("other", StoreError, "another application"),
        ("text/below", StoreUnavailable, "cannot open"),
    ):
        store = make(folder / name, stop_timeout=0.1)
        async with store:
            with pytest.raises(kind, match=message):
                await loaded(store)
            with pytest.raises(kind, match=message):
                await history(store)
    assert (folder / "text").read_text() == "no database\n" * 100
    assert sql(folder / "other", "SELECT name FROM sqlite_master") == [("users",)]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows moves and deletes no file that is open")
@pytest.mark.parametrize("how", ["deleted", "replaced", "moved"])
@pytest.mark.parametrize("mode", [None, "truncate", "persist"])
async def test_the_file_goes_while_it_is_open(
    db: Path, how: str, mode: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    """What is written afterwards is in the file of that name, not in one that nobody can reach; and it is told."""
    updates = typed(8)
    async with make(db, journal_mode=mode, checkpoint_interval=3) as store:
        await write_all(store, updates[:4])
        assert len(await history(store)) == 4
        if how == "deleted":
            db.unlink()
        elif how == "moved":
            db.rename(db.with_name("moved"))
        else:
            old_file(db.with_name("new"), [b"\0\0"] * 3, checkpoints=True)
            db.with_name("new").replace(db)
        await write_all(store, updates[4:])
        expected = [b"\0\0"] * 3 if how == "replaced" else []
        assert [update for (update,) in sql(db, "SELECT yupdate FROM yupdates")] == [*expected, *updates[4:]]
        assert await history(store) == [*expected, *updates[4:]]
    assert ("is gone" in caplog.text) == (how != "replaced")


async def test_a_relative_path_and_another_working_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder)
    store = make("store.db")
    async with store:
        await store.write(b"\0\0")
        monkeypatch.chdir(folder / "elsewhere")
        await store.write(b"\0\0")
        async with make(folder / "store.db", "other"):
            assert len(database._registry) == 1
    await store.write(b"\0\0")
    async with make(folder / "store.db") as store:
        assert len(await history(store)) == 3
    assert os.listdir(folder / "elsewhere") == []


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
@pytest.mark.parametrize("link", [os.symlink, os.link])
async def test_one_database_for_all_names(folder: Path, link: object) -> None:
    one, two = folder / "one.db", folder / "two.db"
    async with make(one) as first:
        await first.write(b"\0\0")
        link(one, two)  # type: ignore[operator]
        async with make(two, "other") as second:
            await second.write(b"\0\0")
            assert second._share.database is first._share.database
    assert gone(one)
    assert len(sql(one, "SELECT * FROM yupdates")) == 2


async def test_write_ahead_logging(db: Path) -> None:
    updates = typed(300)
    options = {"journal_mode": "wal", "compression": "zstd", "pack_every": 50}
    async with make(db, **options) as store:
        await write_all(store, updates[:200])
        await settle(store)
        assert sql(db, "PRAGMA journal_mode") == [("wal",)]
    async with make(db) as store:
        await write_all(store, updates[200:])
        assert await history(store) == updates
        assert await loaded(store) == content(updates)
    async with make(db, journal_mode="delete") as store:
        assert await loaded(store) == content(updates)
    assert os.listdir(db.parent) == [db.name]
