"""Processes that are killed, and rooms that are torn down as real ones are."""

from __future__ import annotations

import random
import signal
import sys
from pathlib import Path

import anyio
import pytest

from .support import Stock, history, loaded, make, python, sql, stock_fails, typed

ROOT = Path(__file__).parents[2]

_WRITE = """
import sys, anyio
from tests.store.support import make, typed

async def main():
    packed = sys.argv[2] == "packed"
    options = {"compression": "zstd", "pack_every": 20} if packed else {}
    async with make(sys.argv[1], checkpoint_interval=15, **options) as store:
        begin = int(sys.argv[3])
        async def write(number, update):
            await store.write(update)
            sys.stdout.write(f"{number}\\n")
            sys.stdout.flush()
        for first in range(begin, begin + 4000, 4):
            async with anyio.create_task_group() as group:
                for number in range(first, first + 4):
                    group.start_soon(write, number, number.to_bytes(4, "big") + bytes(number % 700))
anyio.run(main)
"""


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("packed", ["rows", "packed"])
async def test_killed_while_writing(db: Path, long_rounds: bool, packed: str) -> None:
    """What `write` had returned for is there, once and in order; the file is sound."""
    rnd = random.Random(packed)
    begin = 0
    written: list[int] = []
    for _ in range(50 if long_rounds else 4):
        with python(_WRITE, db, packed, begin, cwd=ROOT) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(rnd.randrange(1, 300))]
            process.kill()
            lines += process.stdout.readlines()
        written += [int(line) for line in lines if line.endswith("\n")]
        begin += 4000
        assert sql(db, "PRAGMA integrity_check") == [("ok",)]
        async with make(db) as store:
            stored = [int.from_bytes(update[:4], "big") for update in await history(store)]
        assert stored == sorted(set(stored))
        assert set(written) <= set(stored)


_ROOM = """
import sys, anyio, random
import tests.store.support as support
from tests.store.support import make, typed
from ypress.sqlite.database import queued

async def main():
    store = make(sys.argv[1], base=getattr(support, sys.argv[2]))
    updates = typed(500)
    started = anyio.Event()
    async with anyio.create_task_group() as server:
        await server.start(store.start)
        await store.started.wait()
        async with anyio.create_task_group() as room:
            for number, update in enumerate(updates):
                room.start_soon(store.write, update)
                if number == 250:
                    await anyio.sleep(0)
            room.cancel_scope.cancel()
        if sys.argv[3] == "wait":
            await anyio.sleep(0.05)
            while queued():  # ours, on a busy machine
                await anyio.sleep(0.05)
        print("torn down", flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a process could be ended with")
@stock_fails("cancelled writes are lost", always=False)
def test_torn_down_and_terminated(db: Path, base: type[Stock]) -> None:
    name = "Stock" if base is Stock else "Ours"
    with python(_ROOM, db, name, "wait", cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "torn down\n"
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    assert [update for (update,) in sql(db, "SELECT yupdate FROM yupdates")] == typed(500)


@pytest.mark.anyio
@stock_fails("cancelled writes are lost", always=False)
async def test_torn_down_after_the_last_edit(db: Path, base: type[Stock]) -> None:
    """Some tasks have not even begun when they are cancelled; `stop` is not called."""
    updates = typed(60)
    store = make(db, base=base)
    async with anyio.create_task_group() as server:
        await server.start(store.start)
        await store.started.wait()
        for begin in range(0, 60, 20):
            async with anyio.create_task_group() as room:
                for update in updates[begin : begin + 20]:
                    room.start_soon(store.write, update)
                if begin == 20:
                    await anyio.sleep(0)
                room.cancel_scope.cancel()
        server.cancel_scope.cancel()
    async with make(db, base=base) as store:
        if base is not Stock:
            assert await loaded(store) == "abcdefghij" * 6
        assert sorted(await history(store)) == sorted(updates)
