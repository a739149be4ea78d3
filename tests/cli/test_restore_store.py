"""``restore``: exactly the stock store again, from any state, killed at any moment."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import sessions
import ypress
from ypress.maintenance.restore import restore_store
from ypress.maintenance.rewrite import compress_store
from ypress.sqlite.restoring import last_segment, rows_of_last_segment, split_last_segment
from ypress.sqlite.values import Values

from .conftest import Run, insert_rows, stock_rows
from .test_compress_store import command_line, digest_of, killed_again_and_again

ZSTD = Values(compression="zstd")


def by_document(rows: list[sessions.Row]) -> dict[str, list[sessions.Row]]:
    result: dict[str, list[sessions.Row]] = {}
    for row in rows:
        result.setdefault(row[0], []).append(row)
    return result


def schema(file: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(file)) as db:
        return sorted(db.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite%'").fetchall())


@pytest.mark.parametrize("kind", ["keystrokes", "notebooks", "streams"])
def test_the_same_store_again(made: dict[str, Path], folder: Path, kind: str) -> None:
    file = Path(shutil.copy(made[kind], folder / "store.db"))
    before = digest_of(file)
    compress_store(file, ZSTD)
    assert restore_store(file).unpacked == len(stock_rows(made[kind]))
    assert by_document(stock_rows(file)) == by_document(stock_rows(made[kind]))
    assert schema(file) == schema(made[kind])
    assert digest_of(file) == before
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (2,)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    content = file.read_bytes()
    assert restore_store(file).values == 0
    assert stock_rows(file) == stock_rows(file)
    assert len(content) == file.stat().st_size


def test_with_rows_written_since_and_compressed_values(store: Path) -> None:
    rows = stock_rows(store)
    compress_store(store, ZSTD)
    path = rows[0][0]
    late = [(path, ypress.compress(b"late " * 40), None, 2e9), ("other", b"\0\0", b"", 2e9), (path, b"\1\0", b"x", 2e9)]
    insert_rows(store, late)
    restore_store(store)
    expected = by_document([*rows, (path, b"late " * 40, None, 2e9), *late[1:]])
    assert by_document(stock_rows(store)) == expected


@pytest.mark.parametrize("loose", [1, 3000])
def test_in_small_steps_the_order_stays(store: Path, monkeypatch: pytest.MonkeyPatch, loose: int) -> None:
    rows = stock_rows(store)
    compress_store(store, ZSTD)
    late = [(rows[0][0], str(number).encode(), b"", 2e9) for number in range(loose)]
    insert_rows(store, late)
    monkeypatch.setattr("ypress.maintenance.pace.Pace.careful", True)
    restore_store(store)
    assert by_document(stock_rows(store)) == by_document([*rows, *late])


@pytest.mark.parametrize("rebuilt", [False, True])
def test_where_the_rows_begin_is_looked_up_again_when_the_file_was_rebuilt(folder: Path, rebuilt: bool) -> None:
    """Between two steps, rows get new rowids: what was the first row is in the middle then."""
    rows = [("a", b"%d" % number, None, 1000.0 + number) for number in range(40)]
    file = sessions.write_stock_store(folder / "steps.db", rows)
    compress_store(file, ZSTD)
    parts = [(seq, ypress.pack([row[1:] for row in rows[seq : seq + 10]])) for seq in range(0, 40, 10)]
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        whole = last_segment(db, "a")
        assert whole is not None
        split_last_segment(db, "a", whole, parts)
        start = None
        for _ in parts:
            last = last_segment(db, "a")
            assert last is not None
            start = rows_of_last_segment(db, "a", last, list(ypress.unpack(last[1])), start)
            if rebuilt:
                for move in (1000, -1004):
                    db.execute("UPDATE yupdates SET rowid = rowid + ?", (move,))
                db.execute("CREATE TABLE other (a)")  # VACUUM makes such a change of the schema
                db.execute("DROP TABLE other")
        assert last_segment(db, "a") is None
    assert stock_rows(file) == rows


def test_checkpoints_are_what_stock_code_understands(store: Path) -> None:
    rows = stock_rows(store)
    documents = by_document(rows)
    (one, *_), (two, *_), (three, *_) = (list(group) for group in documents.values())
    compress_store(store, ZSTD)
    state = ypress.compress(b"state " * 99)
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("CREATE TABLE ypositions (path TEXT PRIMARY KEY, first INTEGER DEFAULT 0, covered INTEGER)")
        db.executemany("INSERT INTO ycheckpoints VALUES (?, ?, 1.5)", [(row[0], state) for row in (one, two, three)])
        db.executemany("INSERT INTO ypositions VALUES (?, 0, ?)", [(one[0], 10), (two[0], None)])
    assert restore_store(store).checkpoints_removed == 1
    with closing(sqlite3.connect(store)) as db:
        left = db.execute("SELECT path, checkpoint, timestamp FROM ycheckpoints ORDER BY path").fetchall()
    expected = [
        (one[0], b"state " * 99, min(row[3] for row in documents[one[0]][10:])),
        (three[0], b"state " * 99, 1.5),
    ]
    assert left == sorted(expected)


def test_what_cannot_be_read_stops_it_and_is_named(store: Path, run: Run) -> None:
    compress_store(store, ZSTD)
    with closing(sqlite3.connect(store)) as db, db:
        (path,) = db.execute("SELECT path FROM ysegments LIMIT 1").fetchone()
        db.execute("UPDATE ysegments SET data = substr(data, 1, 200) WHERE path = ?", (path,))
    done = run("restore", store)
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert f"{path}, segment 0" in done.stderr
    assert "verify --repair" in done.stderr


def test_too_small_a_disk_is_refused(store: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from ypress.maintenance.errors import Refused

    compress_store(store, ZSTD)
    usage = shutil.disk_usage(store)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=2_000_000))
    with pytest.raises(Refused, match="make room"):
        restore_store(store)


def test_the_command(store: Path, run: Run) -> None:
    rows = stock_rows(store)
    compress_store(store, ZSTD)
    done = run("restore", store)
    assert done.returncode == 0
    assert "a stock store" in done.stdout
    assert by_document(stock_rows(store)) == by_document(rows)
    assert json.loads(run("restore", store, "--json").stdout)["unpacked"] == 0


def test_killed_at_any_moment_nothing_is_lost(store: Path, long_rounds: bool) -> None:
    command, reverse = command_line("restore", store), command_line("compress", store, "--force")
    compress_store(store, ZSTD)
    killed_again_and_again(store, command, reverse, 50 if long_rounds else 4, seed=2)
