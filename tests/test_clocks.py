"""The reader of updates, against the two programs that write them."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pycrdt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ypress._native import Clocks, clock_ranges
from ypress.errors import CorruptData


def state(encoded: bytes) -> dict[int, int]:
    """A state vector in plain numbers."""
    numbers, value, shift = [], 0, 0
    for byte in encoded:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    return dict(zip(numbers[1::2], numbers[2::2], strict=True))


def complete(ranges: list[tuple[int, list[tuple[int, int]]]]) -> dict[int, int]:
    """The clocks behind the last of clients that have all from 0 on; fails for others."""
    assert all(len(parts) == 1 and parts[0][0] == 0 for _, parts in ranges)
    return {client: parts[0][1] for client, parts in ranges}


def edit(doc: pycrdt.Doc[Any], draw: st.DataObject) -> None:
    text, array, map_ = doc.get("t", type=pycrdt.Text), doc.get("a", type=pycrdt.Array), doc.get("m", type=pycrdt.Map)
    xml = doc.get("x", type=pycrdt.XmlFragment)
    scalar = st.one_of(
        st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False), st.text(), st.binary()
    )
    values = st.recursive(scalar, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
    match draw.draw(st.integers(0, 9)):
        case 0:
            where = draw.draw(st.integers(0, len(text))) if str(text).isascii() else 0
            text.insert(where, draw.draw(st.text()))
        case 1 if len(text):
            text.clear()
        case 2 if str(text).isascii() and len(text) > 2:
            text.format(0, 2, {"bold": True})
        case 3:
            text.insert_embed(0, draw.draw(scalar.filter(lambda value: not isinstance(value, bytes))))
        case 4:
            array.extend(draw.draw(st.lists(values, max_size=4)))
        case 5:
            array.insert(0, draw.draw(st.sampled_from([pycrdt.Map, pycrdt.Array, pycrdt.Text]))())
        case 6 if len(array):
            del array[0]
        case 7:
            map_[draw.draw(st.sampled_from("ab"))] = draw.draw(values)
        case 8:
            xml.children.append(pycrdt.XmlElement("p", {"class": "c"}))
        case 9:
            map_["doc"] = pycrdt.Doc()


@given(st.data())
def test_reads_what_pycrdt_writes(draw: st.DataObject) -> None:
    docs: list[pycrdt.Doc[Any]] = [pycrdt.Doc(client_id=client) for client in (1, 2**31)]
    history: list[bytes] = []
    subscriptions = [doc.observe(lambda event: history.append(event.update)) for doc in docs]
    for turn in range(draw.draw(st.integers(1, 8))):
        edit(docs[turn % 2], draw)
        if draw.draw(st.booleans()):
            docs[1].apply_update(docs[0].get_update(docs[1].get_state()))
            docs[0].apply_update(docs[1].get_update(docs[0].get_state()))
    clocks = Clocks()
    for update in history:
        assert clocks.add(update)
    together: pycrdt.Doc[Any] = pycrdt.Doc()
    for update in history:
        together.apply_update(update)
    assert complete(clocks.ranges()) == state(clocks.state_vector()) == state(together.get_state())
    # A whole document, and what of it is missing in a part of its history.
    whole = together.get_update()
    assert complete(clock_ranges(whole)) == state(together.get_state())
    # Of two values set at the same time, who reads both deletes one: that deletion is in nobody's update.
    assert (clocks.missing(whole) or b"\0").startswith(b"\0")
    begun = Clocks()
    for update in history[: len(history) // 2]:
        begun.add(update)
    missing = begun.missing(together.get_update(begun.state_vector()))
    if missing is not None:
        begun.add(missing)
    assert (begun.missing(whole) or b"\0").startswith(b"\0")
    assert begun.ranges() == clocks.ranges()
    for cut in range(len(whole)):
        with pytest.raises(CorruptData):
            clock_ranges(whole[:cut])
    for subscription, doc in zip(subscriptions, docs, strict=True):
        doc.unobserve(subscription)


def test_reads_what_yjs_writes(yjs_folder: Path) -> None:
    made = subprocess.run(["node", "content_kinds.mjs"], cwd=yjs_folder, check=True, capture_output=True, text=True)
    kinds = json.loads(made.stdout)
    assert len(kinds) > 10
    for name, kind in kinds.items():
        expected = {int(client): clock for client, clock in kind["stateVector"].items()}
        assert complete(clock_ranges(base64.b64decode(kind["update"]))) == expected, name


@pytest.mark.parametrize(
    ("update", "ranges"),
    [
        # Two moves in an array of three, as pycrdt 0.12.26 wrote them.
        (
            "0105050008010161017d01880500017d02880501017d03cb0501050283010500cb050005018301050200",
            [(5, [(0, 5)])],
        ),
        # Links, as yrs 0.28 writes them: quotes of an array and of a text, open to one side and to both, and a map's
        # value.
        (
            "010d050008010161017d01880500017d02880501017d03880502017d0404010174016884050402656c840506026c6f2801016d016b"
            "017701762701016d0571756f74650705050105022701016d0274710701050505072701016d046c696e6b070405092701016d03616c"
            "6c073d016101612701016d0466726f6d07350502016100",
            [(5, [(0, 15)])],
        ),
        # ContentJSON: two values, as Yjs wrote arrays before version 13.0.
        ("0101070002010161020131027b7d00", [(7, [(0, 2)])]),
    ],
)
def test_reads_what_earlier_versions_wrote(update: str, ranges: Any) -> None:
    assert clock_ranges(bytes.fromhex(update)) == ranges


def test_a_gap_that_is_skipped_is_a_gap() -> None:
    """pycrdt writes Skip structs into the state of a document that lacks something."""
    history: list[bytes] = []
    doc: pycrdt.Doc[Any] = pycrdt.Doc(client_id=7)
    doc.observe(lambda event: history.append(event.update))
    for key in "abc":
        doc.get("m", type=pycrdt.Map)[key] = 1
    lacking: pycrdt.Doc[Any] = pycrdt.Doc()
    lacking.apply_update(history[0])
    lacking.apply_update(history[2])
    assert clock_ranges(lacking.get_update()) == [(7, [(0, 1), (2, 3)])]
    clocks = Clocks()
    assert [clocks.add(history[0]), clocks.add(history[2])] == [True, False]
    assert clocks.gaps() == [(7, [(1, 2)])]
    assert state(clocks.state_vector()) == {7: 1}
