"""The store against a plain list: whatever is done in whichever order, the history is what was written."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import anyio
import pycrdt
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ypress.sqlite import squash

from .support import Ours, Stock, content, history, loaded, make, settle, sql, write_all

OPTIONS = st.sampled_from(
    [
        {"compression": None},
        {"compression": None, "checkpoint_interval": 3},
        {"compression": "zstd", "pack_every": 4, "checkpoint_interval": 5},
        {"compression": "lz4", "pack_every": 2},
        {"compression": "brotli", "pack_history": False, "checkpoint_interval": None},
    ]
)


class Store(RuleBasedStateMachine):
    """Each rule is a session, since a hypothesis test has no event loop of its own."""

    def __init__(self) -> None:
        super().__init__()
        place = "/dev/shm" if Path("/dev/shm").is_dir() else None
        self.folder = Path(tempfile.mkdtemp(prefix="ypress-", dir=place))
        self.db = self.folder / "store.db"
        self.written: list[bytes] = []
        self.squashed = ""  # the content of what is ahead of `written`
        self.clock = 1.7e9
        self.doc: Any = pycrdt.Doc(client_id=1)
        self.doc.observe(lambda event: self.new.append(event.update))
        self.new: list[bytes] = []

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def type(self, count: int) -> list[bytes]:
        self.new = []
        text = self.doc.get("text", type=pycrdt.Text)
        for number in range(count):
            text += "abcdefghij"[number % 10] * (1 + 40 * (number % 3 == 0))
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

    @precondition(lambda self: self.written)
    @invariant()
    def history_is_what_was_written(self) -> None:
        assert self.run(history) == self.written

    @precondition(lambda self: self.written)
    @invariant()
    def the_file_is_sound(self) -> None:
        assert sql(self.db, "PRAGMA integrity_check") == [("ok",)]


Store.TestCase.settings = settings(
    max_examples=max(12, settings.default.max_examples // 20), stateful_step_count=15, deadline=None
)
test_store = Store.TestCase
