"""Gaps in a client's clocks: that stock histories get them, that ours do not, and which can be closed afterwards.

A session here does what a Jupyter room does: it sets a value in its document, asks for the history, makes the document
from its file where there is none, and from then on records what changes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pycrdt
import pytest
from pycrdt.store import SQLiteYStore, YDocNotFound

from ypress._native import Clocks, clock_ranges
from ypress.sqlite.unrecorded import Unrecorded

Doc = pycrdt.Doc[Any]
Yjs = Callable[..., dict[str, Any]]
ROOTS = {"source": "text", "state": "map"}


class Room:
    """A document as a room has it, before it is loaded."""

    def __init__(self, client: int, path: str = "a.txt") -> None:
        self.ydoc: Doc = pycrdt.Doc(client_id=client)
        self.state = self.ydoc.get("state", type=pycrdt.Map)
        self.source = self.ydoc.get("source", type=pycrdt.Text)
        self.state["path"] = path
        self.updates: list[bytes] = []

    def from_file(self, content: str) -> None:
        file: Doc = pycrdt.Doc(client_id=0)
        file.get("source", type=pycrdt.Text).insert(0, content)
        self.ydoc.apply_update(file.get_update())

    def record(self) -> None:
        self.ydoc.observe(lambda event: self.updates.append(event.update))

    def edit(self, name: str) -> None:
        browser: Doc = pycrdt.Doc(client_id=self.ydoc.client_id + 1000)
        browser.apply_update(self.ydoc.get_update())
        browser.observe(lambda event: self.ydoc.apply_update(event.update))
        browser.get("source", type=pycrdt.Text).insert(0, f"<{name}>")
        self.state["dirty"] = False
        self.source.insert(0, f"[{name}]")


def load(history: list[bytes]) -> Doc:
    doc: Doc = pycrdt.Doc()
    for update in history:
        doc.apply_update(update)
    return doc


def content(doc: Doc) -> dict[str, Any]:
    return {"source": str(doc.get("source", type=pycrdt.Text)), "state": doc.get("state", type=pycrdt.Map).to_py()}


def clocks_of(history: list[bytes]) -> Clocks:
    clocks = Clocks()
    for update in history:
        clocks.add(update)
    return clocks


def kept(
    history: list[bytes], edits: Callable[[Room], None] | None, client: int, *, close: bool = False
) -> list[bytes]:
    """One session with `Unrecorded`: the history after it."""
    room = Room(client)
    for update in history:
        room.ydoc.apply_update(update)
    unrecorded = Unrecorded(room.ydoc, clocks_of(history), close=close)
    written = list(history)

    def write(update: bytes) -> None:
        written.extend([*unrecorded.ahead_of(update), update])

    if not history:
        room.from_file("hello")
        write(room.ydoc.get_update())
    room.record()
    if edits is not None:
        edits(room)
    for update in room.updates:
        write(update)
    return written


async def stock(path: Path, client: int, edits: Callable[[Room], None]) -> list[bytes]:
    """One session with the stock store: the history after it."""
    store = type("Store", (SQLiteYStore,), {"db_path": str(path)})(path="doc")
    room = Room(client)
    async with store:
        try:
            await store.apply_updates(room.ydoc)
        except YDocNotFound:
            room.from_file("hello")
            await store.encode_state_as_update(room.ydoc)
        room.record()
        edits(room)
        for update in room.updates:
            await store.write(update)
        return [update async for update, *_ in store.read()]


async def three_stock_sessions(path: Path, rename: bool = False) -> list[bytes]:
    history: list[bytes] = []
    for client, name in ((11, "one"), (22, "two"), (33, "three")):

        def edits(room: Room, name: str = name) -> None:
            room.edit(name)
            if rename and name != "one":
                room.state["path"] = f"{name}.txt"

        history = await stock(path, client, edits)
    return history


@pytest.mark.anyio
async def test_stock_histories_have_gaps(tmp_path: Path, yjs: Yjs) -> None:
    """pycrdt reads all of it; in the browser, what the later sessions wrote is missing."""
    history = await three_stock_sessions(tmp_path / "store.db")
    assert clocks_of(history).gaps() == [(22, [(0, 1)]), (33, [(0, 1)])]
    assert content(load(history))["source"] == "[three]<three>[two]<two>[one]<one>hello"
    answer = yjs(history, **ROOTS)
    assert set(answer["pending"]) == {"22", "33"}
    assert answer["roots"]["source"] == "<two>[one]<one>hello"
    # A checkpoint that pycrdt makes of it has them too.
    assert set(yjs([load(history).get_update()])["pending"]) == {"22", "33"}


def test_what_is_held_before_loading_is_stored_ahead(yjs: Yjs) -> None:
    history: list[bytes] = []
    for client, name in ((11, "one"), (22, "two"), (33, "three")):
        history = kept(history, lambda room, name=name: room.edit(name), client)  # type: ignore[misc]
    clocks = clocks_of(history)
    assert (clocks.gaps(), clocks.awaited()) == ([], [])
    answer = yjs(history, **ROOTS)
    assert (answer["pending"], answer["pendingDeletes"]) == (None, False)
    assert answer["roots"] == content(load(history))
    assert answer["roots"]["source"] == "[three]<three>[two]<two>[one]<one>hello"


def test_it_costs_one_row_for_a_session_that_writes_and_none_for_others() -> None:
    history = kept([], None, 11)
    assert len(history) == 1, "the whole state, and nothing ahead of it"
    assert kept(history, None, 22) == history
    for client in (33, 44):
        before = len(history)
        history = kept(history, lambda room: room.state.update({"dirty": True}), client)
        assert len(history) == before + 2
        assert len(history[-2]) < 40


def test_loading_again_adds_nothing() -> None:
    history = kept(kept([], None, 11), lambda room: room.edit("two"), 22)
    doc = load(history)
    for _ in range(2):
        for update in history:
            doc.apply_update(update)
        unrecorded = Unrecorded(doc, clocks_of(history))
        doc.get("source", type=pycrdt.Text)
        assert unrecorded.ahead_of(b"\0\0") == []


def test_a_change_between_loading_and_recording_is_found(yjs: Yjs) -> None:
    history = kept([], None, 11)
    doc: Doc = pycrdt.Doc(client_id=22)
    for update in history:
        doc.apply_update(update)
    unrecorded = Unrecorded(doc, clocks_of(history))
    doc.get("source", type=pycrdt.Text).insert(0, "unseen ")
    del doc.get("source", type=pycrdt.Text)[0:2]
    updates: list[bytes] = []
    doc.observe(lambda event: updates.append(event.update))
    doc.get("source", type=pycrdt.Text).insert(0, "seen, ")
    doc.get("source", type=pycrdt.Text).insert(0, "well ")
    for update in updates:
        history += [*unrecorded.ahead_of(update), update]
    assert len(history) == 4
    assert yjs(history, **ROOTS)["pending"] is None
    assert yjs(history, **ROOTS)["roots"] == content(doc)


def test_what_is_no_update_passes() -> None:
    doc: Doc = pycrdt.Doc()
    assert Unrecorded(doc, Clocks()).ahead_of(b"not an update") == []


@pytest.mark.anyio
@pytest.mark.parametrize("ahead", [True, False])
async def test_closing_a_gap_that_nothing_awaits(tmp_path: Path, yjs: Yjs, ahead: bool) -> None:
    history = await three_stock_sessions(tmp_path / "store.db")
    before = content(load(history))
    closing = clocks_of(history).closing()
    assert closing is not None
    closed = [closing, *history] if ahead else [*history, closing]
    assert content(load(closed)) == before
    for stored in (closed, [load(closed).get_update()]):
        answer = yjs(stored, **ROOTS)
        assert (answer["pending"], answer["pendingDeletes"]) == (None, False)
        assert answer["roots"] == before
        assert clocks_of(stored).gaps() == []
    assert clocks_of(closed).closing() is None


@pytest.mark.anyio
async def test_closing_on_load(tmp_path: Path, yjs: Yjs) -> None:
    history = await three_stock_sessions(tmp_path / "store.db")
    assert kept(history, None, 44, close=True) == history
    later = kept(history, lambda room: room.edit("four"), 44, close=True)
    answer = yjs(later, **ROOTS)
    assert answer["pending"] is None
    assert answer["roots"]["source"].startswith("[four]<four>[three]")


@pytest.mark.anyio
async def test_a_gap_that_is_awaited_stays(tmp_path: Path, yjs: Yjs) -> None:
    """A rename in a later session has the value that was set before loading as its neighbour."""
    history = await three_stock_sessions(tmp_path / "store.db", rename=True)
    clocks = clocks_of(history)
    assert clocks.awaited() == clocks.gaps() == [(22, [(0, 1)]), (33, [(0, 1)])]
    assert clocks.closing() is None
    # pycrdt holds the renames back too. Its state lacks them, so such a history must not be replaced by it.
    assert content(load(history))["state"]["path"] == "a.txt"
    assert clock_ranges(load(history).get_update()) != clocks.ranges()
    # The same collected: nothing is pending, but the renames are gone.
    collected = b"\x02\x01\x16\x00\x00\x01\x01\x21\x00\x00\x01\x00"
    answer = yjs([collected, *history], **ROOTS)
    assert answer["pending"] is None
    assert answer["roots"]["state"]["path"] == "a.txt"
    assert content(load([collected, *history])) == answer["roots"]


def item(client: int, parent: str, key: str | None) -> bytes:
    """One deleted item at clock 0, without neighbours, in a root type."""
    name = bytes([1, len(parent)]) + parent.encode()
    sub = b"" if key is None else bytes([len(key)]) + key.encode()
    return bytes([1, 1, client, 0, 0x01 if key is None else 0x21]) + name + sub + bytes([1, 0])


@pytest.mark.anyio
async def test_a_placeholder_needs_a_parent_that_nothing_tells(tmp_path: Path, yjs: Yjs) -> None:
    """A deleted item instead of a collected one keeps its neighbours, where its parent and key are guessed right.

    Guessed wrong, the content turns up elsewhere, and nothing in the history says which it was.
    """
    history = await three_stock_sessions(tmp_path / "store.db", rename=True)

    def with_items(parent: str, key: str | None) -> dict[str, Any]:
        answer = yjs([item(22, parent, key), item(33, parent, key), *history], **ROOTS)
        assert answer["pending"] is None
        roots: dict[str, Any] = answer["roots"]
        return roots

    assert with_items("state", "path")["state"]["path"] == "three.txt"
    wrong = with_items("state", "other")["state"]
    assert (wrong["path"], wrong["other"]) == ("a.txt", "three.txt")


@pytest.mark.anyio
async def test_a_placeholder_in_a_map_may_hide_a_value(tmp_path: Path, yjs: Yjs) -> None:
    """Even where the key is known: a deleted item that nothing follows is its last one, and removes the value."""
    history = await three_stock_sessions(tmp_path / "store.db")
    answer = yjs([item(22, "state", "path"), item(33, "state", "path"), *history], **ROOTS)
    assert answer["pending"] is None
    assert "path" not in answer["roots"]["state"]


def test_lost_typing_cannot_be_closed(yjs: Yjs) -> None:
    """Text in a gap carries the text behind it: collected, it takes that along."""
    updates: list[bytes] = []
    doc: Doc = pycrdt.Doc(client_id=7)
    doc.observe(lambda event: updates.append(event.update))
    for character in "abcdef":
        text = doc.get("source", type=pycrdt.Text)
        text.insert(len(text), character)
    history = [*updates[:2], *updates[3:]]
    assert clocks_of(history).closing() is None
    answer = yjs([*history, b"\x01\x01\x07\x02\x00\x01\x00"], **ROOTS)
    assert (answer["pending"], answer["roots"]["source"]) == (None, "ab")
