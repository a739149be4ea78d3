"""`read`: in the order written, a page at a time, whatever happens in between."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pycrdt
import pytest

from ypress.sqlite import history as pages
from ypress.sqlite import pages as decoding
from ypress.sqlite.layout import layout

from .support import Stock, content, history, make, settle, sql, stock_fails, typed, write_all

pytestmark = pytest.mark.anyio


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "BATCH", 10)
    monkeypatch.setattr(pages, "_PAGE_ROWS", 10)


async def test_order_and_memory(db: Path) -> None:
    """Updates that the clock would order otherwise; nothing but a page is held."""
    updates = [number.to_bytes(4, "big") * 5000 for number in range(1500)]
    async with make(db, checkpoint_interval=None) as store:
        await write_all_as_given(store, updates)
        sql(db, "UPDATE yupdates SET timestamp = 2e9 - rowid")
        import tracemalloc

        tracemalloc.start()
        count = 0
        async for update, metadata, timestamp in store.read():
            assert (update, metadata, timestamp) == (updates[count], b"", 2e9 - count - 1)
            count += 1
        assert count == 1500
        assert tracemalloc.get_traced_memory()[1] < 15 << 20
        tracemalloc.stop()


async def write_all_as_given(store: Any, updates: list[bytes]) -> None:
    for write in [store.write(update) for update in updates]:
        await write


@stock_fails("read holds the store's lock between two updates, and the file's", always=False)
async def test_abandoning(db: Path, base: type[Stock]) -> None:
    async with make(db, base=base) as store:
        for update in typed(5):
            await store.write(update)
        iterator = store.read()
        assert (await anext(iterator))[0] == typed(1)[0]
        with closing(sqlite3.connect(db, timeout=20, isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
        import anyio

        with anyio.fail_after(60):
            await store.write(b"\0\0")
        await iterator.aclose()


def squash_as_stock_does(db: Path, count: int) -> None:
    """Another process's stock code squashes the first rows: they go, and what they were is added behind."""
    with closing(sqlite3.connect(db)) as connection, connection:
        rows = connection.execute("SELECT rowid, yupdate FROM yupdates ORDER BY rowid LIMIT ?", (count,)).fetchall()
        doc: Any = pycrdt.Doc()
        for _, update in rows:
            doc.apply_update(update)
        connection.execute("DELETE FROM yupdates WHERE rowid <= ?", (rows[-1][0],))
        connection.execute("INSERT INTO yupdates VALUES ('doc', ?, x'', 1e9)", (doc.get_update(),))


def add(db: Path, count: int) -> None:
    for _ in range(3):
        sql(db, "INSERT INTO yupdates VALUES ('doc', x'0000', x'', 1e10)")


def vacuum(db: Path, count: int) -> None:
    connection = sqlite3.connect(db, isolation_level=None)
    connection.execute("VACUUM")
    connection.close()


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("change", [squash_as_stock_does, add, vacuum])
@pytest.mark.parametrize("after", [1, 10, 35, 60])
@pytest.mark.parametrize("count", [5, 30, 99, 100])
async def test_another_process_changes_it(db: Path, change: Callable[..., None], after: int, count: int) -> None:
    """Some of it may come twice, but nothing is missing."""
    updates = typed(100)
    async with make(db, checkpoint_interval=None) as store:
        await write_all_as_given(store, updates)
        seen: list[bytes] = []
        async for update, *_ in store.read():
            seen.append(update)
            if len(seen) == after:
                change(db, count)
        assert content(seen) == content(updates)
        if change is not squash_as_stock_does:
            assert [update for update in seen if update != b"\0\0"] == updates


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("after", [1, 10, 35, 60, 99])
async def test_packed_meanwhile(db: Path, after: int) -> None:
    updates = typed(100)
    async with make(db, checkpoint_interval=None) as store:
        await write_all_as_given(store, updates)
        seen: list[bytes] = []
        async for update, *_ in store.read():
            seen.append(update)
            if len(seen) == after:
                async with make(db, compression="zstd", pack_every=1) as packing:
                    await settle(packing)
                assert sql(db, "SELECT sum(updates) FROM ysegments") == [(100,)]
        assert seen == updates


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("after", [1, 35, 60])
async def test_squashed_meanwhile(db: Path, after: int, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    updates = typed(100)
    options = {"compression": "zstd", "pack_every": 20} if packed else {}
    async with make(db, checkpoint_interval=None, **options) as store:
        await write_all_as_given(store, updates)
        await settle(store)
        later = time.time() + 1000
        monkeypatch.setattr(time, "time", lambda: later)
        seen: list[bytes] = []
        async for update, *_ in store.read():
            seen.append(update)
            if len(seen) == after:
                async with make(db, squash_after_inactivity_of=60, **options) as other:
                    await other.write(b"\0\0")
        assert content(seen) == content(updates)


async def test_what_is_written_while_reading(db: Path) -> None:
    updates = typed(40)
    async with make(db) as store:
        await write_all_as_given(store, updates[:20])
        seen = []
        async for update, *_ in store.read():
            seen.append(update)
            await store.write(b"\0\0")
        assert seen == updates[:20]
        assert len(await history(store)) == 40
        await write_all(store, updates[20:])


@pytest.mark.parametrize("brief", [-1.0, 60.0])
@pytest.mark.parametrize("compression", [None, "zstd"])
@pytest.mark.usefixtures("small_pages")
async def test_values_of_any_kind(
    db: Path, compression: str | None, brief: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the loop or in a thread; raw, compressed, and such as could be mistaken for compressed."""
    monkeypatch.setattr(decoding, "_BRIEF", brief)
    monkeypatch.setattr(decoding, "_SLICE", 3)
    updates = [
        b"",
        b"\x80\0",
        b"\x28\xb5\x2f\xfd",
        b"a" * 2_000_000,
        *typed(40),
        *(b"b" * n for n in range(0, 5000, 99)),
    ]
    async with make(db, compression=compression, pack_history=False, max_update_size=3_000_000) as store:
        await write_all_as_given(store, updates)
        assert await history(store) == updates


@pytest.mark.parametrize(
    "change",
    [
        "SELECT 1",
        "DELETE FROM yupdates WHERE rowid = 7",
        "DELETE FROM yupdates WHERE rowid IN (1, 20)",
        "DELETE FROM yupdates",
        "UPDATE yupdates SET path = 'a' WHERE rowid = 7",
        "UPDATE yupdates SET path = 'z' WHERE rowid = 20",
        "UPDATE yupdates SET path = x'01' WHERE rowid = 1",
        "UPDATE yupdates SET rowid = -3 WHERE rowid = 20",
        "UPDATE yupdates SET rowid = 21 WHERE rowid = 1",
        "UPDATE yupdates SET timestamp = 1 WHERE rowid = 5",
        "DROP INDEX idx_yupdates_path_timestamp",
    ],
)
async def test_rowids_without_a_look_at_each(db: Path, change: str) -> None:
    async with make(db) as store:
        await write_all_as_given(store, typed(20))
    sql(db, change)
    found = [rowid for (rowid,) in sql(db, "SELECT rowid FROM yupdates WHERE path = 'doc' ORDER BY rowid")]
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        assert layout(connection, "doc", order=False).rowids.tolist() == found
        assert layout(connection, "doc").rowids.tolist() == found


def delete_unseen(db: Path, rowid: int) -> None:
    """Delete a row, but not its entry in the index."""
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        (index,) = connection.execute("SELECT * FROM sqlite_master WHERE type = 'index' AND tbl_name = 'yupdates'")
        connection.execute("DELETE FROM sqlite_master WHERE name = ?", (index[1],))
    sql(db, "DELETE FROM yupdates WHERE rowid = ?", rowid)
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", index)


@pytest.mark.usefixtures("small_pages")
async def test_a_damaged_index(db: Path) -> None:
    """A row that only the index has is left out, and the others are still called by their rowids."""
    updates = typed(40)
    async with make(db, checkpoint_interval=None) as store:
        await write_all_as_given(store, updates)
    delete_unseen(db, 13)
    sql(db, "UPDATE yupdates SET yupdate = 5 WHERE rowid = 16")
    places: list[str | None] = []
    async with make(db) as store:
        found = {update async for update, *_ in store.read(damage=lambda error: places.append(error.place))}
    assert found == {update for number, update in enumerate(updates, 1) if number not in (13, 16)}
    assert set(places) == {"row 16"}
