"""Segments that are gone: from the beginning, or taken away by another process while they are read."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pycrdt import Doc

from ypress.sqlite import packing
from ypress.sqlite.errors import DamagedHistory, StoreError

from .child import store_class
from .test_segments_in_store import loose, written

pytestmark = pytest.mark.anyio


def sql(db: Path, query: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Run a statement on a file, in a connection of its own."""
    with closing(sqlite3.connect(db, timeout=10)) as connection, connection:
        return connection.execute(query, parameters).fetchall()


async def collect(seen: list[bytes], store: Any, seen_one: Callable[[], None] = lambda: None, **options: Any) -> None:
    """Read a document, update by update."""
    async for update, *_ in store.read(**options):
        seen.append(update)
        seen_one()


async def test_a_reader_goes_on_where_a_squashed_history_is_restored(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The positions begin at 0 again: some of it may come twice."""
    monkeypatch.setattr(packing, "SEGMENT_UPDATES", 50)
    updates = await written(db, 250)
    sql(db, "CREATE TABLE IF NOT EXISTS ypositions (path TEXT PRIMARY KEY, first INTEGER DEFAULT 0, covered INTEGER)")
    sql(db, "INSERT OR REPLACE INTO ypositions VALUES ('doc', 1000, NULL)")
    sql(db, "UPDATE ysegments SET seq = seq + 1000")
    async with store_class(str(db), 10_000)("doc") as store:
        seen: list[bytes] = []
        async for update, *_ in store.read():
            seen.append(update)
            if len(seen) == 75:
                command = [sys.executable, "-m", "ypress.cli", "restore", str(db)]
                subprocess.run(command, check=True, capture_output=True)
                assert loose(db) == 250
    assert seen[-250:] == updates


@pytest.mark.parametrize(
    "removal",
    [
        ["DROP TABLE ysegments"],
        ["DELETE FROM ysegments"],
        ["DELETE FROM ysegments", "DELETE FROM yupdates"],
        ["DELETE FROM ysegments WHERE seq < 150"],
        ["DELETE FROM ysegments WHERE seq >= 150"],
    ],
)
@pytest.mark.parametrize("rows", [0, 20])
@pytest.mark.parametrize("read", [1, 75])
async def test_segments_that_another_process_removes(
    db: Path, removal: list[str], rows: int, read: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is gone is not passed over in silence."""
    monkeypatch.setattr(packing, "SEGMENT_UPDATES", 50)
    await written(db, 250)
    for number in range(rows):
        sql(db, "INSERT INTO yupdates VALUES ('doc', x'0000', x'', ?)", 1e10 + number)
    async with store_class(str(db), 10_000)("doc") as store:
        seen: list[bytes] = []

        def remove() -> None:
            if len(seen) == read:
                for statement in removal:
                    sql(db, statement)

        with pytest.raises(StoreError, match="document doc: another process has removed updates"):
            await collect(seen, store, remove, damage=lambda _: None)
        # The page that was there, and the one that is made ready meanwhile.
        assert read <= len(seen) <= 150


async def test_a_missing_segment(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is damage as any other: offered to `damage`, or raised behind what comes before it."""
    monkeypatch.setattr(packing, "SEGMENT_UPDATES", 50)
    updates = await written(db, 250)
    sql(db, "DELETE FROM ysegments WHERE seq IN (50, 150)")
    async with store_class(str(db), 10_000)("doc") as store:
        found: list[DamagedHistory] = []
        seen = [update async for update, *_ in store.read(damage=found.append)]
        assert seen == updates[:50] + updates[100:150] + updates[200:]
        assert [error.place for error in found] == ["before segment 100", "before segment 200"]
        assert "the updates 50 to 99 are missing" in str(found[0])
        seen.clear()
        with pytest.raises(DamagedHistory, match="the updates 50 to 99 are missing"):
            await collect(seen, store)
        assert seen == updates[:50]
        with pytest.raises(DamagedHistory, match="moved aside"):
            await store.apply_updates(Doc())
    assert sql(db, "SELECT count(*) FROM yaside WHERE kind = 'segment'") == [(3,)]
