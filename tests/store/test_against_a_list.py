"""The store against a plain list: whatever is done in whichever order, the history is what was written."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import anyio
import pycrdt
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from pycrdt.store import YDocNotFound

from ypress.maintenance.restore import restore_store
from ypress.maintenance.rewrite import compress_store
from ypress.maintenance.verify import verify_store
from ypress.sqlite import squash
from ypress.sqlite.values import Values

from .support import Ours, Stock, content, history, loaded, make, python, settle, sql, write_all
from .test_locked import failed

ROOT = Path(__file__).parents[2]

OPTIONS = st.sampled_from(
    [
        {"compression": None},
        {"compression": None, "checkpoint_interval": 3},
        {"compression": "zstd", "pack_every": 4, "checkpoint_interval": 5},
        {"compression": "lz4", "pack_every": 2},
        {"compression": "brotli", "pack_history": False, "checkpoint_interval": None},
    ]
)

# Writes the updates that come in as lines, a few at a time, and says which ones are durable; then waits to be killed.
_CHILD = """
import ast, sys, time
import anyio
from tests.store.support import make

db, clock, options = sys.argv[1], float(sys.argv[2]), ast.literal_eval(sys.argv[3])
updates = [bytes.fromhex(line) for line in sys.stdin.readline().split()]
time.time = lambda: clock

async def main():
    async with make(db, metadata=lambda: b"m", **options) as store:
        async def write(update):
            await store.write(update)
            print("durable", flush=True)
        async with anyio.create_task_group() as group:
            for number, update in enumerate(updates):
                group.start_soon(write, update)
                if number % 3 == 2:
                    await anyio.sleep(0.001)
        await anyio.sleep_forever()

anyio.run(main)
"""


async def _everything(store: Any) -> list[tuple[bytes, bytes, float]]:
    return [row async for row in store.read()]


class Store(RuleBasedStateMachine):
    """Each rule is a session, since a hypothesis test has no event loop of its own."""

    def __init__(self) -> None:
        super().__init__()
        place = "/dev/shm" if Path("/dev/shm").is_dir() else None
        self.folder = Path(tempfile.mkdtemp(prefix="ypress-", dir=place))
        self.db = self.folder / "store.db"
        self.written: list[bytes] = []
        self.times: list[float] = []  # the timestamps of what was seen of `written`
        self.stock_wrote = False  # its timestamps follow its clock
        self.clock = 1.7e9
        self.new: list[bytes] = []
        self.start_over()

    def start_over(self) -> None:
        """The document is what was written, and no more."""
        self.doc: Any = pycrdt.Doc(client_id=1)
        for update in self.written:
            self.doc.apply_update(update)
        self.doc.observe(lambda event: self.new.append(event.update))

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def type(self, count: int) -> list[bytes]:
        self.new = []
        text = self.doc.get("text", type=pycrdt.Text)
        for number in range(count):
            text += "abcdefghij"[number % 10] * (1 + 99 * (number % 3 == 0))
        return self.new

    def run(self, session: Any, base: type[Stock] = Ours, **options: Any) -> Any:
        async def main() -> Any:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("time.time", lambda: self.clock)
                async with make(self.db, base=base, metadata=lambda: b"m", **options) as store:
                    return await session(store)

        return anyio.run(main)

    @rule(count=st.integers(1, 12), options=OPTIONS)
    def write(self, count: int, options: dict[str, Any]) -> None:
        updates = self.type(count)

        async def session(store: Any) -> None:
            await write_all(store, updates)
            await settle(store)

        self.run(session, **options)
        self.written += updates

    @rule(count=st.integers(1, 5))
    def stock_code_writes(self, count: int) -> None:
        updates = self.type(count)

        async def session(store: Any) -> None:
            for update in updates:
                await store.write(update)

        # The stock store misses what its clock hides from its checkpoint; as many as we write, it makes none.
        self.run(session, base=Stock, checkpoint_interval=None)
        self.written += updates
        self.stock_wrote = True

    @rule(seconds=st.sampled_from([0.5, 100.0, -3600.0]))
    def step(self, seconds: float) -> None:
        self.clock += seconds

    @precondition(lambda self: self.written)
    @rule(options=OPTIONS)
    def load(self, options: dict[str, Any]) -> None:
        assert self.run(loaded, **options) == str(self.doc.get("text", type=pycrdt.Text))

    @precondition(lambda self: self.written)
    @rule(options=OPTIONS)
    def squash(self, options: dict[str, Any]) -> None:
        async def session(store: Any) -> list[bytes]:
            database, document = store._share.database, store._share.document

            def job(connection: Any) -> None:
                connection.execute("BEGIN IMMEDIATE")
                squash.squash(connection, document, store._share.options, float("inf"))
                connection.execute("COMMIT")

            await anyio.to_thread.run_sync(database.run, job)
            return await history(store)

        after = self.run(session, **options)
        assert len(after) == 1
        assert content(after) == content(self.written)
        self.written = after
        self.times = []

    @rule(count=st.integers(1, 12), options=OPTIONS)
    def room_is_torn_down(self, count: int, options: dict[str, Any]) -> None:
        """Writes are cancelled before they begin, and `stop` is not called."""
        updates = self.type(count)

        async def main() -> None:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("time.time", lambda: self.clock)
                store = make(self.db, metadata=lambda: b"m", **options)
                async with anyio.create_task_group() as server:
                    await server.start(store.start)
                    await store.started.wait()
                    async with anyio.create_task_group() as room:
                        for update in updates:
                            room.start_soon(store.write, update)
                        room.cancel_scope.cancel()
                    server.cancel_scope.cancel()

        anyio.run(main)
        self.written += updates

    @rule(count=st.integers(2, 12), options=OPTIONS, full=st.booleans())
    def write_while_it_cannot_be_stored(self, count: int, options: dict[str, Any], full: bool) -> None:
        """Another connection holds the lock, or the file may not grow; then the fault ends."""
        updates = self.type(count)

        async def session(store: Any) -> None:
            # To be locked, or to have pages, the file must be there.
            await anyio.to_thread.run_sync(store._share.database.run, lambda connection: None)
            other = None
            if full:
                cursor = await store._db.cursor()
                (pages,) = sql(self.db, "PRAGMA page_count")[0]
                await cursor.execute(f"PRAGMA max_page_count = {pages}")
            else:
                other = sqlite3.connect(self.db, isolation_level=None)
                other.execute("BEGIN IMMEDIATE")
            async with anyio.create_task_group() as group:
                for update in updates:
                    group.start_soon(store.write, update)
                if other is not None:
                    await failed(store)
                    other.execute("ROLLBACK")
                    other.close()

        self.run(session, busy_timeout=0.02, **options)
        self.written += updates

    @rule(count=st.integers(1, 20), options=OPTIONS, patience=st.integers(0, 20))
    def killed_while_writing(self, count: int, options: dict[str, Any], patience: int) -> None:
        """What was durable is there; of the rest, as much as had come through, in order."""
        updates = self.type(count)
        with python(_CHILD, self.db, self.clock, options, cwd=ROOT) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(" ".join(update.hex() for update in updates) + "\n")
            process.stdin.flush()
            lines = [process.stdout.readline() for _ in range(min(patience, count))]
            process.kill()
            lines += process.stdout.readlines()
        durable = lines.count("durable\n")
        assert durable >= min(patience, count)

        async def session(store: Any) -> list[bytes]:
            try:
                return await history(store)
            except YDocNotFound:
                return []

        after = self.run(session)
        survived = len(after) - len(self.written)
        assert durable <= survived <= count
        assert after == self.written + updates[:survived]
        self.written = after
        self.start_over()

    @precondition(lambda self: self.written)
    @rule(codec=st.sampled_from(["zstd", "lz4", "brotli", None]), pack=st.booleans())
    def compress(self, codec: str | None, pack: bool) -> None:
        result = compress_store(self.db, Values(compression=codec), pack_history=pack)
        assert result.left == []

    @precondition(lambda self: self.written)
    @rule()
    def restore(self) -> None:
        assert restore_store(self.db).left == []
        rows = sql(self.db, "SELECT yupdate, metadata, timestamp FROM yupdates WHERE path = 'doc' ORDER BY rowid")
        assert [(update, metadata) for update, metadata, _ in rows] == [(update, b"m") for update in self.written]
        assert not sql(self.db, "SELECT name FROM sqlite_master WHERE name LIKE 'ysegments%'")
        self.run(_everything, base=Stock)

    @precondition(lambda self: self.written)
    @invariant()
    def history_is_what_was_written(self) -> None:
        rows = self.run(_everything)
        assert [update for update, _, _ in rows] == self.written
        assert {metadata for _, metadata, _ in rows} == {b"m"}
        times = [time for _, _, time in rows]
        assert times[: len(self.times)] == self.times, "a timestamp that was written has changed"
        assert self.stock_wrote or times == sorted(times)
        self.times = times

    @precondition(lambda self: self.written)
    @rule()
    def verify(self) -> None:
        result = verify_store(self.db, deep=True)
        assert (result.updates, result.damage, result.gaps) == (len(self.written), [], [])

    @precondition(lambda self: self.written)
    @invariant()
    def the_file_is_sound(self) -> None:
        assert sql(self.db, "PRAGMA integrity_check") == [("ok",)]


Store.TestCase.settings = settings(
    max_examples=max(20, settings.default.max_examples // 20), stateful_step_count=20, deadline=None
)
# Processes are killed and locks waited for.
test_store = pytest.mark.timeout(7200)(Store.TestCase)
