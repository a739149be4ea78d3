"""``history``, ``export``, ``delete``: one document at a time."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pycrdt
import pytest

import sessions as made_sessions
import ypress
from ypress.maintenance.delete import delete_document
from ypress.maintenance.errors import Refused
from ypress.maintenance.export import export_all, export_document
from ypress.maintenance.history import find_document, sessions
from ypress.maintenance.locate import Names
from ypress.maintenance.rewrite import compress_store
from ypress.sqlite.values import Values

from .conftest import Run, insert_rows, stock_rows, typed

ZSTD = Values(compression="zstd")


@pytest.fixture(params=[False, True], ids=["rows", "packed"])
def diary(request: pytest.FixtureRequest, folder: Path) -> Path:
    """A text of 26 letters: 20 typed at one second each from 1000 on, six an hour later."""
    rows = [(path, update, metadata, time + (3600 if n >= 20 else 0)) for n, (path, update, metadata, time)
            in enumerate(typed(26, "text:file:diary.txt"))]  # fmt: skip
    file = made_sessions.write_stock_store(folder / "diary.db", rows)
    if request.param:
        compress_store(file, ZSTD)
    return file


def test_sessions(diary: Path, run: Run) -> None:
    found = sessions(diary, "text:file:diary.txt")
    assert [(session.first, session.last, session.updates) for session in found] == [
        (1000.0, 1019.0, 20),
        (4620.0, 4625.0, 6),
    ]
    assert len(sessions(diary, "text:file:diary.txt", gap=7200)) == 1
    parsed = json.loads(run("history", "diary", "-s", diary, "--json").stdout)
    assert [session["updates"] for session in parsed["sessions"]] == [20, 6]


def test_text_as_it_is_and_as_it_was(diary: Path, run: Run, folder: Path) -> None:
    path = "text:file:diary.txt"
    assert export_document(diary, path).content == b"abcdefghijklmnopqrstuvwxyz"
    assert export_document(diary, path, at=1002.5).content == b"abc"
    with pytest.raises(Refused, match="nothing was written"):
        export_document(diary, path, at=1.0)
    assert run("export", "diary.txt", "-s", diary, "--at", "1019", "-o", "-").stdout == "abcdefghijklmnopqrst"
    assert run("export", "diary.txt", "-s", diary, "--at", "1970-01-03").returncode == 0
    assert (folder / "diary.txt").read_text() == "abcdefghijklmnopqrstuvwxyz"
    again = run("export", "diary.txt", "-s", diary)
    assert again.returncode == 2
    assert "exists" in again.stderr
    assert run("export", "diary.txt", "-s", diary, "--at", "yesterday").returncode == 2


def test_a_notebook(made: dict[str, Path], folder: Path) -> None:
    from jupyter_ydoc import YNotebook

    file = Path(shutil.copy(made["notebooks"], folder / "store.db"))
    rows = stock_rows(file)
    doc: pycrdt.Doc[object] = pycrdt.Doc()
    for row in rows:
        if row[0] == rows[0][0]:
            doc.apply_update(row[1])
    exported = export_document(file, rows[0][0])
    assert exported.extension == ".ipynb"
    assert json.loads(exported.content) == json.loads(json.dumps(YNotebook(doc).get()))


def test_everything_into_an_archive(made: dict[str, Path], folder: Path, run: Run) -> None:
    rows = stock_rows(made["notebooks"])
    index = export_all(made["notebooks"], folder / "all.zip", names=Names(folder / "none"))
    assert [entry["path"] for entry in index["documents"]] == sorted({row[0] for row in rows})
    with zipfile.ZipFile(folder / "all.zip") as archive:
        assert archive.testzip() is None
        for entry in json.loads(archive.read("index.json"))["documents"]:
            stored = [
                (entry["path"], *record)
                for number in range(entry["segments"])
                for record in ypress.unpack(archive.read(f"{entry['folder']}/{number:04}.segment"))
            ]
            assert stored == [row for row in rows if row[0] == entry["path"]]
            assert json.loads(archive.read(entry["content"]))["cells"]
        segments = [info for info in archive.infolist() if info.filename.endswith(".segment")]
        assert {info.compress_type for info in segments} == {zipfile.ZIP_STORED}
    assert list(folder.glob("*.part")) == []
    done = run("export", "--all", "-s", made["notebooks"], "-o", folder / "no" / "such.zip")
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)


def test_names_that_are_not_clear(folder: Path, run: Run) -> None:
    file = made_sessions.write_stock_store(folder / "store.db", [*typed(2, "a:one"), *typed(2, "a:two")])
    done = run("history", "a", "-s", file)
    assert done.returncode == 3
    assert "a:one; a:two" in done.stderr
    assert "no document" in run("history", "three", "-s", file).stderr
    assert find_document(file, "on", Names(folder / "none")) == "a:one"


def test_a_deleted_document_is_gone(store: Path, run: Run) -> None:
    secret = b"\1secret that nobody shall find again"
    rows = stock_rows(store)
    insert_rows(store, [("secret", secret, secret, 2e9)])
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("INSERT INTO ycheckpoints VALUES ('secret', ?, 1.0)", (secret,))
    assert secret in store.read_bytes()
    refused = run("delete", "secret", "-s", store, stdin="n\n")
    assert refused.returncode == 130
    assert "nothing was removed" in refused.stderr
    assert secret in store.read_bytes()
    assert run("delete", "secret", "-s", store, stdin="y\n").returncode == 0
    assert b"secret" not in store.read_bytes()
    assert stock_rows(store) == rows


def test_deleting_takes_segments_and_what_was_moved_aside(store: Path) -> None:
    path = stock_rows(store)[0][0]
    compress_store(store, ZSTD)
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("CREATE TABLE yaside (path TEXT, value BLOB)")
        db.execute("INSERT INTO yaside VALUES (?, x'00')", (path,))
        others = db.execute("SELECT * FROM ysegments WHERE path <> ?", (path,)).fetchall()
    assert delete_document(store, path).records == 2
    assert path.encode() not in store.read_bytes()
    with closing(sqlite3.connect(store)) as db:
        assert db.execute("SELECT * FROM ysegments").fetchall() == others


def test_help_has_an_example_for_every_command(run: Run) -> None:
    from ypress.cli.group import COMMANDS

    for name in COMMANDS:
        done = run(name, "-h")
        assert done.returncode == 0
        assert "Example: " in done.stdout
