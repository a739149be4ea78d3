"""The task that awaits `write` is cancelled at every moment; and what a callback for metadata may do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from ypress.store import NotStarted

from .support import content, gone, history, loaded, make, sql, typed

pytestmark = pytest.mark.anyio


def steps(coroutine: Any, count: int) -> bool:
    """Run a coroutine up to its `count`-th await, and throw it away there. Returns whether it got so far."""
    try:
        for _ in range(count):
            coroutine.send(None)
    except StopIteration:
        return False
    finally:
        coroutine.close()
    return True


class Pause:
    """An await point."""

    def __await__(self) -> Any:
        yield


async def slow() -> bytes:
    for _ in range(3):
        await Pause()
    return b"slow"


async def failing() -> bytes:
    await Pause()
    raise ZeroDivisionError


async def test_at_every_await(db: Path) -> None:
    """Thrown away before the first step, and at each await point of a callback for metadata."""
    updates = typed(4)
    async with make(db, metadata=slow) as store:
        for number, update in enumerate(updates):
            assert steps(store.write(update), number)
    async with make(db) as store:
        assert await history(store) == updates
        assert [metadata async for _, metadata, _ in store.read()] == [b""] * 4


async def test_deadlines(db: Path) -> None:
    updates = typed(200)
    async with make(db) as store:
        for number, update in enumerate(updates):
            with anyio.move_on_after(number / 100_000):
                await store.write(update)
        await store.write(b"\0\0")
        assert await history(store) == [*updates, b"\0\0"]


async def test_callbacks_for_metadata(db: Path) -> None:
    def sync_failing() -> bytes:
        raise ZeroDivisionError

    async def quick() -> bytes:
        return b"quick"

    updates = typed(6)
    callbacks = [None, lambda: b"sync", quick, slow_anyio, sync_failing, failing_anyio]
    async with make(db) as store:
        for update, callback in zip(updates, callbacks, strict=True):
            store.metadata_callback = callback
            if callback in (sync_failing, failing_anyio):
                with pytest.raises(ZeroDivisionError):
                    await store.write(update)
            else:
                await store.write(update)
        assert [record[:2] async for record in store.read()] == list(
            zip(updates, [b"", b"sync", b"quick", b"slow", b"", b""], strict=True)
        )


async def slow_anyio() -> bytes:
    await anyio.sleep(0.01)
    return b"slow"


async def failing_anyio() -> bytes:
    await anyio.sleep(0)
    raise ZeroDivisionError


async def test_order_with_metadata_that_is_late(db: Path) -> None:
    """The first metadata comes last; the order is that of handing over, and other documents do not wait."""
    updates = typed(10)
    late = anyio.Event()
    answers = [late, *[None] * 9]

    async def wait(answer: anyio.Event | None) -> bytes:
        if answer is not None:
            await answer.wait()
        return b"m"

    def metadata() -> Any:
        return wait(answers.pop(0))  # whose it is, is settled when the update is handed over

    async with make(db, metadata=metadata) as store, make(db, "other") as other:
        async with anyio.create_task_group() as group:
            for write in [store.write(update) for update in updates]:
                group.start_soon(_wait, write)
            await other.write(b"\0\0")
            assert sql(db, "SELECT path FROM yupdates") == [("other",)]
            late.set()
        assert await history(store) == updates


async def _wait(write: Any) -> None:
    await write


async def test_metadata_that_never_comes(db: Path) -> None:
    """`stop` does without it, and loses nothing."""
    updates = typed(5)
    store = make(db, metadata=anyio.sleep_forever, stop_timeout=0.1)
    async with anyio.create_task_group() as server:
        await server.start(store.start)
        async with anyio.create_task_group() as room:
            for update in updates:
                room.start_soon(_wait, store.write(update))
            await anyio.sleep(0)
            await store.stop()
            assert len(sql(db, "SELECT * FROM yupdates")) == 5
            room.cancel_scope.cancel()
    async with make(db) as other:
        assert await loaded(other) == content(updates)


async def test_a_subclass_with_its_own_metadata(db: Path) -> None:
    async def get_metadata(self: object) -> bytes:
        return b"own"

    async with make(db, get_metadata=get_metadata) as store:
        await store.write(b"\0\0")
        assert [record[1] async for record in store.read()] == [b"own"]


async def test_writing_after_stopping(db: Path) -> None:
    """A late task of a room that has been torn down: its update is as good as any other."""
    updates = typed(4)
    store = make(db)
    with pytest.raises(NotStarted):
        await store.write(updates[0])
    async with store:
        await store.write(updates[0])
    for callback in (None, slow_anyio):
        store.metadata_callback = callback
        await store.write(updates[1 if callback is None else 2])
    async with make(db) as other:
        assert await history(other) == updates[:3]
    assert gone(db)


@pytest.mark.parametrize("data", ["text", None, 3])
async def test_what_is_no_bytes(db: Path, data: object) -> None:
    async with make(db) as store:
        with pytest.raises(TypeError):
            await store.write(data)
        for kind in (bytes, bytearray, memoryview):
            await store.write(kind(b"\0\0"))
        assert await history(store) == [b"\0\0"] * 3
