"""What the stock store loses: quick edits before everybody leaves, the end of the server, many documents at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import stored
from server import Server, Site, eventually

# Of the shape of a journal that SQLite removes at every commit.
_JOURNAL = ".jupyter_ystore.db-journal"


async def _type(document: Any, count: int, pause: float = 0.0) -> None:
    for i in range(count):
        document._ysource += str(i % 10)
        # Each is an update of its own; pycrdt's provider sends it when it has its turn.
        await asyncio.sleep(pause)


def _digits(count: int) -> str:
    return "".join(str(i % 10) for i in range(count))


def test_everybody_leaves_at_once(site: Site) -> None:
    """2,000 edits as fast as they can be sent, then the room is closed."""
    path = site.text("quick.txt")

    async def edit(server: Server) -> None:
        async with server.open(path) as one, server.open(path) as two:
            await _type(one, 2000)
            await eventually(lambda: len(two._ysource) == 2000, "the server has all of them")

    with site.server(cleanup_delay=0) as server:
        key = stored.key(server.session(path))
        asyncio.run(edit(server))
        server.wait_closed()
        server.kill()
    assert stored.text(site.store, key) == _digits(2000)


def test_the_server_is_told_to_end(site: Site) -> None:
    """SIGTERM at the moment at which it has received the last of 500 edits."""
    path = site.text("ending.txt")

    async def edit(server: Server) -> None:
        async with server.open(path) as one, server.open(path) as two:
            await _type(one, 500)
            await eventually(lambda: len(two._ysource) == 500, "the server has all of them")
            server.process.terminate()

    with site.server() as server:
        key = stored.key(server.session(path))
        asyncio.run(edit(server))
        server.terminate()
    assert stored.text(site.store, key) == _digits(500)


@pytest.mark.parametrize("pause", [0.0, 0.005])
def test_twenty_documents_on_a_fresh_store(site: Site, pause: float) -> None:
    """Opened so many seconds apart: none is lost, and no file is renamed."""
    paths = [site.text(f"file{i}.txt") for i in range(20)]

    async def edit(server: Server, index: int) -> None:
        await asyncio.sleep(index * pause)
        session = await asyncio.to_thread(server.session, paths[index])
        async with server.join(f"text:file:{session['fileId']}", session["sessionId"]) as document:
            await _type(document, 20 + index, 0.001)
            await site.saved(paths[index], _digits(20 + index))

    async def edit_all(server: Server) -> None:
        await asyncio.gather(*(edit(server, index) for index in range(20)))

    with site.server() as server:
        asyncio.run(edit_all(server))
        keys = [stored.key(server.session(path)) for path in paths]
        server.wait_closed(20)
    for index, key in enumerate(keys):
        assert stored.text(site.store, key) == _digits(20 + index)
    assert [file.name for file in site.root.glob(".jupyter_ystore*") if file.name != _JOURNAL] == [site.store.name]


def test_the_server_is_killed(site: Site, yjs: Callable[..., dict[str, Any]]) -> None:
    """SIGKILL while two people type: what the store has is whole, and who connects again brings the rest."""
    path = site.text("killed.txt")
    kept: list[Any] = []
    written: list[dict[str, float]] = []

    async def edit(server: Server) -> None:
        async with server.open(path) as one, server.open(path) as two:
            kept.extend([one, two])
            typing = [asyncio.create_task(_type(document, 100_000, 0.005)) for document in kept]
            await eventually(lambda: len(two._ysource) > 500, "both have typed")
            written.append(await asyncio.to_thread(server.metrics))
            server.kill()
            for task in typing:
                task.cancel()
            await asyncio.wait(typing)

    async def connect_again(server: Server, session: str) -> str:
        room = f"text:file:{server.session(path)['fileId']}"
        async with server.join(room, session, kept[0]) as one, server.join(room, session, kept[1]) as two:
            await eventually(lambda: one.source == two.source, "both see the same")
            content: str = one.source
            return content

    with site.server(cleanup_delay=30) as server:
        session = server.session(path)
        key = stored.key(session)
        asyncio.run(edit(server))
    history = stored.updates(site.store, key)
    answer = yjs(history, source="text")
    assert answer["pending"] is None
    assert len(history) >= written[0]["ypress_updates_written_total"] > 100

    with site.server() as server:
        content = asyncio.run(connect_again(server, session["sessionId"]))
        server.wait_closed()
    # The room has set the text to that of the file, which was saved a moment before the end, and the clients have
    # brought what the server had not received; everything is in the history.
    assert stored.updates(site.store, key)[: len(history)] == history
    assert stored.text(site.store, key) == content
    assert yjs(stored.updates(site.store, key), source="text")["roots"]["source"] == content


def test_keys_that_reached_the_store_are_kept_when_the_file_is_older(site: Site) -> None:
    """A killed server has not saved the file. When it opens again, the room overwrites the text with that older file;
    the history still has every key."""
    path = site.text("unsaved.txt")

    async def edit(server: Server) -> None:
        async with server.open(path) as one:
            typing = asyncio.create_task(_type(one, 100_000, 0.005))
            while (await asyncio.to_thread(server.metrics))["ypress_updates_written_total"] < 300:
                await asyncio.sleep(0.1)
            server.kill()
            typing.cancel()
            await asyncio.wait([typing])

    async def look(server: Server) -> str:
        async with server.open(path) as document:
            content: str = document.source
            return content

    with site.server(save_delay=60) as server:
        key = stored.key(server.session(path))
        asyncio.run(edit(server))
    assert (site.root / path).read_text() == ""
    before = stored.history(site.store, key)
    typed = stored.text(site.store, key)
    assert typed == _digits(len(typed))
    assert len(typed) >= 290  # some updates are not keys

    with site.server() as server:
        assert asyncio.run(look(server)) == ""
        server.wait_closed()
    assert stored.history(site.store, key)[: len(before)] == before
    assert stored.text(site.store, key) == ""

    pytest.importorskip("click")
    moment = repr(before[-1][2])
    site.run("ypress.cli", "export", path, "--store", str(site.store), "--at", moment, "--output", "saved.txt")
    assert (site.root / "saved.txt").read_text() == typed
