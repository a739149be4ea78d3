"""Runs that end early, by a key or by a lock that stays: the store is intact, and the next run goes on."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import sessions
from ypress.maintenance.errors import Stopped
from ypress.maintenance.restore import restore_store
from ypress.maintenance.rewrite import Progress, compress_store
from ypress.sqlite.values import Values

from .conftest import Run, stock_rows
from .test_compress_store import digest_of

ZSTD = Values(compression="zstd")

# The command line, to which Control-C comes after the first transaction, or in the middle of the second.
INTERRUPTED = """
import os, signal, sys
import ypress.cli.group as group
import ypress.maintenance.pace as pace

# What is started in the background may be told to ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
middle = sys.argv.pop(1) == "middle"
original = pace.Pace.run
runs = 0

def run(self, work, rows=0):
    global runs
    runs += 1

    def interrupted():
        if runs == 2:
            if middle:
                signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGINT))
                signal.setitimer(signal.ITIMER_REAL, 0.001)
            else:
                os.kill(os.getpid(), signal.SIGINT)
        return work()

    return original(self, interrupted, rows)

pace.Pace.run = run
group.cli.main(prog_name="ypress")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Control-C goes to a whole console there")
@pytest.mark.parametrize("when", ["between", "middle"])
@pytest.mark.parametrize("command", ["compress", "restore"])
def test_control_c(store: Path, run: Run, command: str, when: str) -> None:
    before = digest_of(store)
    if command == "restore":
        compress_store(store, ZSTD)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, when, command, str(store)],
        env={**os.environ, "JUPYTER_NO_CONFIG": "1"},
        cwd=store.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    # There is a line break first, since a terminal shows the key.
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nerror: interrupted\n"), done
    assert digest_of(store) == before
    with closing(sqlite3.connect(store)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert run(command, store).returncode == 0
    assert digest_of(store) == before
    assert (stock_rows(store) == []) == (command == "compress")


@pytest.mark.parametrize("command", ["compress", "restore"])
def test_a_lock_that_comes_on_the_way_and_stays(store: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    def work(tell: Progress) -> None:
        if command == "compress":
            compress_store(store, ZSTD, progress=tell)
        else:
            restore_store(store, progress=tell)

    before = digest_of(store)
    if command == "restore":
        compress_store(store, ZSTD)
    monkeypatch.setattr("ypress.maintenance.opening.BUSY_TIMEOUT", 0.05)
    monkeypatch.setattr("ypress.maintenance.pace._PATIENCE", 0.2)
    with closing(sqlite3.connect(store, isolation_level=None, check_same_thread=False)) as other:

        def lock(*_: int) -> None:
            if not other.in_transaction:
                other.execute("BEGIN IMMEDIATE")

        with pytest.raises(Stopped, match="another process has held the file for long; run it again later"):
            work(lock)
        other.execute("ROLLBACK")
    assert digest_of(store) == before
    work(lambda *_: None)
    assert digest_of(store) == before


def test_a_disk_without_room_to_rebuild(
    made: dict[str, Path], folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = stock_rows(made["keystrokes"])
    file = sessions.write_stock_store(folder / "old.db", rows, checkpoints=False, auto_vacuum=False)
    before = digest_of(file)
    usage = shutil.disk_usage(file)
    monkeypatch.setattr("ypress.maintenance.room.refuse_without_room", lambda file, known: True)
    monkeypatch.setattr("ypress.maintenance.room.shutil.disk_usage", lambda place: usage._replace(free=900_000))
    monkeypatch.setattr("ypress.maintenance.rewrite.refuse_without_room", lambda file, known: True)
    result = compress_store(file, ZSTD)
    assert not result.vacuumed
    assert result.note is not None
    assert "will be used again" in result.note
    assert "make room and run this again" in result.note
    assert digest_of(file) == before
    monkeypatch.undo()
    done = run("compress", file, "--force")
    assert "the file was rebuilt" in done.stdout, done
    assert file.stat().st_size < usage.total
    assert digest_of(file) == before
