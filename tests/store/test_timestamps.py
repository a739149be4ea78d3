"""Clocks that step back, and what timestamps mean."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from .support import Stock, content, loaded, make, settle, sql, stock_fails, typed, write_all

pytestmark = pytest.mark.anyio


@stock_fails("rows behind a checkpoint whose timestamp is lower are not loaded")
async def test_an_hour_back(db: Path, base: type[Stock], monkeypatch: pytest.MonkeyPatch) -> None:
    updates = typed(30)
    now = [1.7e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    for part in (updates[:15], updates[15:]):
        async with make(db, base=base, checkpoint_interval=10) as store:
            for update in part:
                await store.write(update)
                now[0] += 0.01
            if base is not Stock:
                await settle(store)
        now[0] -= 3600
    async with make(db, base=base) as store:
        assert await loaded(store) == content(updates)


@stock_fails("timestamps are those of the clock, whatever it does")
async def test_they_never_decrease(db: Path, base: type[Stock], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1.7e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    for step in (1, -3600, 5, 3600, -1, 0.5):
        async with make(db, base=base) as store:
            now[0] += step
            await store.write(b"\0\0")
    times = [row[0] for row in sql(db, "SELECT timestamp FROM yupdates ORDER BY rowid")]
    assert times == sorted(times)


async def test_across_packing(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1.7e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    for step in (0, -3600, 7200):
        now[0] += step
        async with make(db, compression="zstd", pack_every=3) as store:
            await write_all(store, typed(4))
            await settle(store)
            times = [timestamp async for *_, timestamp in store.read()]
            assert times == sorted(times)
    assert times == [1.7e9] * 8 + [1.7e9 + 3600] * 4


async def test_it_is_when_the_update_was_handed_over(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1.7e9]
    monkeypatch.setattr(time, "time", lambda: now[0])
    async with make(db) as store:
        first, now[0] = store.write(b"\0\0"), 1.7e9 + 5
        second, now[0] = store.write(b"\0\0"), 1.7e9 + 9
        await first
        await second
        assert [timestamp async for *_, timestamp in store.read()] == [1.7e9, 1.7e9 + 5]
