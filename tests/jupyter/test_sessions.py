"""Sessions as people have them: two at a notebook, closing and reopening, files that change on disk, renames."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import stored
from jupyter_ydoc import YNotebook
from server import OURS, STOCK, Server, Site, eventually, steady, wait_for


def sources(document: Any) -> list[str]:
    return [str(cell["source"]) for cell in document.ycells]


def test_two_people_at_a_notebook(site: Site) -> None:
    site.configure(ystore_class=OURS, compression="zstd", pack_every=50)
    path = site.notebook("together.ipynb", "a = 1", "b = 2")

    async def edit(server: Server) -> None:
        async with server.open(path) as one, server.open(path) as two:
            for i in range(150):
                text = (one if i % 2 else two).ycells[i % 2]["source"]
                text += "x"
                await asyncio.sleep(0.002)
            await eventually(lambda: sources(one) == sources(two), "both see the same")
            assert sources(one) == ["a = 1" + 75 * "x", "b = 2" + 75 * "x"]

    async def look(server: Server) -> None:
        async with server.open(path) as document:
            assert sources(document) == ["a = 1" + 75 * "x", "b = 2" + 75 * "x"]

    def packed() -> int:
        if not stored.count(site.store, "SELECT count(*) FROM sqlite_master WHERE name = 'ysegments'"):
            return 0
        return stored.count(site.store, "SELECT coalesce(sum(updates), 0) FROM ysegments")

    with site.server() as server:
        asyncio.run(edit(server))
        key = stored.key(server.session(path))
        server.wait_closed()
        # A room that is closed has its history packed, and nobody waits for that.
        wait_for(lambda: server.metrics()["ypress_updates_packed_total"] == packed() >= 50, "all is packed and counted")
        metrics = server.metrics()
    assert "history is stored in .jupyter_ystore.db (new), zstd" in server.log
    before = stored.history(site.store, key)
    assert len(before) > 150
    assert metrics["ypress_updates_written_total"] == len(before)
    assert metrics["ypress_raw_bytes_total"] == sum(len(update) for update, _, _ in before)
    assert metrics["ypress_write_seconds_count"] > 0 < metrics["ypress_pack_seconds_count"]
    assert metrics["ypress_queued_updates"] == metrics["ypress_failed_commits_total"] == 0

    with site.server() as server:
        server.wait_logged("history is stored in")
        asyncio.run(look(server))
        server.wait_logged("loaded from the ystore SQLiteYStore")
        assert "; 1 document, " in server.log
    assert stored.history(site.store, key)[: len(before)] == before


def test_opening_and_closing_adds_nothing(site: Site) -> None:
    """No duplicated cells, and a file that does not grow."""
    path = site.notebook("often.ipynb", "a = 1", "b = 2")
    size = count = 0

    async def visit(server: Server, text: str) -> None:
        async with server.open(path) as document:
            assert [source[:5] for source in sources(document)] == ["a = 1", "b = 2"]
            await asyncio.sleep(0.5)  # until the room's own changes count as such, with jupyter-server-ydoc 2
            if text:
                source = document.ycells[0]["source"]
                source += text
                await site.saved(path, text)

    with site.server() as server:
        key = stored.key(server.session(path))
        asyncio.run(visit(server, " # first"))
        server.wait_closed(1)
        asyncio.run(visit(server, ", second"))
        server.wait_closed(2)
        for closed in range(3, 8):
            asyncio.run(visit(server, ""))
            server.wait_closed(closed)
            if closed == 3:
                size, count = site.store.stat().st_size, len(stored.history(site.store, key))
    assert len(stored.history(site.store, key)) == count
    assert site.store.stat().st_size <= size + 500
    # Once with any store: the notebook that was made by hand is trusted from its first saving on.
    assert server.log.count("out-of-sync") <= 1


def test_a_client_that_connects_again(site: Site) -> None:
    """With what it had before, to a server that was started anew."""
    path = site.notebook("again.ipynb", "a = 1")

    async def first(server: Server) -> Any:
        async with server.open(path) as document:
            source = document.ycells[0]["source"]
            source += " # one"
            await site.saved(path, "# one")
            return document

    async def second(server: Server, document: Any, session: str) -> None:
        room = f"json:notebook:{server.session(path)['fileId']}"
        async with server.join(room, session, document) as again:
            source = again.ycells[0]["source"]
            source += ", two"
            async with server.open(path) as other:
                await eventually(lambda: sources(other) == ["a = 1 # one, two"], "the other sees it once")

    with site.server() as server:
        document = asyncio.run(first(server))
        session = server.session(path)["sessionId"]
    with site.server() as server:
        asyncio.run(second(server, document, session))


def test_a_file_that_changes_on_disk(site: Site) -> None:
    path = site.text("changing.txt", "line 0\n")

    async def edit(server: Server) -> None:
        async with server.open(path) as document:
            for i in range(1, 6):
                await asyncio.sleep(0.3)
                (site.root / path).write_text(f"line {i}, from outside\n", newline="\n")
                await eventually(lambda i=i: document.source == f"line {i}, from outside\n", f"change {i} arrives")

    with site.server() as server:
        asyncio.run(edit(server))
        key = stored.key(server.session(path))
        server.wait_closed()
    assert stored.text(site.store, key) == "line 5, from outside\n"

    async def look(server: Server, wanted: str) -> None:
        async with server.open(path) as document:
            assert document.source == wanted

    # Also while no server runs.
    (site.root / path).write_text("line 6, while nobody looked\n", newline="\n")
    with site.server() as server:
        asyncio.run(look(server, "line 6, while nobody looked\n"))
        server.wait_logged("out-of-sync")
        server.wait_closed()
    assert stored.text(site.store, key) == "line 6, while nobody looked\n"


def test_a_notebook_that_is_renamed(site: Site) -> None:
    path = site.notebook("before.ipynb", "a = 1")

    async def edit(server: Server) -> None:
        async with server.open(path) as document:
            source = document.ycells[0]["source"]
            source += "23"
            await site.saved(path, "123")
            # The file is there before the room knows that; changed before then, it is loaded anew, cells and all.
            await steady(lambda: document.hash)
            server.request("PATCH", f"/api/contents/{path}", {"path": "after.ipynb"})
            await eventually(lambda: document.path == "after.ipynb", "the document knows its new path")
            source = document.ycells[0]["source"]
            source += "45"
            await site.saved("after.ipynb", "12345")

    async def look(server: Server) -> None:
        async with server.open("after.ipynb") as document:
            assert sources(document) == ["a = 12345"]

    with site.server() as server:
        asyncio.run(edit(server))
        key = stored.key(server.session("after.ipynb"))
        server.wait_closed()
        before = stored.history(site.store, key)
    with site.server() as server:
        asyncio.run(look(server))
        server.wait_logged("loaded from the ystore")
        assert stored.key(server.session("after.ipynb")) == key
    assert stored.history(site.store, key)[: len(before)] == before


def test_two_notebooks_at_once(site: Site) -> None:
    paths = [site.notebook(f"{name}.ipynb", f"{name} = 0") for name in ("left", "right")]

    async def edit(server: Server) -> None:
        async with server.open(paths[0]) as left, server.open(paths[1]) as right:
            for i in range(100):
                for document in (left, right):
                    source = document.ycells[0]["source"]
                    source += str(i % 10)
                await asyncio.sleep(0.002)
            for path in paths:
                await site.saved(path, "0" + "0123456789" * 10)

    with site.server() as server:
        asyncio.run(edit(server))
        keys = [stored.key(server.session(path)) for path in paths]
        server.wait_closed(2)
    digits = "0123456789" * 10
    for path, key in zip(paths, keys, strict=True):
        assert len(stored.history(site.store, key)) >= 100
        content = json.loads((site.root / path).read_text())
        assert "".join(content["cells"][0]["source"]) == f"{path.removesuffix('.ipynb')} = 0{digits}"


def test_three_sessions(site: Site, yjs: Callable[..., dict[str, Any]]) -> None:
    """All that was typed before is there, for Yjs in the browser too; idle openings cost nothing."""
    path = site.text("sessions.txt")

    async def type_in(server: Server, word: str) -> str:
        async with server.open(path) as document:
            for letter in word:
                document._ysource += letter
                await asyncio.sleep(0.01)
            await site.saved(path, wanted)
            content: str = document.source
            return content

    wanted = ""
    for word in ("one,", "two,", "three,"):
        with site.server() as server:
            wanted += word
            assert asyncio.run(type_in(server, word)) == wanted
            key = stored.key(server.session(path))
            answer = yjs(stored.updates(site.store, key), source="text")
            assert answer["roots"]["source"] == wanted
            assert answer["pending"] is None
            server.wait_closed()
    size = site.store.stat().st_size
    with site.server() as server:
        for closed in range(1, 6):
            assert asyncio.run(type_in(server, "")) == wanted
            server.wait_closed(closed)
    assert site.store.stat().st_size <= size + 500
    assert yjs(stored.updates(site.store, key), source="text")["pending"] is None


def test_the_timeline_is_that_of_the_stock_store(site: Site) -> None:
    """The same session, its rows written back for the stock class: same timestamps, first and last state."""
    path = site.notebook("timeline.ipynb", "a = 1")

    async def edit(server: Server) -> None:
        async with server.open(path) as document:
            for i in range(30):
                source = document.ycells[0]["source"]
                source += str(i % 10)
                # The timeline joins what happens within half a second.
                await asyncio.sleep(0.6 if i % 10 == 0 else 0.01)
            await site.saved(path, "0123456789" * 3)

    async def look(server: Server) -> tuple[list[float], list[str], str]:
        async with server.open(path):
            timeline = server.timeline(path)
            fork, steps = timeline["forkRoom"], len(timeline["timestamps"])
            async with server.join(fork, timeline["sessionId"]) as shared:
                document = YNotebook(shared.ydoc)
                move = f"/api/collaboration/undo_redo/{timeline['roomId']}?forkRoom={fork}&steps={steps}&action="
                last = sources(document)[0]
                server.request("PUT", move + "undo")
                await eventually(lambda: sources(document) != [last], "the first state")
                first = await steady(lambda: sources(document))
                server.request("PUT", move + "redo")
                await eventually(lambda: sources(document) == [last], "the last state again")
            return timeline["timestamps"], first, last

    with site.server() as server:
        asyncio.run(edit(server))
        server.wait_closed()
        key = stored.key(server.session(path))
        ours = asyncio.run(look(server))
    records = stored.history(site.store, key)
    site.store.rename(site.root / "ours.db")
    _write_stock(site, key, records)
    site.configure(ystore_class=STOCK)
    with site.server() as server:
        stock = asyncio.run(look(server))
        server.wait_logged("loaded from the ystore")
    assert ours == stock
    assert len(ours[0]) >= 3
    assert ours[2] == "a = 1" + "0123456789" * 3


def _write_stock(site: Site, key: str, records: list[tuple[bytes, bytes | None, float]]) -> None:
    with closing(sqlite3.connect(site.store)) as connection, connection:
        connection.execute(
            "CREATE TABLE yupdates (path TEXT NOT NULL, yupdate BLOB, metadata BLOB, timestamp REAL NOT NULL)"
        )
        connection.execute("CREATE INDEX idx_yupdates_path_timestamp ON yupdates (path, timestamp)")
        connection.execute(
            "CREATE TABLE ycheckpoints (path TEXT NOT NULL, checkpoint BLOB NOT NULL, timestamp REAL NOT NULL, "
            "PRIMARY KEY(path))"
        )
        connection.execute("PRAGMA user_version = 2")
        connection.executemany("INSERT INTO yupdates VALUES (?, ?, ?, ?)", [(key, *record) for record in records])
