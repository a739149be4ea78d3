"""Sessions as collaboration rooms have them: no gap in the stored history, and real Yjs reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pycrdt
import pytest
from pycrdt.store import YDocNotFound

from ypress._native import Clocks

from .support import Ours, Stock, history, make, settle, sql, stock_fails

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]


async def session(db: Path, client: int, word: str | None, base: type[Stock], **options: Any) -> None:
    """One room: it sets a value, loads, or makes the document from its file, and records what changes."""
    ydoc: Any = pycrdt.Doc(client_id=client)
    state, source = ydoc.get("state", type=pycrdt.Map), ydoc.get("source", type=pycrdt.Text)
    state["path"] = "a.txt"
    updates: list[bytes] = []
    async with make(db, base=base, **options) as store:
        try:
            await store.apply_updates(ydoc)
        except YDocNotFound:
            source += "hello"
            await store.encode_state_as_update(ydoc)
        ydoc.observe(lambda event: updates.append(event.update))
        if word is not None:
            browser: Any = pycrdt.Doc(client_id=client + 1000)
            browser.apply_update(ydoc.get_update())
            browser.observe(lambda event: ydoc.apply_update(event.update))
            browser.get("source", type=pycrdt.Text).insert(0, f"<{word}>")
            source.insert(0, f"[{word}]")
            state["dirty"] = False
        for update in updates:
            await store.write(update)
        if base is not Stock:
            await settle(store)


@pytest.mark.parametrize("compression", [None, "zstd"])
@stock_fails("what a room sets before it loads is never stored")
async def test_three_sessions(
    db: Path, base: type[Stock], compression: str | None, yjs: Callable[..., dict[str, Any]]
) -> None:
    options = {} if base is Stock else {"compression": compression, "pack_every": 2}
    for client, word in ((11, "one"), (22, "two"), (33, "three")):
        await session(db, client, word, base, checkpoint_interval=3, **options)
        await session(db, client + 100, None, base, **options)
    async with make(db, base=base, **options) as store:
        updates = await history(store)
    clocks = Clocks()
    for update in updates:
        clocks.add(update)
    assert clocks.gaps() == []
    answer = yjs(updates, source="text", state="map")
    assert answer["pending"] is None
    assert answer["roots"]["source"] == "[three]<three>[two]<two>[one]<one>hello"


async def test_idle_openings_add_nothing(db: Path) -> None:
    await session(db, 11, "one", Stock)
    before = sql(db, "SELECT * FROM yupdates")
    for client in range(20, 25):
        await session(db, client, None, Ours)
    assert sql(db, "SELECT * FROM yupdates") == before
