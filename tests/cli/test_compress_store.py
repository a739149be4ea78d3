"""``compress``: byte identity, small steps beside writers, being killed, full disks, refusals."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import sessions
import ypress
from ypress.maintenance.errors import Refused
from ypress.maintenance.locate import Configuration
from ypress.maintenance.readable import refuse_unreadable
from ypress.maintenance.reading import WAS, values_for
from ypress.maintenance.rewrite import compress_store
from ypress.sqlite.digest import digest
from ypress.sqlite.opening import open_existing
from ypress.sqlite.values import Values

from .conftest import Run, Said, insert_rows, stock_rows, typed

# An environment without Jupyter's configuration.
UNCONFIGURED = {**os.environ, "JUPYTER_NO_CONFIG": "1"}


def digest_of(file: Path, values: Values | None = None) -> str:
    with closing(open_existing(file)) as connection:
        return digest(connection, values)


@pytest.mark.parametrize("kind", ["keystrokes", "notebooks", "streams"])
def test_nothing_but_the_size_changes(made: dict[str, Path], folder: Path, kind: str) -> None:
    file = Path(shutil.copy(made[kind], folder / "store.db"))
    before = digest_of(file)
    first = compress_store(file, Values(compression="zstd"))
    assert first.changed
    assert first.after == file.stat().st_size < first.before / 4
    assert digest_of(file) == before
    content = file.read_bytes()
    assert not compress_store(file, Values(compression="zstd")).changed
    assert file.read_bytes() == content
    compress_store(file, Values(compression="brotli"), level=3)
    assert digest_of(file) == before


@pytest.mark.parametrize("codec", ["zstd", "lz4", "brotli", None])
def test_only_the_values(made: dict[str, Path], folder: Path, codec: str | None) -> None:
    file = Path(shutil.copy(made["streams"], folder / "store.db"))
    before = digest_of(file)
    result = compress_store(file, Values(compression=codec), pack_history=False)
    assert result.segments == 0
    assert digest_of(file) == before
    assert not compress_store(file, Values(compression=codec), pack_history=False).changed
    compress_store(file, Values(), pack_history=False)
    assert stock_rows(file) == stock_rows(made["streams"])


def test_a_dry_run_writes_nothing(store: Path, run: Run) -> None:
    before = store.read_bytes()
    done = run("compress", store, "--dry-run")
    assert (done.returncode, "would be" in done.stdout) == (0, True)
    assert store.read_bytes() == before
    estimated = json.loads(run("compress", store, "--dry-run", "--json").stdout)["after"]
    assert json.loads(run("compress", store, "--json").stdout)["after"] == pytest.approx(estimated, abs=60_000)


def test_what_is_added_later_goes_into_the_last_segment(store: Path) -> None:
    compress_store(store, Values(compression="zstd"))
    rows = stock_rows(store)
    assert rows == []
    with closing(sqlite3.connect(store)) as db:
        (path, end) = db.execute("SELECT path, updates FROM ysegments").fetchone()
    insert_rows(store, [(path, b"\0\0", b"m", 2e9 + n) for n in range(5)])
    before = digest_of(store)
    result = compress_store(store, Values(compression="zstd"))
    assert (result.packed, result.segments) == (5, 1)
    assert digest_of(store) == before
    with closing(sqlite3.connect(store)) as db:
        assert db.execute("SELECT updates FROM ysegments WHERE path = ?", (path,)).fetchall() == [(end + 5,)]


def test_a_checkpoint_stays_valid_and_its_value_is_compressed(store: Path) -> None:
    path = stock_rows(store)[0][0]
    state = b"\0\0" * 5000
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("INSERT INTO ycheckpoints VALUES (?, ?, 5.5)", (path, state))
        db.execute("CREATE TABLE ypositions (path TEXT PRIMARY KEY, first INTEGER DEFAULT 0, covered INTEGER)")
        db.execute("INSERT INTO ypositions VALUES (?, 0, 17)", (path,))
        db.execute(
            "CREATE TRIGGER ypress_deleted AFTER DELETE ON yupdates BEGIN UPDATE ypositions SET covered = NULL "
            "WHERE path = OLD.path; END"
        )
    assert compress_store(store, Values(compression="zstd")).checkpoints == 1
    with closing(sqlite3.connect(store)) as db:
        assert db.execute("SELECT covered FROM ypositions").fetchall() == [(17,)]
        (value,) = db.execute("SELECT checkpoint FROM ycheckpoints").fetchone()
    assert len(value) < 100
    assert ypress.decompress(value) == state


def test_rows_that_cannot_be_read_stay_with_all_that_follow(store: Path) -> None:
    path = stock_rows(store)[0][0]
    with closing(sqlite3.connect(store)) as db, db:
        rowids = [row for (row,) in db.execute("SELECT rowid FROM yupdates WHERE path = ? ORDER BY rowid", (path,))]
        db.execute("UPDATE yupdates SET yupdate = x'8200ff' WHERE rowid = ?", (rowids[100],))
    result = compress_store(store, Values(compression="zstd"))
    assert [(left[0], left[1]) for left in result.left] == [(path, f"row {rowids[100]}")]
    with closing(sqlite3.connect(store)) as db:
        assert db.execute("SELECT updates FROM ysegments WHERE path = ?", (path,)).fetchone() == (100,)
        assert db.execute("SELECT count(*) FROM yupdates WHERE path = ?", (path,)).fetchone() == (len(rowids) - 100,)


# Other writers.


def test_small_steps_where_others_write(store: Path) -> None:
    """Another connection writes all the time: nothing is lost, and it never waits for a transaction of many rows."""
    path = stock_rows(store)[0][0]
    before = stock_rows(store)
    stop, written = threading.Event(), []

    def write() -> None:
        with closing(sqlite3.connect(store, timeout=30, isolation_level=None)) as db:
            while not stop.is_set():
                row = (path, f"\0{len(written)}".encode(), b"live", 2e9 + len(written))
                db.execute("INSERT INTO yupdates VALUES (?, ?, ?, ?)", row)
                written.append(row)
                time.sleep(0.002)

    writer = threading.Thread(target=write)
    writer.start()
    while not written:
        time.sleep(0.001)
    try:
        compress_store(store, Values(compression="zstd"))
    finally:
        stop.set()
        writer.join()
    expected = sessions.write_stock_store(store.with_name("expected.db"), [*before, *written])
    assert len(written) > 1
    assert digest_of(store) == digest_of(expected)


WRITER = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
number = int(sys.argv[3])
print("ready", flush=True)
while True:
    row = (sys.argv[2], b"\\0" + str(number).encode(), b"live", 2e9 + number)
    db.execute("INSERT INTO yupdates VALUES (?, ?, ?, ?)", row)
    print(number, flush=True)
    number += 1
    time.sleep(0.003)
"""


def command_line(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "ypress.cli", *map(str, arguments)]


def killed_again_and_again(store: Path, command: list[str], reverse: list[str], rounds: int, seed: int) -> None:
    """Run a command beside a writer and kill it at random moments; then let it finish, and compare.

    Args:
        store: the file.
        command: what is killed.
        reverse: what makes work for it again, where it was quicker.
        rounds: how often it is killed.
        seed: of chance.
    """
    chance = random.Random(seed)
    copy = Path(shutil.copy(store, store.with_name("copy.db")))
    begun = time.monotonic()
    subprocess.run([str(copy) if word == str(store) else word for word in command], check=True, capture_output=True)
    usual = time.monotonic() - begun
    killed = 0
    rows = expected_rows(store)
    path = rows[0][0]
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(store), path, "0"], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        try:
            while killed < rounds:
                begun = time.monotonic()
                with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as worker:
                    try:
                        worker.wait(usual * chance.uniform(0.3, 1.5))
                    except subprocess.TimeoutExpired:
                        worker.kill()
                        killed += 1
                        continue
                usual = (usual + time.monotonic() - begun) / 2
                subprocess.run(reverse, check=True, capture_output=True)
        finally:
            writer.terminate()
            count = len(writer.stdout.read().split())
    # The last one may have been committed without being told.
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    live = [(path, b"\0" + str(number).encode(), b"live", 2e9 + number) for number in range(count + 1)]
    possible = []
    for length in (count, count + 1):
        expected = sessions.write_stock_store(store.with_name("expected.db"), [*rows, *live[:length]])
        possible.append(digest_of(expected))
    assert digest_of(store) in possible


def expected_rows(store: Path) -> list[sessions.Row]:
    from ypress.sqlite.history import placed_records, read_page
    from ypress.sqlite.layout import layout
    from ypress.sqlite.rewriting import documents

    rows: list[sessions.Row] = []
    with closing(open_existing(store)) as connection:
        for path in documents(connection):
            at = layout(connection, path)
            position: int | None = at.first
            while position is not None:
                page = read_page(connection, path, at, position)
                rows += [(path, *record) for _, record in placed_records(page, path, Values())]
                position = page.next
    return rows


def test_killed_at_any_moment_nothing_is_lost(store: Path, long_rounds: bool) -> None:
    command, reverse = command_line("compress", store, "--force"), command_line("restore", store)
    killed_again_and_again(store, command, reverse, 50 if long_rounds else 4, seed=1)


# Values of other programs.


def compressors() -> dict[str, Callable[[bytes], bytes]]:
    found: dict[str, Callable[[bytes], bytes]] = {
        "zlib": zlib.compress,
        "gzip": gzip.compress,
        "bz2": bz2.compress,
        "lzma": lzma.compress,
        "zlib.decompress": zlib.compress,
    }
    try:
        import brotli

        found["brotli"] = brotli.compress
    except ImportError:
        pass
    try:
        import lz4.block
        import lz4.frame

        found["lz4"] = lz4.frame.compress
        found["lz4-block"] = lz4.block.compress
    except ImportError:
        pass
    try:
        import zstandard

        found["zstd"] = zstandard.ZstdCompressor().compress
    except ImportError:
        pass
    try:
        import numcodecs

        codec = numcodecs.Blosc()
        found["numcodecs:blosc"] = found["numcodecs.Blosc"] = lambda value: bytes(codec.encode(value))
    except ImportError:
        pass
    return found


@pytest.mark.parametrize("was", list(compressors()))
def test_rows_that_other_programs_compressed(made: dict[str, Path], folder: Path, was: str) -> None:
    rows = stock_rows(made["streams"])[:40]
    compress = compressors()[was]
    raw = sessions.write_stock_store(folder / "raw.db", rows)
    theirs = [(path, compress(update), metadata, time) for path, update, metadata, time in rows]
    # Before their callbacks were registered, rows were written as they are.
    file = sessions.write_stock_store(folder / "store.db", [rows[0], *theirs[1:]])
    result = compress_store(file, values_for("zstd", None, was))
    assert (result.left, result.packed) == ([], len(rows))
    assert digest_of(file) == digest_of(raw)


def test_all_that_can_be_named_is_tried() -> None:
    missing = {name for name in WAS if name not in compressors()}
    for name in missing:
        pytest.importorskip({"zstd": "zstandard", "lz4-block": "lz4"}.get(name, name))
    assert not missing
    pytest.importorskip("numcodecs")
    assert {"numcodecs:blosc", "numcodecs.Blosc"} < set(compressors())


def test_every_command_reads_what_other_programs_compressed(folder: Path, call: Callable[..., Said]) -> None:
    rows = typed(40, "text:file:a.txt")
    theirs = [(path, bz2.compress(update), metadata, time) for path, update, metadata, time in rows]
    for command in ("history a", "export a -o a.txt", "verify STORE", "compress STORE", "restore STORE"):
        file = sessions.write_stock_store(folder / "store.db", theirs)
        target = [] if "STORE" in command else ["--store", file]
        words = [str(file) if word == "STORE" else word for word in command.split()]
        assert call(*words, *target, "--was", "bz2").returncode == 0
        if command.startswith("restore"):
            assert stock_rows(file) == rows
        file.unlink()
    assert (folder / "a.txt").read_text() == "abcdefghijklmnopqrstuvwxyzabcdefghijklmn"


def test_a_codec_that_does_not_exist(store: Path, run: Run) -> None:
    done = run("compress", store, "--was", "no.such.thing")
    assert done.returncode == 3
    assert "name one of" in done.stderr


# Refusals.


def test_a_configuration_that_could_not_read_the_result(store: Path) -> None:
    stock = Configuration("pycrdt.store.SQLiteYStore", str(store))
    with pytest.raises(Refused, match="--force"):
        refuse_unreadable(store, stock)
    refuse_unreadable(store, Configuration("ypress.store.SQLiteYStore", str(store)))
    refuse_unreadable(store, Configuration("pycrdt.store.SQLiteYStore", str(store.with_name("other.db"))))
    with pytest.raises(Refused, match="cannot be imported"):
        refuse_unreadable(store, Configuration("no.such.Store", str(store)))


def test_the_command_refuses_unless_forced(store: Path, folder: Path, run: Run) -> None:
    pytest.importorskip("jupyter_core")
    pytest.importorskip("traitlets")
    (folder / "config").mkdir()
    (folder / "config" / "jupyter_server_config.json").write_text(
        json.dumps(
            {"SQLiteYStore": {"db_path": str(store)}, "YDocExtension": {"ystore_class": "pycrdt.store.SQLiteYStore"}}
        )
    )
    before = store.read_bytes()
    done = run("compress", JUPYTER_NO_CONFIG="")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert "--force" in done.stderr
    assert store.read_bytes() == before
    assert run("compress", "--force", JUPYTER_NO_CONFIG="").returncode == 0
    assert store.stat().st_size < len(before) / 4


CHANGING = ("compress", "restore", "verify --repair", "delete --yes")


def damaged(store: Path, command: str) -> list[str]:
    """Damage a store, so that there is something to repair; returns the command line."""
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("UPDATE yupdates SET yupdate = x'8200ff' WHERE rowid = 5")
        (path,) = db.execute("SELECT path FROM yupdates WHERE rowid = 5").fetchone()
    words = command.split()
    return [*words, path, "--store", str(store)] if words[0] == "delete" else [*words, str(store)]


@pytest.mark.parametrize("command", CHANGING)
def test_a_file_that_may_only_be_read(store: Path, command: str) -> None:
    words = damaged(store, command)
    if sys.platform == "win32":
        pytest.skip("permissions work differently")
    store.chmod(0o444)
    store.parent.chmod(0o755)
    # Root may write whatever the mode says.
    program = (
        "import os, sys, ypress.cli.group, ypress.cli as cli, ypress.cli.verify, ypress.cli.delete\n"
        "import ypress.cli.compress, ypress.cli.restore\n"
        "if os.geteuid() == 0: os.seteuid(65534)\n"
        "cli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words], env=UNCONFIGURED, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
    assert "readonly" in done.stderr


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
@pytest.mark.parametrize("command", CHANGING)
def test_a_file_that_stays_locked(
    store: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[..., Said], command: str, lock: str
) -> None:
    words = damaged(store, command)
    monkeypatch.setattr("ypress.maintenance.opening.BUSY_TIMEOUT", 0.1)
    before = store.read_bytes()
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute(f"BEGIN {lock}")
        done = call(*words)
        other.execute("ROLLBACK")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1), done
    assert "locked; " in done.stderr
    assert store.read_bytes() == before


def test_a_file_that_does_not_shrink_by_itself_is_rebuilt(made: dict[str, Path], folder: Path) -> None:
    rows = stock_rows(made["keystrokes"])
    file = sessions.write_stock_store(folder / "old.db", rows, checkpoints=False, auto_vacuum=False)
    before = digest_of(file)
    result = compress_store(file, Values(compression="zstd"))
    assert result.vacuumed
    assert file.stat().st_size < result.before / 8
    assert digest_of(file) == before
