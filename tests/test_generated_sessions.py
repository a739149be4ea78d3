"""The generated sessions: the same every time, and alike to what real servers store."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import statistics
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from jupyter_ydoc import YNotebook, YUnicode

sessions = pytest.importorskip("sessions")

SMALL = {
    "keystrokes": {"documents": 3, "edits": 600},
    "notebooks": {"documents": 2, "cells": 12},
    "streams": {"prints": 60, "saves": 5, "lines": 80},
}
BENCHES = Path(sessions.__file__).parent.parent

DIGEST = """
import hashlib, json, sys, sessions
sizes = json.loads(sys.argv[2])
print(hashlib.sha256(repr(list(sessions.KINDS[sys.argv[1]](3, **sizes))).encode()).hexdigest())
"""


@pytest.mark.parametrize("kind", list(SMALL))
def test_the_same_seed_gives_the_same_rows_in_every_process(kind: str) -> None:
    import json

    rows = list(sessions.KINDS[kind](3, **SMALL[kind]))
    command = [sys.executable, "-c", DIGEST, kind, json.dumps(SMALL[kind])]
    environment = os.environ | {"PYTHONPATH": str(BENCHES), "PYTHONHASHSEED": "77"}
    digest = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip()
    assert digest == hashlib.sha256(repr(rows).encode()).hexdigest()
    assert rows != list(sessions.KINDS[kind](4, **SMALL[kind]))


@pytest.mark.parametrize("kind", list(SMALL))
def test_a_document_can_be_loaded_from_its_rows(kind: str) -> None:
    documents: dict[str, YNotebook | YUnicode] = {}
    times: dict[str, float] = {}
    for path, update, metadata, timestamp in sessions.KINDS[kind](1, **SMALL[kind]):
        document = documents.setdefault(path, YNotebook() if path.startswith(".notebook:") else YUnicode())
        document.ydoc.apply_update(update)
        assert metadata == b""
        assert timestamp >= times.get(path, 0.0)
        times[path] = timestamp
    for document in documents.values():
        content = document.get()
        assert content["cells"][0]["source"] if isinstance(document, YNotebook) else len(content) > 100


def test_updates_have_the_sizes_that_real_ones_have() -> None:
    typed = [len(row[1]) for row in sessions.keystrokes(1, **SMALL["keystrokes"])]
    run = [len(row[1]) for row in sessions.notebooks(1, documents=4, cells=40)]
    printed = [len(row[1]) for row in sessions.streams(1, **SMALL["streams"])]
    assert 26 <= statistics.median(typed) <= 40
    assert 26 <= statistics.median(run) <= 40
    assert max(run) > 100_000
    assert statistics.median(printed) > 200


@pytest.mark.parametrize("checkpoints", [True, False])
@pytest.mark.parametrize("auto_vacuum", [True, False])
def test_the_file_has_the_schema_of_pycrdt_store(tmp_path: Path, checkpoints: bool, auto_vacuum: bool) -> None:
    rows = list(sessions.keystrokes(1, documents=1, edits=50))
    file = sessions.write_stock_store(tmp_path / "a.db", rows, checkpoints=checkpoints, auto_vacuum=auto_vacuum)
    assert list(sessions.read_stock_rows(file)) == rows
    with closing(sqlite3.connect(file)) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables == {"yupdates", "ycheckpoints"} if checkpoints else {"yupdates"}
        assert db.execute("PRAGMA user_version").fetchone() == (2,)
        assert db.execute("PRAGMA auto_vacuum").fetchone() == (1 if auto_vacuum else 0,)


def test_the_schema_is_what_the_installed_pycrdt_store_makes(tmp_path: Path) -> None:
    import asyncio

    from pycrdt.store import SQLiteYStore

    class Stock(SQLiteYStore):
        db_path = str(tmp_path / "stock.db")

    async def create() -> None:
        async with Stock("a") as store:
            await store.write(b"\x00\x00")

    asyncio.run(create())
    ours = sessions.write_stock_store(tmp_path / "ours.db", [])
    schemas = []
    for file in (tmp_path / "stock.db", ours):
        with closing(sqlite3.connect(file)) as db:
            schema = [
                " ".join(sql.split()) for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")
            ]
            schemas.append((schema, *db.execute("PRAGMA user_version"), *db.execute("PRAGMA auto_vacuum")))
    assert [s.replace("( ", "(").replace(" )", ")") for s in schemas[0][0]] == schemas[1][0]
    assert schemas[0][1:] == schemas[1][1:]
