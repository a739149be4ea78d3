"""Squashing keeps content and metadata, and makes the file smaller."""

from __future__ import annotations

import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from .support import Stock, content, history, loaded, make, settle, sql, stock_fails, typed, write_all

pytestmark = pytest.mark.anyio

OPTIONS = [
    {"squash_after_inactivity_of": 60},
    pytest.param({"document_ttl": 60}, marks=pytest.mark.filterwarnings("ignore:.document_ttl. is deprecated")),
    {"squash_history_older_than": 60},
]


class Clock:
    """The time of day, to be set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1.7e9
        monkeypatch.setattr(time, "time", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.mark.parametrize("options", OPTIONS)
@stock_fails("the history is replaced by an empty document where no callbacks are registered")
async def test_content_is_kept(db: Path, clock: Clock, base: type[Stock], options: dict[str, Any]) -> None:
    updates = typed(40)
    for begin in (0, 20):
        async with make(db, base=base, **options) as store:
            for update in updates[begin : begin + 20]:
                await store.write(update)
        clock.now += 1000
    assert sql(db, "SELECT count(*) FROM yupdates")[0][0] < 40
    async with make(db, base=base, **options) as store:
        assert content(await history(store)) == content(updates)
        assert await loaded(store) == content(updates)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("compression", [None, "zstd", "callbacks"])
@pytest.mark.parametrize("packed", [0, 10, 20])
async def test_metadata_size_and_checkpoint(
    db: Path, clock: Clock, options: dict[str, Any], compression: str | None, packed: int
) -> None:
    if compression == "callbacks":
        options = {**options, "compress": zlib.compress, "decompress": zlib.decompress}
        compression = None
    updates = [typed(1, client, word=chr(96 + client), size=900)[0] for client in range(1, 22)]
    options = {**options, "compression": compression, "checkpoint_interval": 5, "pack_history": packed > 0}
    for part in (updates[:packed], updates[packed:20]):
        async with make(db, metadata=lambda: b"by us", pack_every=5, **options) as store:
            await write_all(store, part)
            await settle(store)
        options["pack_history"] = False
    before = db.stat().st_size
    (old,) = sql(db, "SELECT max(timestamp) FROM yupdates WHERE path = 'doc'")[0] or (None,)
    clock.now += 1000
    async with make(db, metadata=lambda: b"later", **options) as store:
        await store.write(updates[20])
        assert sql(db, "SELECT * FROM ycheckpoints") == [], "it would keep the squashed history alive"
        records = [record async for record in store.read()]
        assert [record[1] for record in records] == [b"by us", b"later"]
        assert old is None or records[0][2] == 1.7e9
        assert sorted(content(record[0] for record in records)) == sorted(content(updates))
    assert db.stat().st_size <= before


async def test_deleted_text_leaves_the_file(db: Path, clock: Clock) -> None:
    import pycrdt

    doc: Any = pycrdt.Doc()
    updates: list[bytes] = []
    doc.observe(lambda event: updates.append(event.update))
    text = doc.get("text", type=pycrdt.Text)
    for _ in range(50):
        text += "a secret that is long enough to count" * 30
        del text[0 : len(text)]
    text += "left"
    async with make(db, checkpoint_interval=10) as store:
        await write_all(store, updates)
        await settle(store)
    before = db.stat().st_size
    clock.now += 1000
    async with make(db, squash_after_inactivity_of=60) as store:
        await store.write(b"\0\0")
        assert await loaded(store) == "left"
    assert db.stat().st_size < before / 2
    assert b"a secret" not in db.read_bytes()


@pytest.mark.parametrize("cutoff", range(1, 12))
async def test_a_cutoff_inside_of_segments(db: Path, clock: Clock, cutoff: int) -> None:
    """Twelve updates, a second apart, the first eight in segments: what is not older stays as it was, in order."""
    updates = typed(12)
    for number, update in enumerate(updates):
        clock.now = 1.7e9 + number
        pack = number in (5, 7)
        async with make(db, compression="zstd", pack_history=pack, pack_every=2) as store:
            await store.write(update)
            await settle(store)
    assert sql(db, "SELECT sum(updates) FROM ysegments") == [(8,)]
    clock.now = 1.7e9 + 100
    options = {"compression": "zstd", "pack_history": False, "squash_history_older_than": 100 - cutoff + 0.5}
    async with make(db, **options) as store:
        before = [record async for record in store.read()]
        await store.write(b"\0\0")
        after = [record async for record in store.read()]
        assert after[1:-1] == before[cutoff:]
        assert content([after[0][0]]) == content(updates[:cutoff])
        assert after[0][1:] == before[cutoff - 1][1:]
        assert await loaded(store) == content(updates)
    async with make(db, compression="zstd", pack_every=3) as store:
        await write_all(store, [b"\0\0"] * 3)
        await settle(store)
        packed = [record async for record in store.read()]
        assert packed[: len(after)] == after
        assert len(packed) == len(after) + 3
        assert await loaded(store) == content(updates)


async def test_not_more_often_than(db: Path, clock: Clock) -> None:
    async with make(db, squash_after_inactivity_of=10, squash_no_more_often_than=60) as store:
        for update in typed(3):
            await store.write(update)
        for expected, seconds in ((2, 20), (3, 20), (4, 20), (2, 21)):
            clock.now += seconds
            await store.write(b"\0\0")
            assert sql(db, "SELECT count(*) FROM yupdates") == [(expected,)]


async def test_what_pycrdt_would_leave_out_is_not_squashed(db: Path, clock: Clock) -> None:
    """With an update missing that others depend on, a squash would lose these, too."""
    updates = typed(10)
    async with make(db, squash_after_inactivity_of=10) as store:
        await write_all(store, [*updates[:4], *updates[5:]])
        clock.now += 100
        await store.write(b"\0\0")
        assert await history(store) == [*updates[:4], *updates[5:], b"\0\0"]
        await store.write(updates[4])
        assert await loaded(store) == content(updates)


@pytest.mark.parametrize("timestamp", ["'long ago'", "x'00'", "1600000000"])
async def test_a_timestamp_that_is_no_number(db: Path, clock: Clock, timestamp: str) -> None:
    updates = typed(6)
    async with make(db) as store:
        await write_all(store, updates[:5])
    sql(db, f"UPDATE yupdates SET timestamp = {timestamp} WHERE rowid = 2")
    clock.now += 1000
    async with make(db, squash_after_inactivity_of=60, cleanup_when_db_size_above=0.001) as store:
        await store.write(updates[5])
        await store.write(b"\0\0")
        assert await loaded(store) == content(updates)
