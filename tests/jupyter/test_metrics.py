"""What the metrics count when something goes wrong; `test_sessions` has what they count when nothing does."""

from __future__ import annotations

import logging
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pycrdt
import pytest
from prometheus_client import REGISTRY
from pycrdt.store import YDocNotFound
from test_store import KEY, edits, write_all
from traitlets.config import Config

from ypress.jupyter import SQLiteYStore, metrics
from ypress.sqlite import observing
from ypress.sqlite.calls import ask


def value(name: str) -> float:
    """A metric of this process."""
    found = REGISTRY.get_sample_value(f"ypress_{name}")
    assert found is not None, name
    return found


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteYStore]:
    config = Config(SQLiteYStore={"db_path": str(tmp_path / "store.db"), "compression": "zstd", "busy_timeout": 0.1})
    metrics.install()
    metrics.install()  # the second changes nothing
    yield SQLiteYStore(path=KEY, config=config, log=logging.getLogger("test"))
    observing.observe(None)


def test_what_cannot_be_written_waits(store: SQLiteYStore) -> None:
    written, failed, raw = value("updates_written_total"), value("failed_commits_total"), value("raw_bytes_total")
    _, updates = edits(5)

    async def main() -> None:
        async with store, anyio.create_task_group() as group:
            await store.write(updates[0])
            assert value("updates_written_total") == written + 1
            with closing(sqlite3.connect(store.db_path, isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                for update in updates[1:]:
                    group.start_soon(store.write, update)
                with anyio.fail_after(60):
                    while value("failed_commits_total") == failed:
                        await anyio.sleep(0.01)
                assert value("queued_updates") == 4
                other.execute("ROLLBACK")

    anyio.run(main)
    assert value("queued_updates") == 0
    assert value("updates_written_total") == written + 5
    assert value("raw_bytes_total") == raw + sum(map(len, updates))


def test_damage(store: SQLiteYStore) -> None:
    damaged, aside = value("damaged_values_total"), value("records_moved_aside_total")
    store.pack_history = False
    store.checkpoint_interval = None
    anyio.run(write_all, store, edits(10)[1])
    with closing(sqlite3.connect(store.db_path)) as connection, connection:
        connection.execute("UPDATE yupdates SET yupdate = x'8200ffff' WHERE rowid = 5")

    async def main() -> None:
        async with store:
            with pytest.raises(YDocNotFound):
                await store.apply_updates(pycrdt.Doc())

    anyio.run(main)
    assert value("damaged_values_total") > damaged
    assert value("records_moved_aside_total") == aside + 10


def test_an_update_that_sqlite_refuses(store: SQLiteYStore) -> None:
    refused = value("refused_updates_total")

    def limit(connection: sqlite3.Connection) -> int:
        return connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 10_000)

    async def main() -> None:
        async with store:
            await store.write(b"\0\0")
            assert store._share is not None
            await ask(store._share.database, limit)
            await store.write(random.Random(1).randbytes(20_000))  # told in the log: an error would end the room

    anyio.run(main)
    assert value("refused_updates_total") == refused + 1
