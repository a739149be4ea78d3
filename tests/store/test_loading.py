"""Loading gives exactly the document that was written, however it is stored."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import pycrdt
import pytest
from pycrdt.store import YDocNotFound

import ypress

from .support import Messages, Ours, Stock, content, history, loaded, make, settle, sql, stock_fails, typed, write_all

pytestmark = pytest.mark.anyio


@stock_fails("rows behind the checkpoint are applied without decompressing")
async def test_with_callbacks_and_a_checkpoint(db: Path, base: type[Stock]) -> None:
    updates = typed(25)
    for begin in (0, 12):
        store = make(db, base=base, checkpoint_interval=10)
        store.register_compression_callbacks(zlib.compress, zlib.decompress)
        async with store:
            for update in updates[begin : begin + 13]:
                await store.write(update)
    store = make(db, base=base)
    store.register_compression_callbacks(zlib.compress, zlib.decompress)
    async with store:
        assert await loaded(store) == content(updates)


@pytest.mark.parametrize("interval", [None, 7, 100])
@pytest.mark.parametrize("compression", [None, "zstd", "lz4", "brotli"])
async def test_what_was_written(db: Path, compression: str | None, interval: int | None) -> None:
    updates = typed(120)
    options = {"compression": compression, "checkpoint_interval": interval, "pack_every": 50}
    for begin in range(0, 120, 40):
        async with make(db, **options) as store:
            if begin:
                assert await loaded(store) == content(updates[:begin])
            await write_all(store, updates[begin : begin + 40])
            await settle(store)
            assert await history(store) == updates[: begin + 40]
    async with make(db, **options) as store:
        assert await loaded(store) == content(updates)


async def test_mixed_rows(db: Path) -> None:
    """Rows of several codecs, of foreign containers and of stock code, in one history."""
    updates = [typed(1, client, size=1500)[0] for client in range(1, 9)]
    for number, compression in enumerate((None, "zstd", "lz4", "brotli")):
        async with make(db, compression=compression, pack_history=False) as store:
            await store.write(updates[number])
    sql(db, "INSERT INTO yupdates VALUES ('doc', ?, x'', 1e10)", zlib.compress(updates[4]))
    sql(db, "INSERT INTO yupdates VALUES ('doc', ?, x'', 1e10)", updates[5])
    async with make(db, base=Stock) as store:
        await store.write(updates[6])
    async with make(db) as store:
        await store.write(updates[7])
        assert await history(store) == updates
        assert len(await loaded(store)) == len(content(updates))


async def test_stock_code_in_between(db: Path) -> None:
    """The stock store may write, make a checkpoint and squash between our sessions; nothing is missed."""
    updates = typed(90)
    for number, base in enumerate((Ours, Stock, Ours, Stock, Ours, Stock)):
        async with make(db, base=base, checkpoint_interval=4) as store:
            if number:
                assert await loaded(store) == content(updates[: 15 * number])
            for update in updates[15 * number : 15 * number + 15]:
                await store.write(update)
            if base is Ours:
                await settle(store)
    async with make(db) as store:
        assert await loaded(store) == content(updates)


@pytest.mark.parametrize("damage", [b"", b"\xff" * 20, b"\x80\x7f", None, "text"])
@pytest.mark.parametrize("compression", [None, "zstd"])
async def test_a_damaged_checkpoint_is_made_anew(db: Path, damage: bytes | str | None, compression: str | None) -> None:
    updates = typed(40)
    options: dict[str, Any] = {"checkpoint_interval": 10, "compression": compression}
    async with make(db, **options) as store:
        await write_all(store, updates)
        await settle(store)
    if damage is None:
        (value,) = sql(db, "SELECT checkpoint FROM ycheckpoints")[0]
        damage = value[: len(value) // 2]
    sql(db, "UPDATE ycheckpoints SET checkpoint = ?", damage)
    messages = Messages()
    async with make(db, log=messages.log, **options) as store:
        assert await loaded(store) == content(updates)
        await write_all(store, typed(15, client=2))
        await settle(store)
    assert any("is made anew" in line for line in messages.lines)
    async with make(db, log=messages.log, **options) as store:
        before = len(messages.lines)
        assert len(await loaded(store)) == 55
        assert len(messages.lines) == before
    assert sql(db, "SELECT name FROM sqlite_master WHERE name = 'yaside'") == []


@pytest.mark.parametrize("compression", [None, "zstd"])
async def test_not_found_means_that_nothing_is_stored(db: Path, compression: str | None) -> None:
    async with make(db, compression=compression) as store, make(db, "other", compression=compression) as other:
        for call in (loaded, history):
            with pytest.raises(YDocNotFound):
                await call(store)
        await other.write(b"\0\0")
        with pytest.raises(YDocNotFound):
            await loaded(store)
        assert await loaded(other) == ""


@stock_fails("every error in reading becomes YDocNotFound")
async def test_an_error_is_not_not_found(db: Path, base: type[Stock]) -> None:
    async with make(db, base=base) as store:
        await store.write(typed(1)[0])
        sql(db, "ALTER TABLE yupdates RENAME TO elsewhere")
        with pytest.raises(Exception) as caught:
            await history(store)
        assert not isinstance(caught.value, YDocNotFound)


async def test_what_waits_is_loaded(db: Path) -> None:
    """A second store of the same document sees what the first has handed over."""
    updates = typed(30)
    async with make(db) as first, make(db) as second:
        pending = [first.write(update) for update in updates]
        assert await loaded(second) == content(updates)
        for write in pending:
            await write


async def test_damage_in_compressed_rows_is_noticed(db: Path) -> None:
    update = typed(1, size=3000)[0]
    async with make(db, compression="zstd", pack_history=False) as store:
        await store.write(update)
    (value,) = sql(db, "SELECT yupdate FROM yupdates")[0]
    sql(db, "UPDATE yupdates SET yupdate = ?", value[:-1] + bytes([value[-1] ^ 1]))
    with pytest.raises(ypress.CorruptData):
        ypress.decompress(value[:-1] + bytes([value[-1] ^ 1]))
    async with make(db) as store:
        with pytest.raises(ypress.store.DamagedHistory):
            await store.apply_updates(pycrdt.Doc())
