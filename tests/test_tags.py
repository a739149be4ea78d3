"""No update that yrs or Yjs writes begins with a tag, so a tag alone says that ypress wrote a value."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycrdt import Array, Doc, Map, Text, merge_updates

import ypress

edits = st.lists(
    st.tuples(
        st.integers(0, 199),
        st.sampled_from(["insert", "delete", "set", "unset", "nest", "push", "sync"]),
        st.integers(0, 99),
    ),
    max_size=60,
)


def is_raw(update: bytes) -> bool:
    return not (len(update) > 1 and update[0] >= 0x80 and update[1] == 0) and ypress.decompress(update) is update


def edit(doc: Doc[Any], what: str, number: int) -> None:
    text, array, entries = (doc.get(name, type=kind) for name, kind in (("t", Text), ("a", Array), ("m", Map)))
    match what:
        case "insert":
            text.insert(number % (len(text) + 1), "word" * (number % 5 + 1))
        case "delete" if len(text):
            del text[: number % len(text) + 1]
        case "set":
            entries[f"key{number % 5}"] = [None, 1.5, "text", [number], {"a": number}][number % 5]
        case "unset" if f"key{number % 5}" in entries:
            del entries[f"key{number % 5}"]
        case "nest":
            array.append(Map({"source": Text("x" * number), "outputs": Array([number])}))
        case "push":
            array.insert(0, number)


@given(edits=edits, count=st.sampled_from([1, 2, 3, 130, 200]), first=st.sampled_from([0, 1, 120, 2**20, 2**31]))
def test_updates_of_yrs(edits: list[tuple[int, str, int]], count: int, first: int) -> None:
    docs: dict[int, Doc[Any]] = {}
    updates: list[bytes] = [Doc().get_update()]

    def doc_of(client: int) -> Doc[Any]:
        if client not in docs:
            docs[client] = doc = Doc(client_id=first + client)
            doc.observe(lambda event: updates.append(event.update))
        return docs[client]

    merged: Doc[Any] = Doc()
    for client, what, number in edits:
        doc = doc_of(client % count)
        if what == "sync":
            doc.apply_update(doc_of(number % count).get_update(doc.get_state()))
        else:
            edit(doc, what, number)
    for doc in docs.values():
        before = merged.get_state()
        merged.apply_update(doc.get_update())
        updates += [doc.get_update(), merged.get_update(before), merged.get_update()]
    updates.append(merge_updates(*updates))
    assert all(is_raw(update) for update in updates)


@pytest.mark.parametrize("clients", [127, 128, 129, 256, 1000])
def test_a_state_of_many_clients(clients: int) -> None:
    # A state begins with the number of clients: from 128 on with a byte of 0x80 or more.
    doc: Doc[Any] = Doc()
    for client in range(clients):
        other: Doc[Any] = Doc(client_id=client + 1)
        other.get("t", type=Text).insert(0, "x")
        doc.apply_update(other.get_update())
    update = doc.get_update()
    assert (update[0] >= 0x80) == (clients >= 128)
    assert is_raw(update)


@pytest.mark.parametrize(("seed", "clients", "rounds"), [(1, 1, 100), (2, 3, 400), (3, 40, 400), (4, 300, 700)])
def test_updates_of_yjs(yjs_folder: Path, seed: int, clients: int, rounds: int) -> None:
    command = ["node", "make_updates.mjs", str(seed), str(clients), str(rounds)]
    lines = subprocess.run(command, cwd=yjs_folder, check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(lines) > rounds // 2
    for line in lines:
        versions = {name: base64.b64decode(update) for name, update in json.loads(line).items()}
        assert is_raw(versions["v1"])
        assert versions["v2"][0] == 0
        assert is_raw(versions["v2"])
