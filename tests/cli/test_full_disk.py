"""A disk that is full at the beginning, and one that gets full on the way: a clear stop, and the store as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ypress.maintenance.restore import restore_store
from ypress.maintenance.rewrite import compress_store
from ypress.maintenance.verify import verify_store
from ypress.sqlite.values import Values

from .conftest import Run, stock_rows
from .test_compress_store import digest_of, expected_rows

ZSTD = Values(compression="zstd")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 6 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if mount is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("making a small disk needs root")
    command = [mount, "-t", "tmpfs", "-o", "size=6m", "none", place]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=False)


def fill(disk: Path, leave: int) -> None:
    """Fill a file system but for so many bytes."""
    ballast = disk / "ballast"
    ballast.unlink(missing_ok=True)
    ballast.write_bytes(b"x" * (shutil.disk_usage(disk).free - leave))


# Runs the command line on a file that may grow by so many pages, as on a disk that others fill meanwhile.
FULL = """
import sys
import ypress.cli.group as group
import ypress.maintenance.opening as opening

pages = int(sys.argv.pop(1))
original = opening.open_existing

def small(file, *, write=False, **options):
    connection = original(file, write=write, **options)
    if write:
        count = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {count + pages}")
    return connection

opening.open_existing = small
group.cli.main(prog_name="ypress")
"""


def run_full(folder: Path, pages: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", FULL, str(pages), *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "JUPYTER_NO_CONFIG": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_too_full_to_begin(made: dict[str, Path], small_disk: Path, run: Run) -> None:
    file = Path(shutil.copy(made["keystrokes"], small_disk / "store.db"))
    before = digest_of(file)
    fill(small_disk, 20_000)
    for command in ("compress", "restore"):
        done = run(command, file)
        assert (done.returncode, done.stderr.count("\n")) == (3, 1), done
        assert "make room" in done.stderr
        assert digest_of(file) == before


def test_compress_on_a_disk_that_gets_full(made: dict[str, Path], small_disk: Path, run: Run) -> None:
    file = Path(shutil.copy(made["keystrokes"], small_disk / "store.db"))
    before = digest_of(file)
    command = (
        "import sys, ypress.maintenance.rewrite as r, ypress.maintenance.errors as e\n"
        "from ypress.sqlite.values import Values\n"
        "r.refuse_without_room = lambda file, known: True\n"
        "try: r.compress_store(sys.argv[1], Values(compression='zstd'))\n"
        "except e.Stopped as error: print(error)\n"
    )
    fill(small_disk, 100_000)
    stopped = subprocess.run([sys.executable, "-c", command, str(file)], capture_output=True, text=True, check=False)
    assert "the disk is full; the store is intact" in stopped.stdout, stopped
    assert digest_of(file) == before
    (small_disk / "ballast").unlink()
    assert run("compress", file).returncode == 0
    assert digest_of(file) == before


@pytest.mark.parametrize("pages", [0, 40])
def test_restore_on_a_disk_that_gets_full(store: Path, folder: Path, run: Run, pages: int) -> None:
    rows, before = stock_rows(store), digest_of(store)
    compress_store(store, ZSTD)
    stopped = run_full(folder, pages, "restore", store)
    assert (stopped.returncode, stopped.stdout, stopped.stderr.count("\n")) == (4, "", 1), stopped
    assert "the disk is full; the store is intact" in stopped.stderr
    assert digest_of(store) == before
    with closing(sqlite3.connect(store)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    restore_store(store)
    assert sorted(stock_rows(store)) == sorted(rows)


@pytest.mark.parametrize("pages", [0, 1])
def test_repair_on_a_disk_that_gets_full(store: Path, folder: Path, run: Run, pages: int) -> None:
    with closing(sqlite3.connect(store)) as db, db:
        (path, rowid) = db.execute("SELECT path, max(rowid) FROM yupdates GROUP BY path LIMIT 1").fetchone()
        # Full pages, so that what moves aside needs new ones.
        broken = b"\x82\0\xff" + os.urandom(9000)
        db.execute("UPDATE yupdates SET yupdate = ? WHERE rowid = ?", (broken, rowid))
    found = verify_store(store).damage
    assert [(damage.path, damage.place) for damage in found] == [(path, f"row {rowid}")]
    readable = [row for row in stock_rows(store) if row[1] != broken]
    stopped = run_full(folder, pages, "verify", "--repair", store)
    assert (stopped.returncode, stopped.stderr.count("\n")) == (4, 1), stopped
    assert "the disk is full; the store is intact" in stopped.stderr
    assert verify_store(store).damage == found
    assert run("verify", "--repair", store).returncode == 1
    assert run("verify", store).returncode == 0
    assert sorted(expected_rows(store)) == sorted(readable)


def test_reading_needs_no_room(made: dict[str, Path], small_disk: Path, run: Run) -> None:
    file = Path(shutil.copy(made["keystrokes"], small_disk / "store.db"))
    fill(small_disk, 0)
    for command in ("verify", "info"):
        assert run(command, file).returncode == 0
    done = run("export", "--all", "-s", file, "-o", small_disk / "all.zip")
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "the archive was not written" in done.stderr
    assert sorted(entry.name for entry in small_disk.iterdir()) == ["ballast", "store.db"]
