"""A file that may only be read, for a while."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from .support import Stock, content, history, loaded, make, sql, stock_fails, typed, write_all
from .test_locked import failed

pytestmark = pytest.mark.anyio


@contextmanager
def read_only(db: Path) -> Iterator[None]:
    """The file may not be written; for root, who may write everything, it is immutable."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        change, back = ["chattr", "+i", str(db)], ["chattr", "-i", str(db)]
        if subprocess.run(change, capture_output=True, check=False).returncode != 0:
            pytest.skip("root cannot make a file read-only on this file system")
        try:
            yield
        finally:
            subprocess.run(back, check=True)
        return
    db.chmod(0o444)
    try:
        yield
    finally:
        db.chmod(0o644)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """On a real file system: that in memory knows no immutable files."""
    return tmp_path / "store.db"


@stock_fails("the error is swallowed, the update dropped, and `write` returns")
async def test_opened_read_only(db: Path, base: type[Stock]) -> None:
    updates = typed(10)
    async with make(db, base=base) as store:
        await store.write(updates[0])
    with read_only(db):
        store = make(db, base=base)
        await store.__aenter__()
        assert await loaded(store) == "a"
        pending = [store.write(update) for update in updates[1:]]
        if base is Stock:
            for write in pending:
                await write
        else:
            await failed(store)
        assert await history(store) == updates[:1]
    for write in pending:
        if base is not Stock:
            await write
    assert await history(store) == updates
    await store.__aexit__(None, None, None)


@pytest.mark.parametrize("compression", [None, "zstd"])
async def test_loading_makes_do_without_a_checkpoint(db: Path, compression: str | None) -> None:
    updates = typed(300)
    async with make(db, compression=compression, pack_every=50) as store:
        await write_all(store, updates)
    sql(db, "DELETE FROM ycheckpoints")
    with read_only(db):
        async with make(db, compression=compression) as store:
            assert await loaded(store) == content(updates)
            assert await history(store) == updates


async def test_an_old_file(db: Path) -> None:
    """One that would get the table of checkpoints, if it could be written."""
    updates = typed(5)
    async with make(db) as store:
        await write_all(store, updates)
    sql(db, "DROP TABLE ycheckpoints")
    with read_only(db):
        async with make(db) as store:
            assert await loaded(store) == content(updates)
    async with make(db) as store, anyio.create_task_group() as group:
        group.start_soon(store.write, b"\0\0")
    assert len(sql(db, "SELECT * FROM sqlite_master WHERE name = 'ycheckpoints'")) == 1
