"""From the stock store to ypress, between its codecs, and back."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest
import stored
from server import OURS, STOCK, Server, Site, eventually


async def _type(server: Server, path: str, text: str, pause: float = 0.002) -> str:
    async with server.open(path) as document:
        for letter in text:
            document._ysource += letter
            await asyncio.sleep(pause)
        await server.site.saved(path, text)
        content: str = document.source
        return content


def _session(site: Site, path: str, text: str) -> tuple[str, str]:
    """Open a document, type, and close it: what it says then, and its path key."""
    with site.server() as server:
        content = asyncio.run(_type(server, path, text))
        key = stored.key(server.session(path))
        server.wait_closed()
        loaded = "loaded from the ystore" in server.log
    assert loaded == (content != text)  # the first session makes the document from its file
    return content, key


def test_there_and_back(bare: Site) -> None:
    """Stock, none, zstd, none, then `restore` and stock again: every session continues the one before."""
    site = bare
    path = site.text("switching.txt")
    sessions = [
        ("stock " * 20, {"ystore_class": STOCK}),
        ("none " * 20, {"ystore_class": OURS}),
        ("zstd " * 120, {"ystore_class": OURS, "compression": "zstd", "pack_every": 100}),
        ("none again " * 20, {"ystore_class": OURS}),
    ]
    wanted, key = "", ""
    history: list[tuple[bytes, bytes | None, float]] = []
    for text, options in sessions:
        site.configure(**options)
        content, key = _session(site, path, text)
        wanted += text
        assert content == wanted
        now = stored.history(site.store, key)
        assert now[: len(history)] == history
        history = now
    assert stored.count(site.store, "SELECT sum(updates) FROM ysegments") >= 100

    pytest.importorskip("click")
    site.run("ypress.cli", "restore", str(site.store))
    with closing(sqlite3.connect(site.store)) as connection:
        rows = connection.execute("SELECT yupdate, metadata, timestamp FROM yupdates ORDER BY rowid").fetchall()
    assert rows == history
    site.configure(ystore_class=STOCK)
    content, _ = _session(site, path, "stock again")
    assert content == wanted + "stock again"


def test_without_compression_values_are_those_of_the_stock_store(bare: Site) -> None:
    path = bare.text("plain.txt")
    bare.configure(ystore_class=OURS)
    _, key = _session(bare, path, "just as it is")
    with closing(sqlite3.connect(bare.store)) as connection:
        rows = [value for (value,) in connection.execute("SELECT yupdate FROM yupdates ORDER BY rowid")]
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert rows == stored.updates(bare.store, key)
    assert "ysegments" not in tables


def test_the_path_that_gives_no_configuration(site: Site) -> None:
    """`get_document` of the server makes the store without ``config``: same file, same options."""
    path = site.text("asked.txt", "hello")
    extension = site.root / "asking.py"
    extension.write_text(
        "import json\n"
        "from jupyter_server.base.handlers import JupyterHandler\n"
        "class Ask(JupyterHandler):\n"
        "    async def get(self):\n"
        "        app = next(iter(self.serverapp.extension_manager.extension_apps['jupyter_server_ydoc']))\n"
        "        wanted = {'path': 'asked.txt', 'content_type': 'file', 'file_format': 'text'}\n"
        "        document = await app.get_document(**wanted, create=True, copy=False)\n"
        "        document.ydoc['source'] += ' from the server ' * 20\n"
        "        room = next(iter(app.ywebsocket_server.rooms.values()))\n"
        "        self.finish(json.dumps([room.ystore.compression, room.ystore.db_path]))\n"
        "def _jupyter_server_extension_points():\n"
        "    return [{'module': 'asking'}]\n"
        "def _load_jupyter_server_extension(app):\n"
        "    app.web_app.add_handlers('.*', [('/ask', Ask)])\n"
    )
    site.environment["PYTHONPATH"] = str(site.root)
    place = str(site.root / "elsewhere" / ".history.db")
    site.configure(ystore_class=OURS, compression="zstd", db_path=place)

    async def look(server: Server) -> None:
        async with server.open(path) as document:
            await eventually(lambda: "from the server" in document.source, "the edit of the server")

    with site.server("--ServerApp.jpserver_extensions={'asking': True}") as server:
        assert server.get("/ask") == ["zstd", place]
        asyncio.run(look(server))
        key = stored.key(server.session(path))
        server.wait_closed()
    assert "from the server" in stored.text(site.root / "elsewhere" / ".history.db", key)
    assert not site.store.exists()
