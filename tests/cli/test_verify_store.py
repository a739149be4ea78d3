"""``verify``: damage is listed with its place, gaps are found, and repairing keeps all that can be read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pycrdt
import pytest

import sessions
from ypress.maintenance.errors import Refused
from ypress.maintenance.repair import repair_store
from ypress.maintenance.rewrite import compress_store
from ypress.maintenance.verify import verify_store
from ypress.sqlite.opening import open_existing
from ypress.sqlite.rewriting import documents
from ypress.sqlite.values import Values

from .conftest import Run, Said, stock_rows, typed
from .test_compress_store import digest_of, expected_rows

ZSTD = Values(compression="zstd")


def execute(file: Path, *statements: tuple[str, tuple[object, ...]]) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        for statement, values in statements:
            db.execute(statement, values)


@pytest.mark.parametrize("kind", ["keystrokes", "notebooks", "streams"])
def test_sound_stores(made: dict[str, Path], kind: str) -> None:
    content = made[kind].read_bytes()
    found = verify_store(made[kind], deep=True)
    assert (found.damage, found.gaps) == ([], [])
    assert found.updates == len(stock_rows(made[kind]))
    assert made[kind].read_bytes() == content


def test_damage_is_listed_by_document_and_place(store: Path, run: Run) -> None:
    path = stock_rows(store)[0][0]
    execute(
        store,
        ("UPDATE yupdates SET yupdate = x'8205ffff' WHERE rowid = 5", ()),
        ("UPDATE yupdates SET yupdate = x'8200ff' WHERE rowid = 5", ()),
        ("UPDATE yupdates SET yupdate = NULL WHERE rowid = 7", ()),
        ("INSERT INTO ycheckpoints VALUES (?, x'820001', 1.0)", (path,)),
    )
    found = verify_store(store)
    assert {(damage.path, damage.place) for damage in found.damage} == {
        (path, "checkpoint"),
        (path, "row 5"),
        (path, "row 7"),
    }
    done = run("verify", store)
    assert done.returncode == 1
    assert "row 5" in done.stdout
    assert "verify --repair` moves it aside" in done.stdout
    parsed = json.loads(run("verify", store, "--json").stdout)
    assert len(parsed["damage"]) == 3


def test_gaps(folder: Path, run: Run) -> None:
    rows = typed(20)
    file = sessions.write_stock_store(folder / "gaps.db", [*rows[:5], *rows[8:]])
    found = verify_store(file)
    assert [(gap.first, gap.end, gap.awaited) for gap in found.gaps] == [(5, 8, True)]
    assert run("verify", file).returncode == 1
    assert run("verify", file, "--ignore-gaps").returncode == 0


def test_what_is_no_update_shows_when_replayed(folder: Path) -> None:
    file = sessions.write_stock_store(folder / "text.db", [*typed(3), ("a", b"no update at all", b"", 2000.0)])
    assert verify_store(file).damage == []
    assert [damage.place for damage in verify_store(file, deep=True).damage] == ["row 4"]


def test_a_hole_between_segments(folder: Path) -> None:
    file = sessions.write_stock_store(folder / "hole.db", typed(50))
    compress_store(file, ZSTD)
    rows = typed(80)[60:]
    other = sessions.write_stock_store(folder / "other.db", rows)
    compress_store(other, ZSTD)
    with closing(sqlite3.connect(other)) as db:
        segment = db.execute("SELECT * FROM ysegments").fetchone()
    execute(file, ("INSERT INTO ysegments VALUES (?, 60, ?, ?, ?, ?, ?)", (segment[0], *segment[2:])))
    found = verify_store(file)
    assert [(damage.place, "50 to 59" in damage.reason) for damage in found.damage] == [("before segment 60", True)]
    repair_store(file, found)
    again = verify_store(file)
    assert (again.damage, again.updates) == ([], 70)


def test_a_checkpoint_that_lacks_something(folder: Path) -> None:
    rows = typed(30)
    file = sessions.write_stock_store(folder / "short.db", rows)
    doc: pycrdt.Doc[object] = pycrdt.Doc()
    for row in rows[:10]:
        doc.apply_update(row[1])
    execute(
        file,
        ("CREATE TABLE ypositions (path TEXT PRIMARY KEY, first INTEGER DEFAULT 0, covered INTEGER)", ()),
        ("INSERT INTO ycheckpoints VALUES ('a', ?, 1.0)", (doc.get_update(),)),
        ("INSERT INTO ypositions VALUES ('a', 0, 10)", ()),
    )
    assert verify_store(file, deep=True).damage == []
    execute(file, ("UPDATE ypositions SET covered = 20", ()))
    (damage,) = verify_store(file, deep=True).damage
    assert damage.place == "checkpoint"
    assert "lacks" in damage.reason


def test_repairing_moves_aside_what_is_damaged_and_nothing_else(folder: Path, run: Run) -> None:
    rows = typed(40)
    file = sessions.write_stock_store(folder / "rows.db", rows)
    execute(file, ("UPDATE yupdates SET yupdate = x'8200ff' WHERE rowid = 40", ()))
    done = run("verify", "--repair", file)
    assert done.returncode == 1
    assert "row 40: moved aside" in done.stdout
    assert run("verify", "--deep", file).returncode == 0
    assert [row[1] for row in expected_rows(file)] == [row[1] for row in rows[:39]]
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT kind, value FROM yaside").fetchall() == [("update", b"\x82\x00\xff")]
        assert db.execute("SELECT count(*) FROM ycheckpoints").fetchone() == (1,)


def test_what_only_the_checkpoint_has_comes_back_into_the_history(folder: Path) -> None:
    """A segment in the middle is damaged, and the checkpoint covers it: its content is not lost."""
    rows = typed(60)
    file = sessions.write_stock_store(folder / "store.db", rows[:20])
    compress_store(file, ZSTD)
    for start in (20, 40):
        part = sessions.write_stock_store(folder / "part.db", rows[start : start + 20])
        compress_store(part, ZSTD)
        with closing(sqlite3.connect(part)) as db:
            segment = db.execute("SELECT * FROM ysegments").fetchone()
        execute(file, ("INSERT INTO ysegments VALUES (?, ?, ?, ?, ?, ?, ?)", (segment[0], start, *segment[2:])))
    doc: pycrdt.Doc[object] = pycrdt.Doc()
    for row in rows:
        doc.apply_update(row[1])
    execute(
        file,
        ("CREATE TABLE ypositions (path TEXT PRIMARY KEY, first INTEGER DEFAULT 0, covered INTEGER)", ()),
        ("INSERT INTO ycheckpoints VALUES ('a', ?, 1.0)", (doc.get_update(),)),
        ("INSERT INTO ypositions VALUES ('a', 0, 60)", ()),
        ("UPDATE ysegments SET data = substr(data, 1, length(data) - 9) WHERE seq = 20", ()),
    )
    found = verify_store(file, deep=True)
    assert "segment 20" in {damage.place for damage in found.damage}
    repair_store(file, found)
    again = verify_store(file, deep=True)
    assert (again.damage, again.gaps) == ([], [])
    replayed: pycrdt.Doc[object] = pycrdt.Doc()
    for row in expected_rows(file):
        replayed.apply_update(row[1])
    assert str(replayed.get("source", type=pycrdt.Text)) == str(doc.get("source", type=pycrdt.Text))


# Hostile files.


def zeros_in_the_middle(file: Path) -> None:
    content = bytearray(file.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = bytes(4096)
    file.write_bytes(content)


def another_application(file: Path) -> None:
    file.unlink()
    execute(file, ("CREATE TABLE notes (a)", ()))


def another_version(file: Path) -> None:
    execute(file, ("PRAGMA user_version = 3", ()))


def loop(file: Path) -> None:
    file.unlink()
    file.symlink_to(file)


def folder_instead(file: Path) -> None:
    file.unlink()
    file.mkdir()


# Every command, and its options that lead elsewhere.
COMMANDS = (
    "info STORE",
    "info STORE --json",
    "info STORE --html report.html",
    "bench STORE --rounds 1",
    "compress STORE",
    "compress STORE --dry-run",
    "compress STORE --no-pack --was zlib",
    "restore STORE",
    "verify STORE",
    "verify STORE --deep --repair",
    "history a --store STORE",
    "export a --store STORE",
    "export --all --store STORE -o all.zip",
    "delete a --store STORE --yes",
)


def words_of(command: str, store: Path) -> list[str]:
    return [str(store) if word == "STORE" else word for word in command.split()]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda file: file.unlink(), "no such file"),
        (folder_instead, "is a folder"),
        (loop, "loop"),
        (lambda file: file.write_bytes(b""), "empty"),
        (lambda file: file.write_bytes(b"plain text\n" * 1000), "not a SQLite database"),
        (another_application, "not a store"),
        (another_version, "version 3"),
    ],
)
def test_what_is_not_a_store_is_refused_in_one_line(
    store: Path, run: Run, call: Callable[..., Said], spoil: Callable[[Path], object], words: str
) -> None:
    spoil(store)
    for command in COMMANDS:
        done = call(*words_of(command, store))
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1), (command, done)
        assert words in done.stderr
    assert [file.name for file in store.parent.iterdir() if file != store] == []
    whole = run("info", store)
    assert (whole.returncode, whole.stdout, whole.stderr.count("\n")) == (3, "", 1)


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_is_cut_off_or_has_a_page_of_zeros(store: Path, call: Callable[..., Said], packed: bool) -> None:
    path = stock_rows(store)[0][0]
    if packed:
        compress_store(store, ZSTD)
    whole = store.read_bytes()
    for content in (whole[: len(whole) // 2 // 4096 * 4096], whole[: len(whole) // 2 + 99], whole[:1000]):
        for command in COMMANDS:
            store.write_bytes(content)
            done = call(*words_of(command.replace(" a ", f" {path} "), store))
            # It may be that what it reads is in the part that is there.
            assert done.returncode in ((1, 3) if command.startswith("verify") else (0, 3, 4)), (command, done)
            assert done.stderr.count("\n") <= 1 or done.returncode == 0, (command, done)
    store.write_bytes(whole)
    zeros_in_the_middle(store)
    zeroed = store.read_bytes()
    assert call("verify", store, "--deep").returncode == 1
    for command in COMMANDS:
        store.write_bytes(zeroed)
        done = call(*words_of(command.replace(" a ", f" {path} "), store))
        assert done.returncode in ((1, 3, 4) if command.startswith("verify") else (0, 3, 4)), (command, done)
        assert done.stderr.count("\n") <= 1 or done.returncode == 0, (command, done)


STRANGE = ['it\'s "quoted"', "two\nlines\x1b[31m", "x" * 10_000, "", "%_*?", "ä😀"]


def test_strange_path_keys(folder: Path, run: Run) -> None:
    rows = [row for path in STRANGE for row in typed(30, path)]
    file = sessions.write_stock_store(folder / "strange.db", rows)
    execute(
        file,
        ("INSERT INTO yupdates VALUES (CAST(x'ff61fe' AS TEXT), x'0000', x'', 1.0)", ()),
        ("INSERT INTO yupdates VALUES (x'6162', x'0000', x'', 1.0)", ()),
    )
    with closing(open_existing(file)) as connection:
        assert sorted(documents(connection)) == sorted(STRANGE)
    before = digest_of(file)
    for command in ("info", "compress", "verify", "restore"):
        done = run(command, file)
        assert done.returncode == (1 if command == "verify" else 0), (command, done.stderr)
        assert "\x1b" not in done.stdout + done.stderr
        assert digest_of(file) == before
    assert any(damage.place == "path" for damage in verify_store(file).damage)


@pytest.mark.parametrize("path", STRANGE)
def test_a_document_with_a_strange_path_key(folder: Path, call: Callable[..., Said], path: str) -> None:
    others = [path_ for path_ in STRANGE if path_ != path]
    file = sessions.write_stock_store(folder / "strange.db", [row for key in STRANGE for row in typed(9, key)])
    for command in (["history"], ["export", "-o", "a.txt"], ["delete", "--yes"]):
        done = call(*command, "--store", file, "--", path)
        assert done.returncode == 0, (command, done)
        assert "\x1b" not in done.stdout + done.stderr
    assert (folder / "a.txt").read_text() == "abcdefghi"
    with closing(open_existing(file)) as connection:
        assert sorted(documents(connection)) == sorted(others)


def test_a_store_that_is_not_there(folder: Path) -> None:
    with pytest.raises(Refused):
        verify_store(folder / "nothing.db")
