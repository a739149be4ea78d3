"""Stores made for the tests of the command line, and a way to run it as a user does."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pycrdt
import pytest

import sessions

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: these tests commit often."""
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="ypress-", dir=place) as name:
        yield Path(name)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A small store of each kind; to be copied."""
    base = tmp_path_factory.mktemp("made")
    sizes = {
        "keystrokes": {"documents": 3, "edits": 3000},
        "notebooks": {"documents": 2, "cells": 12},
        "streams": {"prints": 120, "saves": 12},
    }
    return {
        kind: sessions.write_stock_store(base / f"{kind}.db", make(7, **sizes[kind]))
        for kind, make in sessions.KINDS.items()
    }


@pytest.fixture
def store(made: dict[str, Path], folder: Path) -> Path:
    """A copy of the store of keystrokes."""
    return Path(shutil.copy(made["keystrokes"], folder / "store.db"))


@pytest.fixture
def run(folder: Path) -> Run:
    """Runs the command line with arguments in a process of its own, with no Jupyter configuration."""

    def run(*arguments: object, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ypress.cli", *map(str, arguments)]
        clean = {
            **os.environ,
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_NO_CONFIG": "1",
            **environment,
        }
        clean.pop("COLUMNS", None)
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=folder, env=clean, input=stdin, timeout=110
        )

    return run


@dataclass(frozen=True)
class Said:
    """What a command did."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def call(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """As `run`, but in this process, which is much faster."""
    monkeypatch.chdir(folder)
    for name, value in (("CONFIG_DIR", "config"), ("DATA_DIR", "data"), ("NO_CONFIG", "1")):
        monkeypatch.setenv(f"JUPYTER_{name}", value if name == "NO_CONFIG" else str(folder / value))

    def call(*arguments: object) -> Said:
        from ypress.cli.group import cli

        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main([str(argument) for argument in arguments], prog_name="ypress")
        said = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return Said(code, said.out, said.err)

    return call


def stock_rows(file: Path) -> list[sessions.Row]:
    """The rows of a store in the order of their rowids."""
    return list(sessions.read_stock_rows(file))


def insert_rows(file: Path, rows: list[sessions.Row]) -> None:
    """Add rows as stock code does."""
    with closing(sqlite3.connect(file)) as db, db:
        db.executemany("INSERT INTO yupdates VALUES (?, ?, ?, ?)", rows)


def typed(count: int, path: str = "a") -> list[sessions.Row]:
    """A text to which one letter after the other was added."""
    doc: pycrdt.Doc[object] = pycrdt.Doc()
    text = doc.get("source", type=pycrdt.Text)
    rows: list[sessions.Row] = []
    doc.observe(lambda event: rows.append((path, event.update, b"", 1000.0 + len(rows))))
    for number in range(count):
        text += chr(97 + number % 26)
    return rows
