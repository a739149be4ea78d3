"""Values that cannot be read: nothing is deleted, the error says where, and the document goes on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pycrdt.store import YDocNotFound

from ypress.sqlite.aside import take_back
from ypress.store import DamagedHistory, StoreError

from .support import Messages, Stock, content, history, loaded, make, settle, sql, stock_fails, typed, write_all

pytestmark = pytest.mark.anyio

DAMAGE = [b"\x81\x00\xff\xff\xff", b"\xff" * 30, b"", None, "text", 17, b"\x9f\x00what a newer version wrote"]


async def until_damage(store: Any) -> tuple[list[bytes], Exception | None]:
    """What a store reads, and the error that ends it."""
    seen = []
    try:
        async for update, *_ in store.read():
            seen.append(update)
    except (StoreError, YDocNotFound) as error:
        return seen, error
    return seen, None


def dump(db: Path, *tables: str) -> list[Any]:
    return [sorted(sql(db, f"SELECT * FROM {table}"), key=repr) for table in tables]


@pytest.mark.parametrize("value", DAMAGE)
@pytest.mark.parametrize("compression", [None, "zstd"])
async def test_a_damaged_row(db: Path, value: object, compression: str | None) -> None:
    updates = typed(60)
    options: dict[str, Any] = {"compression": compression, "checkpoint_interval": None, "pack_history": False}
    async with make(db, **options) as store, make(db, "other", **options) as other:
        await write_all(store, updates)
        await other.write(updates[0])
    (rowid,) = sql(db, "SELECT rowid FROM yupdates WHERE path = 'doc' LIMIT 1 OFFSET 30")[0]
    sql(db, "UPDATE yupdates SET yupdate = ? WHERE rowid = ?", value, rowid)
    tables = "yupdates", "ycheckpoints"
    before = dump(db, *tables)
    messages = Messages()
    async with make(db, log=messages.log, **options) as store:
        with pytest.raises(DamagedHistory) as caught:
            await loaded(store)
        assert (caught.value.document, caught.value.place) == ("doc", f"row {rowid}")
        assert "moved aside" in str(caught.value)
        assert "jupyter ypress verify" in str(caught.value)
        with pytest.raises(YDocNotFound):
            await loaded(store)
        await write_all(store, updates[:2])
        assert await loaded(store) == "ab"
        assert len(messages.lines) == 1
    async with make(db, "other", **options) as other:
        assert await loaded(other) == "a"
    with closing(sqlite3.connect(db, isolation_level=None)) as connection:
        with pytest.raises(StoreError, match="has been written since"):
            take_back(connection, "doc")
        connection.execute("DELETE FROM yupdates WHERE path = 'doc'")
        assert take_back(connection, "doc") == 60
        with pytest.raises(StoreError, match="nothing was moved"):
            take_back(connection, "doc")
    after = dump(db, *tables)
    assert [[row[1:] for row in table] for table in after] == [[row[1:] for row in table] for table in before]


async def test_a_damaged_segment(db: Path) -> None:
    updates = typed(50)
    options: dict[str, Any] = {"compression": "zstd", "checkpoint_interval": None}
    async with make(db, pack_every=20, **options) as store:
        await write_all(store, updates)
        await settle(store)
    ((seq, blob),) = sql(db, "SELECT seq, data FROM ysegments")
    sql(db, "UPDATE ysegments SET data = ?", blob[:-3] + bytes(3))
    async with make(db, **options) as store:
        with pytest.raises(DamagedHistory) as caught:
            await loaded(store)
        assert caught.value.place == f"segment {seq}"
        await store.write(updates[0])
        assert await loaded(store) == "a"
    assert sql(db, "SELECT value FROM yaside WHERE kind = 'segment'") == [(blob[:-3] + bytes(3),)]


async def test_damage_that_a_checkpoint_covers(db: Path) -> None:
    """The document opens as if nothing were; what was damaged stays for `read` to find."""
    updates = typed(60)
    async with make(db, checkpoint_interval=20) as store:
        await write_all(store, updates)
        await settle(store)
    sql(db, "UPDATE yupdates SET yupdate = x'8100ffff' WHERE rowid = 5")
    async with make(db) as store:
        assert await loaded(store) == content(updates)
        seen, error = await until_damage(store)
        assert isinstance(error, DamagedHistory)
        assert (error.place, seen) == ("row 5", updates[:4])


@stock_fails("read turns every error into YDocNotFound, and yields compressed bytes where decompressing fails")
async def test_reading_yields_what_is_ahead_of_the_damage(db: Path, base: type[Stock]) -> None:
    import zlib

    updates = typed(6)
    store = make(db, base=base)
    store.register_compression_callbacks(zlib.compress, zlib.decompress)
    async with store:
        for update in updates:
            await store.write(update)
        sql(db, "UPDATE yupdates SET yupdate = x'789c00' WHERE rowid = 4")
        seen, error = await until_damage(store)
        assert isinstance(error, DamagedHistory)
        assert seen == updates[:3]


@stock_fails("one row that cannot be decompressed makes every later checkpoint fail, and its write with it")
async def test_one_bad_row_does_not_stop_writes(db: Path, base: type[Stock]) -> None:
    import zlib

    store = make(db, base=base, checkpoint_interval=5)
    store.register_compression_callbacks(zlib.compress, zlib.decompress)
    async with store:
        await store.write(b"\0\0")
        sql(db, "UPDATE yupdates SET yupdate = x'81000203'")
        for _ in range(20):
            await store.write(b"\0\0")
        if base is not Stock:
            await settle(store)
    assert sql(db, "SELECT count(*) FROM yupdates") == [(21,)]


@pytest.mark.parametrize("value", [value for value in DAMAGE if value not in (b"", b"\xff" * 30)])
async def test_packing_and_squashing_leave_damage_alone(db: Path, value: object) -> None:
    updates = typed(40)
    async with make(db) as store:
        await write_all(store, updates)
    sql(db, "UPDATE yupdates SET yupdate = ? WHERE rowid = 21", value)
    stored = sql(db, "SELECT yupdate FROM yupdates WHERE rowid > 20")
    options: dict[str, Any] = {"compression": "zstd", "pack_every": 5, "checkpoint_interval": 5}
    async with make(db, cleanup_when_db_size_above=0.001, **options) as store:
        await store.write(b"\0\0")
        await settle(store)
        await store.write(b"\0\0")
        await settle(store)
    assert sql(db, "SELECT yupdate FROM yupdates")[:20] == stored


async def test_a_page_of_zeros(db: Path) -> None:
    """Damage of the file itself: an error that says so, and no 'not found'."""
    async with make(db) as store:
        await write_all(store, typed(300, size=200))
        await settle(store)
    data = bytearray(db.read_bytes())
    for begin in range(2 * 4096, len(data) - 4096, 4096):
        data[begin : begin + 4096] = bytes(4096)
    db.write_bytes(data)
    async with make(db) as store:
        for call in (loaded, history):
            with pytest.raises(StoreError, match="damaged"):
                await call(store)


async def test_a_huge_metadata_and_a_foreign_one(db: Path) -> None:
    metadata: list[Any] = [b"m" * (5 << 20), None, "text", bytearray(b"array"), {"no": "bytes"}, 12]
    async with make(db, metadata=lambda: metadata.pop(0), compression="zstd", pack_every=2) as store:
        for number, update in enumerate(typed(6)):
            if number < 4:
                await store.write(update)
            else:
                with pytest.raises(TypeError, match="metadata is"):
                    await store.write(update)
        await settle(store)
        records = [record async for record in store.read()]
    assert [record[0] for record in records] == typed(6)
    assert [record[1] for record in records[1:]] == [None, "text", b"array", b"", b""]
    assert records[0][1] == b"m" * (5 << 20)
