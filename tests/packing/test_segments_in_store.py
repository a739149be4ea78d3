"""Segments in the file: how they grow, what damage does, and that the history stays as it was written."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ypress.sqlite import packing
from ypress.sqlite.errors import DamagedHistory
from ypress.sqlite.worker import Write

from .child import store_class, update

pytestmark = pytest.mark.anyio

Record = tuple[bytes, bytes | None, float]


def segments(db: Path) -> list[tuple[int, int, bytes]]:
    connection = sqlite3.connect(db)
    found = connection.execute("SELECT seq, updates, data FROM ysegments ORDER BY path, seq").fetchall()
    connection.close()
    return found


def loose(db: Path) -> int:
    connection = sqlite3.connect(db)
    (count,) = connection.execute("SELECT count(*) FROM yupdates").fetchone()
    connection.close()
    return int(count)


async def written(db: Path, count: int, pack_every: int = 50) -> list[bytes]:
    updates = [update("doc", number) for number in range(count)]
    async with store_class(str(db), pack_every)("doc") as store:
        for one in updates:
            await store.write(one)
    return updates


async def test_the_tail_grows_until_it_is_full(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "SEGMENT_UPDATES", 100)
    updates = await written(db, 450)
    found = segments(db)
    assert [seq for seq, _, _ in found] == list(range(0, 100 * len(found), 100))
    assert {count for _, count, _ in found[:-1]} == {100}
    assert sum(count for _, count, _ in found) + loose(db) == 450
    async with store_class(str(db), 10**9)("doc") as store:
        assert [record[0] async for record in store.read()] == updates


async def test_what_a_closing_room_leaves_is_packed(db: Path) -> None:
    updates = await written(db, 90, pack_every=10**9)
    assert loose(db) == 0
    async with store_class(str(db), 10**9)("doc") as store:
        assert [record[0] async for record in store.read()] == updates


async def test_a_long_history_from_before_is_packed_in_steps(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "STEP_ROWS", 40)
    store = store_class(str(db), 10**9)("doc")
    store.pack_history = False
    async with store:
        for number in range(500):
            await store.write(update("doc", number))
    assert loose(db) == 500
    moves: list[int] = []
    replace = packing._replace

    def counted(connection: sqlite3.Connection, *arguments: object) -> None:
        moves.append(len(arguments[2]))  # type: ignore[arg-type]
        replace(connection, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(packing, "_replace", counted)
    async with store_class(str(db), 50)("doc") as again:
        assert again._share is not None
        await again.write(b"\0\0")
    assert loose(db) < packing.WORTH_PACKING
    assert max(moves) <= 40
    assert len(segments(db)) == 1


@given(
    records=st.lists(
        st.tuples(st.binary(max_size=300), st.one_of(st.none(), st.binary(max_size=20)), st.floats(0, 2e9)),
        min_size=1,
        max_size=60,
    ),
    cut=st.integers(1, 20),
)
async def test_packing_keeps_every_record(records: list[Record], cut: int) -> None:
    """Rows that stock code wrote, with any bytes, metadata and times, are read as they were before they were packed."""
    store = store_class(":memory:", 10**9)("doc")
    async with store:
        share = store._share
        assert share is not None

        def insert(connection: sqlite3.Connection) -> None:
            rows = [("doc", share.options.values.encode(one), metadata, time) for one, metadata, time in records]
            connection.executemany("INSERT INTO yupdates VALUES (?, ?, ?, ?)", rows)
            share.document.loose = None  # what came in behind the store's back has not been counted

        share.database.run(insert)
        before = [record async for record in store.read()]
        assert [(one, metadata) for one, metadata, _ in before] == [(one, metadata) for one, metadata, _ in records]
        original = packing.STEP_ROWS
        packing.STEP_ROWS = cut
        try:
            packing.pack_document(share.database, share.document, share.options)
        finally:
            packing.STEP_ROWS = original
        assert share.database.run(lambda c: c.execute("SELECT count(*) FROM yupdates").fetchone()) == (0,)
        after = [record async for record in store.read()]
        assert after == before
        assert all(math.copysign(1, a[2]) == math.copysign(1, b[2]) for a, b in zip(after, before, strict=True))


@pytest.fixture
async def damaged(db: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three segments and some loose rows; the second segment has a flipped bit."""
    monkeypatch.setattr(packing, "SEGMENT_UPDATES", 100)
    await written(db, 300, pack_every=100)
    store = store_class(str(db), 10**9)("doc")
    store.pack_history = False
    async with store:
        for number in range(300, 320):
            await store.write(update("doc", number))
    connection = sqlite3.connect(db)
    (blob,) = connection.execute("SELECT data FROM ysegments WHERE seq = 100").fetchone()
    broken = bytearray(blob)
    broken[len(blob) // 2] ^= 0x10
    connection.execute("UPDATE ysegments SET data = ? WHERE seq = 100", (bytes(broken),))
    connection.commit()
    connection.close()
    return db


async def test_a_damaged_segment_is_named_and_costs_only_itself(damaged: Path) -> None:
    async with store_class(str(damaged), 10**9)("doc") as store:
        with pytest.raises(DamagedHistory) as caught:
            [record async for record in store.read()]
        assert caught.value.document == "doc"
        assert caught.value.place == "segment 100"
        assert "segment 100" in str(caught.value)
        told: list[DamagedHistory] = []
        rest = [record[0] async for record in store.read(damage=told.append)]
    assert rest == [update("doc", number) for number in (*range(100), *range(200, 320))]
    assert [error.place for error in told] == ["segment 100"]
    assert [seq for seq, _, _ in segments(damaged)] == [0, 100, 200]


async def test_damage_is_told_in_the_readers_thread_when_it_comes_there(damaged: Path) -> None:
    """The page with the damage is decoded ahead, in another thread; a callback may touch what only its loop may."""
    told: list[tuple[int, int]] = []
    read: list[bytes] = []
    async with store_class(str(damaged), 10**9)("doc") as store:
        async for record in store.read(damage=lambda _: told.append((threading.get_ident(), len(read)))):
            read.append(record[0])
    assert told == [(threading.get_ident(), 100)]


async def test_text_in_place_of_a_segment_is_damage(damaged: Path) -> None:
    connection = sqlite3.connect(damaged)
    connection.execute("UPDATE ysegments SET data = 'text' WHERE seq = 200")
    connection.commit()
    connection.close()
    told: list[DamagedHistory] = []
    async with store_class(str(damaged), 10**9)("doc") as store:
        rest = [record[0] async for record in store.read(damage=told.append)]
        assert rest == [update("doc", number) for number in (*range(100), *range(300, 320))]
        assert [error.place for error in told] == ["segment 100", "segment 200"]
        assert "str, not bytes" in str(told[1])
        for number in range(320, 400):
            await store.write(update("doc", number))
    async with store_class(str(damaged), 40)("doc") as store:
        await store.write(update("doc", 400))
    assert loose(damaged) < packing.WORTH_PACKING


async def test_packing_goes_on_behind_a_damaged_tail(db: Path) -> None:
    await written(db, 60, pack_every=10**9)
    connection = sqlite3.connect(db)
    connection.execute("UPDATE ysegments SET data = zeroblob(30)")
    connection.commit()
    connection.close()
    async with store_class(str(db), 40)("doc") as store:
        for number in range(60, 160):
            await store.write(update("doc", number))
    assert loose(db) < packing.WORTH_PACKING
    assert [seq for seq, _, _ in segments(db)] == [0, 60]
    async with store_class(str(db), 10**9)("doc") as store:
        rest = [record[0] async for record in store.read(damage=lambda _: None)]
    assert rest == [update("doc", number) for number in range(60, 160)]


async def test_what_cannot_be_decoded_stays_a_row(db: Path) -> None:
    store = store_class(str(db), 10**9)("doc")
    store.pack_history = False
    async with store:
        for number in range(60):
            await store.write(update("doc", number))
    connection = sqlite3.connect(db)
    connection.execute("UPDATE yupdates SET yupdate = x'8200ff' WHERE rowid = 41")
    connection.commit()
    connection.close()
    async with store_class(str(db), 10)("doc") as again:
        await again.write(b"\0\0")
    assert loose(db) == 21
    assert [(seq, count) for seq, count, _ in segments(db)] == [(0, 40)]


async def test_a_reader_is_not_disturbed_by_packing(db: Path) -> None:
    """Packing between two of its pages changes neither what it yields nor how often."""
    store = store_class(str(db), 10**9)("doc")
    store.pack_history = False
    expected = [update("doc", number) for number in range(3000)]
    async with store:
        share = store._share
        assert share is not None
        for one in expected[:-1]:
            share.database.submit(Write("doc", one, 1.0, share.options))
        await store.write(expected[-1])
        seen = []
        async for record in store.read():
            seen.append(record[0])
            if len(seen) in (1, 1000, 2500):
                packing.STEP_ROWS, original = 700, packing.STEP_ROWS
                plan = share.database.run(lambda c: packing._plan(c, share.document, 1))
                packing.STEP_ROWS = original
                assert plan is not None
                packing._step(share.database, share.document, share.options, plan)
        assert seen == expected
    assert loose(db) < 3000


async def test_a_reader_goes_on_where_another_process_restores(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments become rows again, at the same positions."""
    monkeypatch.setattr(packing, "SEGMENT_UPDATES", 50)
    updates = await written(db, 250)
    assert len(segments(db)) == 5
    async with store_class(str(db), 10_000)("doc") as store:
        seen: list[bytes] = []
        async for update, *_ in store.read():
            seen.append(update)
            if len(seen) == 75:
                command = [sys.executable, "-m", "ypress.cli", "restore", str(db)]
                subprocess.run(command, check=True, capture_output=True)
                assert loose(db) == 250
    assert seen == updates
