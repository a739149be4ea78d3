"""Whatever moment a process dies at, the history is whole, in order, and packing goes on."""

from __future__ import annotations

import asyncio
import random
import signal
import sqlite3
from pathlib import Path

from .child import store_class, update
from .conftest import start


async def history(db: Path, document: str) -> list[bytes]:
    async with store_class(str(db), 10**9)(document) as store:
        return [record[0] async for record in store.read()]


def stored(db: Path, document: str) -> list[bytes]:
    """All of a document's history."""
    return asyncio.run(history(db, document))


def rows(db: Path, table: str) -> int:
    with sqlite3.connect(db) as connection:
        (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    connection.close()
    return int(count)


def assert_sound(db: Path) -> None:
    connection = sqlite3.connect(db)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


async def fill(db: Path, document: str, count: int) -> list[bytes]:
    store = store_class(str(db), 10**9)(document)
    store.pack_history = False
    updates = [update(document, number) for number in range(count)]
    async with store:
        for one in updates:
            await store.write(one)
    return updates


def test_killed_at_every_statement_of_packing(db: Path) -> None:
    """Each round dies one statement later, on what the round before has left, until packing gets through."""
    expected = asyncio.run(fill(db, "doc", 90))
    fatal = 1
    while True:
        child = start("steps", db, "doc", fatal)
        output = child.communicate()[0]
        assert stored(db, "doc") == expected, fatal
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL
        fatal += 1
    assert fatal > 5, "the child was never killed in the middle"
    assert output
    assert rows(db, "yupdates") == 0
    assert rows(db, "ysegments") == 1
    assert_sound(db)


def test_killed_at_random_while_writing_and_packing(db: Path, long_rounds: bool) -> None:
    rnd = random.Random(5)
    first = 0
    for _ in range(200 if long_rounds else 10):
        child = start("write", db, "doc", first, 100_000)
        assert child.stdout is not None
        target = first + rnd.randrange(1, 150)
        durable = first - 1
        for line in child.stdout:
            durable = int(line)
            if durable >= target:
                break
        child.kill()
        rest = [int(line) for line in child.communicate()[0].split() if line]
        durable = max([durable, *rest])
        history = stored(db, "doc")
        # All that was acknowledged, and at most what was on its way.
        assert len(history) >= durable + 1
        assert history == [update("doc", number) for number in range(len(history))]
        first = len(history)
    assert rows(db, "ysegments") > 0
    assert_sound(db)


def test_two_processes_pack_the_same_file(db: Path) -> None:
    """They share one document and have one each; nothing is lost, doubled or out of order."""
    asyncio.run(fill(db, "shared", 50))
    children = [start("write", db, name, 0, 150) for name in ("shared", "shared", "left", "right")]
    for child in children:
        child.communicate()
        assert child.returncode == 0
    assert stored(db, "left") == [update("left", number) for number in range(150)]
    assert stored(db, "right") == [update("right", number) for number in range(150)]
    history = stored(db, "shared")
    assert sorted(history) == sorted(
        [update("shared", number) for number in range(50)] + 2 * [update("shared", number) for number in range(150)]
    )
    assert history[:50] == [update("shared", number) for number in range(50)]
    assert rows(db, "ysegments") > 0
    assert_sound(db)


def test_packing_again_changes_nothing(db: Path) -> None:
    expected = asyncio.run(fill(db, "doc", 90))
    contents = []
    for _ in range(2):
        child = start("steps", db, "doc", 10**9)
        child.communicate()
        assert child.returncode == 0
        contents.append(db.read_bytes())
    assert contents[0] == contents[1]
    assert stored(db, "doc") == expected
