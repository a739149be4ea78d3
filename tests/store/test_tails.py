"""What comes behind a checkpoint is found wherever it is stored, and whatever the clock of other code does."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from ypress.maintenance.restore import restore_store
from ypress.maintenance.rewrite import compress_store
from ypress.sqlite import checkpoints, history
from ypress.sqlite.values import Values

from .support import Ours, Stock, content, loaded, make, settle, sql, typed, write_all

pytestmark = pytest.mark.anyio

COVERED = "SELECT covered FROM ypositions WHERE path = 'doc'"


async def session(db: Path, updates: list[bytes], **options: Any) -> None:
    """Open a document, write and close."""
    async with make(db, **options) as store:
        await write_all(store, updates)
        await settle(store)


def append(db: Path, update: bytes, timestamp: float) -> None:
    """Write a row as stock code does, with a clock of its own."""
    sql(db, "INSERT INTO yupdates VALUES ('doc', ?, x'', ?)", update, timestamp)


@pytest.mark.parametrize("shift", [-1e9, -1e-3, 0.0, 1e-3])
@pytest.mark.parametrize("later", [False, True])
async def test_a_clock_that_was_set_back(db: Path, shift: float, later: bool) -> None:
    updates = typed(45)
    await session(db, updates[:40], checkpoint_interval=10)
    ((timestamp,),) = sql(db, "SELECT max(timestamp) FROM yupdates")
    assert sql(db, COVERED) != [(None,)]
    for update in updates[40:44]:
        append(db, update, timestamp + shift)
    if later:
        append(db, updates[44], timestamp + 1)
    async with make(db) as store:
        assert await loaded(store) == content(updates[: 45 if later else 44])


@pytest.mark.parametrize("seed", range(12))
async def test_anything_in_any_order(db: Path, seed: int) -> None:
    rnd = Random(seed)
    updates = typed(400)
    other = typed(400, client=2)
    options: dict[str, Any] = {
        "compression": rnd.choice([None, "zstd"]),
        "checkpoint_interval": rnd.choice([5, 20]),
        "pack_every": rnd.choice([10, 1000]),
    }
    written = 0
    for _ in range(12):
        part = updates[written : written + rnd.choice([1, 3, 15, 30])]
        step = rnd.choice(["ours", "ours", "stock", "stock", "compress", "restore", "vacuum", "another document"])
        if step == "ours" or not written:
            await session(db, part, **options)
            written += len(part)
        elif step == "stock":
            ((newest,),) = sql(db, "SELECT coalesce(max(timestamp), 1e9) FROM yupdates")
            for update in part:
                append(db, update, newest + rnd.choice([-1e6, -0.01, 0.0, 0.01]))
            written += len(part)
        elif step == "compress":
            compress_store(db, Values(compression="zstd"))
        elif step == "restore":
            restore_store(db)
        elif step == "vacuum":
            sql(db, "DELETE FROM yupdates WHERE path = 'gone'")
            sql(db, "VACUUM")
        else:
            async with make(db, "gone", **options) as store:
                await write_all(store, other[:30])
        async with make(db, **options) as store:
            assert await loaded(store) == content(updates[:written]), step


@pytest.mark.parametrize("compression", [None, "zstd"])
async def test_closing_brings_a_checkpoint_up_to_date(db: Path, compression: str | None) -> None:
    updates = typed(95)
    await session(db, updates[:50], compression=compression, checkpoint_interval=60)
    assert sql(db, "SELECT count(*) FROM ycheckpoints") == [(0,)]
    await session(db, updates[50:90], compression=compression, checkpoint_interval=40)
    assert sql(db, COVERED) == [(90,)]
    await session(db, updates[90:], compression=compression, checkpoint_interval=40)
    assert sql(db, COVERED) == [(95,)]
    async with make(db) as store:
        assert await loaded(store) == content(updates)


async def test_a_short_tail_in_a_segment_is_applied_as_it_is(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    updates = typed(90)
    options: dict[str, Any] = {"compression": "zstd", "pack_every": 10}
    await session(db, updates[:50], checkpoint_interval=50, **options)
    monkeypatch.setattr(checkpoints, "at_close", lambda *_: None)
    await session(db, updates[50:], checkpoint_interval=1000, **options)
    assert sql(db, COVERED) == [(50,)]
    assert sql(db, "SELECT sum(updates) FROM ysegments") == [(90,)]
    monkeypatch.setattr(checkpoints, "_replay", None)
    async with make(db, **options) as store:
        assert await loaded(store) == content(updates)


async def test_a_long_history_is_not_counted(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    updates = typed(90)
    await session(db, updates[:60], checkpoint_interval=10)
    async with make(db, checkpoint_interval=None) as store:
        await write_all(store, updates[60:])
    monkeypatch.setattr(history, "_counted", None)
    async with make(db) as store:
        assert await loaded(store) == content(updates)


@pytest.mark.parametrize("base", [Ours, Stock])
async def test_the_timestamp_is_not_above_that_of_the_last_covered_row(db: Path, base: type[Stock]) -> None:
    """Stock code loads the rows that are not older, so also what a clock that was set back before has written since."""
    updates = typed(42)
    await session(db, updates[:40])
    ((timestamp,),) = sql(db, "SELECT max(timestamp) FROM yupdates")
    append(db, updates[40], timestamp - 1000)
    async with make(db, checkpoint_interval=1) as store:
        assert await loaded(store) == content(updates[:41])
    assert sql(db, COVERED) == [(41,)]
    assert sql(db, "SELECT timestamp FROM ycheckpoints") == [(timestamp - 1000,)]
    append(db, updates[41], timestamp - 900)
    async with make(db, base=base) as store:
        await store.db_initialized.wait()
        assert await loaded(store) == content(updates)
