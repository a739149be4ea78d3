"""The store class itself: its options, where it gets them from, and what it does about faults."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import jupyter_server_ydoc.stores
import pycrdt.store
import pytest
import stored
from jupyter_server.serverapp import ServerApp
from jupyter_ydoc import YUnicode
from pycrdt import Doc
from pycrdt.store import YDocNotFound
from pycrdt.websocket import YRoom
from traitlets import TraitError
from traitlets.config import Config

import ypress
import ypress.store
from ypress.jupyter import SQLiteYStore

KEY = ".file:1.y"


@pytest.fixture
def anyio_backend() -> str:
    """Jupyter's server runs under asyncio."""
    return "asyncio"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def make(file: Path, caplog: pytest.LogCaptureFixture) -> Callable[..., SQLiteYStore]:
    def store(**options: object) -> SQLiteYStore:
        config = Config(SQLiteYStore={"db_path": str(file), "compression": "zstd", **options})
        return SQLiteYStore(path=KEY, config=config, log=logging.getLogger("test"))

    caplog.set_level(logging.INFO)
    return store


def edits(count: int, text: str = "") -> tuple[YUnicode, list[bytes]]:
    """A document into which one letter after the other was typed, and its updates."""
    document = YUnicode(Doc())
    updates: list[bytes] = []
    document.ydoc.observe(lambda event: updates.append(event.update))
    for i in range(count):
        document._ysource += text or str(i % 10)
    return document, updates


async def write_all(store: SQLiteYStore, updates: list[bytes]) -> None:
    async with store:
        for update in updates:
            await store.write(update)


class TestOptions:
    def test_it_is_all_three_classes(self, make: Callable[..., SQLiteYStore]) -> None:
        store = make()
        assert isinstance(store, ypress.store.SQLiteYStore)
        assert isinstance(store, jupyter_server_ydoc.stores.SQLiteYStore)
        assert isinstance(store, pycrdt.store.BaseYStore)
        assert SQLiteYStore.__name__ == "SQLiteYStore"  # the section of the configuration

    def test_every_option_is_a_trait_with_help(self) -> None:
        names = [
            name
            for kind in (ypress.store.SQLiteYStore, pycrdt.store.SQLiteYStore)
            for name, value in vars(kind).items()
            if not name.startswith("_") and not callable(value) and not isinstance(value, property | type)
        ]
        names = [name for name in names if name not in ("version",)]
        assert {"compression", "checkpoint_interval", "cleanup_when_db_size_above"} <= set(names)
        traits = SQLiteYStore.class_traits(config=True)
        assert set(names) <= set(traits)
        assert all(traits[name].help for name in names)

    def test_defaults_are_those_of_the_stock_class(self) -> None:
        store = SQLiteYStore(KEY)
        stock = jupyter_server_ydoc.stores.SQLiteYStore(path=KEY)
        assert store.compression is None
        for name in ("db_path", "document_ttl", "squash_after_inactivity_of", "squash_history_older_than"):
            assert getattr(store, name) == getattr(stock, name)
        for name in ("squash_no_more_often_than", "checkpoint_interval", "cleanup_when_db_size_above"):
            assert getattr(store, name) == getattr(stock, name)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"compression": "gzip"}, "'zstd', 'lz4', 'brotli'"),
            ({"compression": "zstd", "compression_level": 99}, "levels -7 to 19"),
            ({"compression": "lz4", "compression_level": 1}, "lz4 has no levels"),
            ({"compression_level": 3}, "no codec"),
            ({"journal_mode": "fast"}, "'delete', 'truncate', 'persist', 'memory', 'wal'"),
            ({"busy_timeout": -1.0}, "less than 0"),
            ({"pack_every": 0}, "less than 1"),
            ({"compress": "zlib.nothing"}, "cannot be imported"),
            ({"compress": "zlib.ZLIB_VERSION"}, "not callable"),
            ({"decompress": 5}, "not callable"),
        ],
    )
    def test_wrong_values_are_refused(self, options: dict[str, object], message: str) -> None:
        with pytest.raises(TraitError, match=message):
            SQLiteYStore(path=KEY, config=Config(SQLiteYStore=options))

    def test_callbacks_by_their_dotted_paths(self, make: Callable[..., SQLiteYStore], file: Path) -> None:
        store = make(compress="zlib.compress", decompress="zlib.decompress", pack_history=False)
        _, updates = edits(20, "the same words again ")
        anyio.run(write_all, store, updates)
        with closing(sqlite3.connect(file)) as connection:
            rows = [value for (value,) in connection.execute("SELECT yupdate FROM yupdates")]
        assert [zlib.decompress(row) for row in rows] == updates
        assert stored.updates(file, KEY) == updates


class TestWithoutConfiguration:
    """One of the server's paths makes the store without ``config``."""

    @pytest.fixture
    def server(self, file: Path) -> Iterator[ServerApp]:
        server = ServerApp.instance()
        server.config.SQLiteYStore.db_path = str(file)
        server.config.SQLiteYStore.compression = "brotli"
        yield server
        ServerApp.clear_instance()

    def test_it_takes_that_of_the_running_server(self, server: ServerApp, file: Path) -> None:
        store = SQLiteYStore(path=KEY, log=server.log)
        assert (store.db_path, store.compression, store.log) == (str(file), "brotli", server.log)

    def test_what_is_given_counts(self, server: ServerApp) -> None:
        assert SQLiteYStore(path=KEY, config=Config(SQLiteYStore={"compression": "lz4"})).compression == "lz4"
        assert SQLiteYStore(path=KEY, parent=server, compression="zstd").compression == "zstd"

    def test_without_a_server(self) -> None:
        assert SQLiteYStore(path=KEY).db_path == ".jupyter_ystore.db"


class TestRooms:
    # A room that is torn down leaves its streams to the garbage collector.
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    def test_what_a_room_has_not_written_when_it_is_torn_down(
        self, make: Callable[..., SQLiteYStore], file: Path
    ) -> None:
        async def main() -> None:
            store = make()
            room = YRoom(ready=False, ystore=store)
            ended = asyncio.create_task(room.start())
            await store.started.wait()
            with pytest.raises(YDocNotFound):
                await store.apply_updates(room.ydoc)
            room.ready = True
            if hasattr(room, "ydoc_observed"):  # older rooms observe when they are set ready
                await room.ydoc_observed.wait()
            document = YUnicode(room.ydoc)
            for i in range(500):
                document._ysource += str(i % 10)
            await room.stop()
            # A room with updates left to write may end with an error of its own.
            await asyncio.wait([ended])
            ended.exception()

        anyio.run(main)
        gc.collect()
        assert stored.text(file, KEY) == "0123456789" * 50

    def test_opening_without_an_edit_stores_nothing(self, make: Callable[..., SQLiteYStore], file: Path) -> None:
        async def main() -> None:
            await write_all(make(), edits(3)[1])
            for _ in range(5):
                document = YUnicode(Doc())
                document.path = "a.txt"
                async with make() as store:
                    await store.apply_updates(document.ydoc)
                    assert document.get() == "012"

        anyio.run(main)
        assert len(stored.updates(file, KEY)) == 3

    @pytest.mark.parametrize("pause", [1.0, 0.0])
    def test_what_a_room_sets_before_it_records(
        self, make: Callable[..., SQLiteYStore], file: Path, pause: float
    ) -> None:
        """As in jupyter-server-ydoc 2 at every opening: on its own it is not stored; when there is more, it is."""

        async def visit(edit: str) -> None:
            document = YUnicode(Doc())
            document.path = "a.txt"
            async with make() as store:
                await store.apply_updates(document.ydoc)
                document.dirty = False
                await asyncio.sleep(pause)
                if edit:
                    updates: list[bytes] = []
                    document.ydoc.observe(lambda event: updates.append(event.update))
                    document._ysource += edit
                    for update in updates:
                        await store.write(update)

        async def main() -> None:
            await write_all(make(), edits(3)[1])
            for _ in range(5):
                await visit("")
            count = len(stored.updates(file, KEY))
            # Who leaves at once may have edited.
            assert count == 3 if pause else count >= 3
            await visit("and more")
            # Without gaps: ahead of the edit is what it builds upon.
            clocks = ypress._native.Clocks()
            assert all(clocks.add(update) for update in stored.updates(file, KEY))

        anyio.run(main)
        assert stored.text(file, KEY) == "012and more"


class TestFaults:
    def test_damage(self, make: Callable[..., SQLiteYStore], file: Path, caplog: pytest.LogCaptureFixture) -> None:
        """The document opens from its file, its records are moved aside, and it is stored anew."""
        anyio.run(write_all, make(pack_history=False, checkpoint_interval=None), edits(10)[1])
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("UPDATE yupdates SET yupdate = x'8200ffff' WHERE rowid = 5")

        async def main() -> None:
            async with make() as store:
                doc: Doc = Doc()
                with pytest.raises(YDocNotFound):
                    await store.apply_updates(doc)
                document = YUnicode(doc)
                document.set("from the file")
                await store.encode_state_as_update(doc)

        anyio.run(main)
        assert stored.text(file, KEY) == "from the file"
        assert stored.count(file, "SELECT count(*) FROM yaside WHERE kind = 'update'") == 10
        assert f"document {KEY} opens from its file" in caplog.text
        assert "jupyter ypress verify" in caplog.text

    def test_damage_in_a_timeline(
        self, make: Callable[..., SQLiteYStore], file: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        _, updates = edits(10)
        anyio.run(write_all, make(pack_history=False), updates)
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("UPDATE yupdates SET yupdate = x'8200ffff' WHERE rowid = 5")

        async def main() -> list[bytes]:
            async with make() as store:
                return [update async for update, _, _ in store.read()]

        assert anyio.run(main) == updates[:4] + updates[5:]
        assert "a part of the history is left out" in caplog.text

    def test_a_locked_store_is_waited_for(self, make: Callable[..., SQLiteYStore], file: Path) -> None:
        anyio.run(write_all, make(), edits(10)[1])

        async def main() -> None:
            with closing(sqlite3.connect(file, check_same_thread=False)) as other:
                other.execute("BEGIN EXCLUSIVE")
                async with make(busy_timeout=0.1) as store, anyio.create_task_group() as group:

                    async def unlock() -> None:
                        await anyio.sleep(1)
                        other.rollback()

                    group.start_soon(unlock)
                    document = YUnicode(Doc())
                    await store.apply_updates(document.ydoc)
                    assert document.get() == "0123456789"

        anyio.run(main)

    def test_a_store_that_stays_locked(
        self, make: Callable[..., SQLiteYStore], file: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The document opens from its file. Its content is not there twice later, and the history is kept."""
        anyio.run(write_all, make(), edits(10)[1])

        async def main() -> None:
            with closing(sqlite3.connect(file)) as other:
                other.execute("BEGIN EXCLUSIVE")
                async with make(busy_timeout=0.1, load_timeout=0.5) as store:
                    document = YUnicode(Doc())
                    with pytest.raises(YDocNotFound):
                        await store.apply_updates(document.ydoc)
                    document.set("0123456789")
                    with anyio.fail_after(30):  # the room waits for this before anybody sees the document
                        await store.encode_state_as_update(document.ydoc)
                    document._ysource += ", and more"
                    other.rollback()
                    await store.encode_state_as_update(document.ydoc)
            async with make() as store:
                document = YUnicode(Doc())
                await store.apply_updates(document.ydoc)
                assert document.get() == "0123456789, and more"

        anyio.run(main)
        assert stored.count(file, "SELECT count(*) FROM yaside WHERE kind IN ('update', 'segment')") > 0
        assert "Another process has had the store locked" in caplog.text
        assert "What was stored is moved aside" in caplog.text

    def test_opened_again_while_it_is_still_locked(self, make: Callable[..., SQLiteYStore], file: Path) -> None:
        """What waits to be stored in place of the old history is the document; the old history is not added to it."""
        anyio.run(write_all, make(), edits(10)[1])

        async def main() -> None:
            with closing(sqlite3.connect(file)) as other:
                other.execute("BEGIN EXCLUSIVE")
                async with make(busy_timeout=0.1, load_timeout=0, stop_timeout=0.1) as store:
                    document = YUnicode(Doc())
                    with pytest.raises(YDocNotFound):
                        await store.apply_updates(document.ydoc)
                    document.set("anew")
                    await store.encode_state_as_update(document.ydoc)
                async with make(busy_timeout=0.1, load_timeout=0, stop_timeout=0.1) as store:
                    document = YUnicode(Doc())
                    await store.apply_updates(document.ydoc)
                    assert document.get() == "anew"
                other.rollback()
            async with make() as store:
                document = YUnicode(Doc())
                await store.apply_updates(document.ydoc)
                assert document.get() == "anew"

        anyio.run(main)

    def test_a_file_that_is_no_store(
        self, make: Callable[..., SQLiteYStore], file: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        file.write_bytes(b"this is no database at all" * 100)

        async def main() -> None:
            async with make(stop_timeout=0.1) as store:
                with pytest.raises(YDocNotFound):
                    await store.apply_updates(Doc())
                with anyio.move_on_after(0.5):
                    await store.write(b"\0\0")

        anyio.run(main)
        assert "is not a store" in caplog.text
        assert "1 update not stored" in caplog.text  # what stopping says
        assert file.read_bytes().startswith(b"this is no database")
        file.unlink()  # so that it can be stored when it is tried again

    def test_a_folder_that_is_missing_is_made(self, tmp_path: Path) -> None:
        file = tmp_path / "not" / "there" / "store.db"
        config = Config(SQLiteYStore={"db_path": str(file)})
        anyio.run(write_all, SQLiteYStore(path=KEY, config=config), edits(3)[1])
        assert stored.text(file, KEY) == "012"

    def test_an_update_that_is_none(self, make: Callable[..., SQLiteYStore], caplog: pytest.LogCaptureFixture) -> None:
        async def main() -> None:
            async with make() as store:
                wrong: Any = 5
                await store.write(wrong)
                await store.write(wrong)

        anyio.run(main)
        assert caplog.text.count("jupyter ypress verify") == 1  # once a minute

    def test_a_store_that_was_never_started(
        self, make: Callable[..., SQLiteYStore], caplog: pytest.LogCaptureFixture
    ) -> None:
        async def main() -> None:
            store = make()
            await store.write(b"\0\0")
            with pytest.raises(YDocNotFound):
                await store.apply_updates(Doc())

        anyio.run(main)
        assert "YStore not started" in caplog.text


def test_importing_ypress_does_not_import_this() -> None:
    import subprocess
    import sys

    code = "import sys, ypress, ypress.store; print('traitlets' in sys.modules, 'prometheus_client' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.split() == ["False", "False"]
    assert ypress.__version__
