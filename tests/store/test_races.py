"""Many open the same fresh file at once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import anyio
import pytest

from .support import Ours, Stock, content, history, make, python, sql, stock_fails, typed

anyio_only = pytest.mark.parametrize("anyio_backend", ["asyncio"])


async def room(db: Path, number: int, base: type[Stock], delay: float = 0.0) -> None:
    """A room that opens its document, writes, and closes it."""
    await anyio.sleep(delay)
    async with make(db, f"doc{number}", base) as store:
        for update in typed(8, client=number + 1):
            await store.write(update)


def check(db: Path, rooms: int, base: type[Stock]) -> None:
    assert [file.name for file in db.parent.iterdir()] == [db.name], "the live database was renamed"
    for number in range(rooms):
        updates = [update for (update,) in sql(db, "SELECT yupdate FROM yupdates WHERE path = ?", f"doc{number}")]
        assert updates == typed(8, client=number + 1)


@pytest.mark.anyio
@pytest.mark.parametrize(("rooms", "apart"), [(50, 0), (20, 0), (20, 1), (20, 2), (20, 3), (20, 5)])
async def test_rooms_of_one_process(db: Path, rooms: int, apart: int) -> None:
    db = db.parent / "a missing" / "folder" / "store.db"
    async with anyio.create_task_group() as group:
        for number in range(rooms):
            group.start_soon(room, db, number, Ours, number * apart / 1000)
    check(db, rooms, Stock)


@pytest.mark.anyio
@anyio_only
@stock_fails("the second opener sees a version mismatch and renames the live database", always=False)
async def test_fifty_rooms(tmp_path: Path, base: type[Stock]) -> None:
    """On a real disk, where creating a store takes its time."""
    for apart in (0, 1, 2, 3, 5):
        db = tmp_path / str(apart) / "store.db"
        db.parent.mkdir()
        with anyio.fail_after(60):
            async with anyio.create_task_group() as group:
                for number in range(50):
                    group.start_soon(room, db, number, base, number * apart / 1000)
        check(db, 50, base)


@pytest.mark.anyio
@stock_fails("no store is made in a folder that is missing")
async def test_a_missing_folder(db: Path, base: type[Stock]) -> None:
    with anyio.fail_after(30):
        await room(db.parent / "missing" / "store.db", 0, base)
    check(db.parent / "missing" / "store.db", 1, base)


_OPEN = """
import sys, anyio
from tests.store.support import make, typed

async def main():
    number = int(sys.argv[2])
    async with make(sys.argv[1], f"doc{number}", busy_timeout=5.0) as store:
        for update in typed(8, client=number + 1):
            await store.write(update)

print("ready", flush=True)
sys.stdin.readline()
anyio.run(main)
print("done", flush=True)
"""
ROOT = Path(__file__).parents[2]


def test_processes(folder: Path, long_rounds: bool) -> None:
    """They are started once for each round, wait for each other, and begin together."""
    processes, rounds = (24, 20) if long_rounds else (6, 2)
    for number in range(rounds):
        db = folder / str(number) / "store.db"
        with ExitStack() as stack:
            running = [stack.enter_context(python(_OPEN, db, one, cwd=ROOT)) for one in range(processes)]
            for process in running:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
            for process in running:
                assert process.stdin is not None
                process.stdin.write("\n")
                process.stdin.flush()
            for process in running:
                assert process.stdout is not None
                assert process.stdout.readline() == "done\n"
        check(db, processes, Stock)
        assert sql(db, "PRAGMA integrity_check") == [("ok",)]


_MOVE = """
import sys, logging
from ypress.sqlite.connection import Location, connect
print("ready", flush=True)
sys.stdin.readline()
connection = connect(Location(sys.argv[1]), logging.getLogger())
connection.execute("INSERT INTO yupdates VALUES (?, x'0000', x'', 1.0)", (sys.argv[2],))
print("done", flush=True)
sys.stdin.readline()
"""


def test_moving_a_file_of_another_version(folder: Path, long_rounds: bool) -> None:
    """One of them moves it; the others do not move what that one has made in its place."""
    for number in range(20 if long_rounds else 2):
        db = folder / str(number) / "store.db"
        db.parent.mkdir()
        with closing(sqlite3.connect(db)) as connection:
            connection.execute("CREATE TABLE yupdates (path TEXT, yupdate BLOB)")
            connection.execute("PRAGMA user_version = 1")
        with ExitStack() as stack:
            running = [stack.enter_context(python(_MOVE, db, one)) for one in range(4)]
            for word in ("ready\n", "done\n"):
                for process in running:
                    assert process.stdout is not None
                    assert process.stdout.readline() == word
                for process in running:
                    assert process.stdin is not None
                    process.stdin.write("\n")
                    process.stdin.flush()
        assert sorted(file.name for file in db.parent.iterdir()) == ["store(1).db", "store.db"]
        assert len(sql(db, "SELECT * FROM yupdates")) == 4
        assert sql(db.with_name("store(1).db"), "PRAGMA user_version") == [(1,)]


@pytest.mark.anyio
@anyio_only
async def test_stock_code_opens_it_as_well(db: Path) -> None:
    async with make(db) as ours, make(db, base=Stock) as stock:
        for update in typed(10):
            await ours.write(update)
            await stock.write(b"\0\0")
        assert content(await history(ours)) == content(typed(10))
        assert len(await history(stock)) == 20


def test_a_process_that_ends_at_once(db: Path) -> None:
    """Neither stopped nor awaited: what was handed over is stored when the interpreter ends."""
    code = """
        import sys, anyio
        from tests.store.support import make, typed

        async def main():
            store = make(sys.argv[1])
            await store.__aenter__()
            for update in typed(500):
                store.write(update).close()
            raise SystemExit(0)

        anyio.run(main)
    """
    import textwrap

    subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(db)], cwd=ROOT, check=False, capture_output=True)
    assert [update for (update,) in sql(db, "SELECT yupdate FROM yupdates")] == typed(500)
