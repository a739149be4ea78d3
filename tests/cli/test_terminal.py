"""What is printed where: into terminals narrow and wide, without colours, into a pipe; and numbers in sentences."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path

import pytest

import sessions
from ypress.cli.output import size
from ypress.maintenance.reading import values_for
from ypress.maintenance.rewrite import compress_store
from ypress.words import counted

from .conftest import Run, stock_rows, typed
from .terminal import COLOUR, ESCAPE, in_terminal, lines

READING = (["info"], ["info", "--long"], ["verify", "--deep"])
PACKING = ["compress", "--force"]


def test_into_a_pipe_it_is_plain_and_narrow(store: Path, run: Run, folder: Path) -> None:
    path = stock_rows(store)[0][0]
    shutil.copy(store, folder / ".jupyter_ystore.db")
    tiny = sessions.write_stock_store(folder / "tiny.db", typed(50))
    bench = ["bench", "--rounds", "1", str(tiny)]
    export = ["export", path, "-o", "a.txt"]
    for command in (*READING, bench, ["history", path], PACKING, ["info"], ["verify"], ["restore"], export):
        done = run(*command, COLUMNS="200", TERM="xterm-256color")
        assert done.returncode == 0, done
        for line in (done.stdout + done.stderr).splitlines():
            assert line.isprintable(), line
            assert len(line) <= 80 or str(tiny) in line, line


@pytest.mark.parametrize("columns", [80, 200])
def test_in_a_terminal_no_line_is_wider_than_it(store: Path, folder: Path, columns: int) -> None:
    path = stock_rows(store)[0][0]
    shutil.copy(store, folder / ".jupyter_ystore.db")
    for command in (*READING, ["history", path], PACKING, ["restore"]):
        for line in lines(in_terminal(folder, *command, columns=columns)):
            assert len(line) <= columns, line


def test_a_bar_while_it_works_and_nothing_of_it_afterwards(store: Path, folder: Path) -> None:
    output = in_terminal(folder, "compress", store.name)
    assert "compressing" in output
    assert "━" in output
    # The line with the bar is taken back before the result is printed.
    assert "\x1b[2K" in output[output.rindex("━") :]
    assert "times smaller" in output[output.rindex("\x1b[2K") :]


def test_the_figures_beside_the_bar(store: Path, folder: Path) -> None:
    """How much is done and saved, and the bytes of the file in a second."""
    before = store.stat().st_size
    saved: list[tuple[int, int, int]] = []
    shutil.copy(store, folder / "other.db")
    compress_store(folder / "other.db", values_for("zstd", None, None), progress=lambda *told: saved.append(told))
    assert saved[-1][0] == saved[-1][1]
    begun = time.monotonic()
    output = lines(in_terminal(folder, "compress", store.name, columns=120))
    seconds = time.monotonic() - begun
    shown = re.findall(r"compressing \S+ +(\d+)% (\S+ \wB)/s, saved (\S+ k?M?B)", "\n".join(output))
    assert [int(percent) for percent, _, _ in shown] == sorted(int(percent) for percent, _, _ in shown)
    percent, rate, in_all = shown[-1]
    assert (percent, in_all) == ("100", size(saved[-1][2]))
    assert 0 < saved[-1][2] < before
    # The whole took longer than that.
    number, unit = rate.split()
    assert float(number) * {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit] > 0.99 * before / seconds


def test_colours_in_a_terminal_unless_they_are_not_wanted(made: dict[str, Path], folder: Path) -> None:
    for name, environment in (("one", {}), ("two", {"NO_COLOR": "1"})):
        shutil.copy(made["keystrokes"], folder / f"{name}.db")
        output = in_terminal(folder, "compress", f"{name}.db", **environment)
        assert "compressing" in output
        assert (COLOUR.search(output) is not None) == (not environment)


def test_a_terminal_that_can_do_nothing(store: Path, folder: Path) -> None:
    for command in ("info", "compress"):
        assert not ESCAPE.search(in_terminal(folder, command, store.name, TERM="dumb"))


def test_all_about_each_document(store: Path, folder: Path, run: Run) -> None:
    """In a wide terminal in a line, else with --long: first and last edit, and what takes the space."""
    document = json.loads(run("info", store, "--json").stdout)["documents"][0]
    assert document["first"] < document["last"]
    wide = in_terminal(folder, "info", store.name, columns=200)
    for head in ("first edit", "last edit", "in rows", "in segments", "checkpoint", "paths, index", "in file", "after"):
        assert head in wide
    narrow = run("info", store).stdout
    assert "first edit" not in narrow.replace("the first edit", "")
    assert "--long" in narrow
    long = run("info", store, "--long").stdout
    rows = f"in rows ({document['rows']:,})"
    for words in ("updates from 2", rows, "paths, index, pages", " raw\n", "after compressing"):
        assert words in long
    run("compress", store)
    packed = run("info", store, "-l").stdout
    assert f"in 1 segment ({document['updates']:,})" in packed
    assert "in rows" not in packed.partition("after compressing")[2]


def test_one_is_not_several(folder: Path, run: Run) -> None:
    assert [counted(1, "update"), counted(0, "update"), counted(2500, "history", "histories")] == [
        "1 update",
        "0 updates",
        "2,500 histories",
    ]
    sessions.write_stock_store(folder / ".jupyter_ystore.db", typed(1, "text:file:one.txt"))
    for command, words in (
        (["info"], "1 update of 1 document"),
        (["verify"], "1 update of 1 document read"),
        (["history", "one.txt"], "one.txt: 1 session\n"),
        (["export", "one.txt"], "made of 1 update\n"),
        (["export", "--all", "-o", "all.zip"], "1 document with"),
        (["bench", "--rounds", "1"], "1 update,"),
        (["restore"], "0 updates unpacked"),
        (["delete", "one.txt", "--yes"], "1 record removed"),
    ):
        done = run(*command)
        assert words in done.stdout + done.stderr
