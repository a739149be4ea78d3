"""``info``: figures that add up, names, sorting, JSON."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

import sessions
from ypress.maintenance.inspect import inspect
from ypress.maintenance.locate import Names

from .conftest import Run, typed


@pytest.mark.parametrize("kind", ["keystrokes", "notebooks", "streams"])
def test_the_parts_add_up_to_the_file(made: dict[str, Path], kind: str) -> None:
    report = inspect(made[kind])
    assert report.facts.size == made[kind].stat().st_size
    assert 0 <= report.facts.used - report.total("size") < len(report.documents)
    with closing(sqlite3.connect(made[kind])) as db:
        rows, raw, first, last = db.execute(
            "SELECT count(*), total(length(yupdate)) + total(length(metadata)), min(timestamp), max(timestamp) "
            "FROM yupdates"
        ).fetchone()
    assert (report.total("updates"), report.total("raw")) == (rows, raw)
    assert min(d.statistics.first or 0.0 for d in report.documents) == first
    assert max(d.statistics.last or 0.0 for d in report.documents) == last
    assert sum(sum(d.statistics.hours.values()) for d in report.documents) == raw
    assert report.estimated < report.facts.size / 4


def test_a_document_has_the_name_of_its_file(store: Path, folder: Path) -> None:
    path = inspect(store).documents[0].statistics.path
    identity = path.rpartition(":")[2].removesuffix(".y")
    with closing(sqlite3.connect(folder / "ids.db")) as db, db:
        db.execute("CREATE TABLE Files (id TEXT PRIMARY KEY, path TEXT)")
        db.execute("INSERT INTO Files VALUES (?, 'notes/diary.txt')", (identity,))
    names = Names(folder / "ids.db")
    assert inspect(store, names).documents[0].label == "notes/diary.txt"
    paths = [document.statistics.path for document in inspect(store).documents]
    for wanted in ("notes/diary.txt", "diary.txt", path, identity, identity[:8], "notes/di"):
        assert names.find(wanted, paths) == path


def test_the_command_prints_a_table_and_json(run: Run, store: Path) -> None:
    done = run("info", store, "--limit", "2", "--sort", "updates")
    assert (done.returncode, done.stderr) == (0, "")
    assert "and 1 more" in done.stdout
    assert "times smaller" in done.stdout
    parsed = json.loads(run("info", store, "--json").stdout)
    assert parsed["file_bytes"] == store.stat().st_size
    assert len(parsed["documents"]) == 3


def test_without_an_argument_it_is_the_store_in_this_folder(run: Run, store: Path, folder: Path) -> None:
    shutil.copy(store, folder / ".jupyter_ystore.db")
    assert ".jupyter_ystore.db: " in run("info").stdout


def test_the_configuration_names_the_store(run: Run, store: Path, folder: Path) -> None:
    (folder / "config").mkdir()
    config = folder / "config" / "jupyter_server_config.py"
    config.write_text(f"c.SQLiteYStore.db_path = {str(store)!r}\n")
    pytest.importorskip("traitlets")
    assert f"{store}: " in run("info", JUPYTER_NO_CONFIG="").stdout.replace("\n", "")


def test_a_page_with_charts_that_loads_nothing(run: Run, store: Path, folder: Path) -> None:
    from xml.etree import ElementTree

    with closing(sqlite3.connect(store)) as db, db:
        db.execute("INSERT INTO yupdates VALUES ('<script>alert(1)</script>', x'0000', x'', 1e300)")
    done = run("info", store, "--html", folder / "report.html")
    assert (done.returncode, done.stdout) == (0, "")
    page = (folder / "report.html").read_text(encoding="utf-8")
    for words in ("Size by document", "Size over time", "How values are stored", "Sizes of updates"):
        assert words in page
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    documents = json.loads(run("info", store, "--json").stdout)["documents"]
    (table,) = re.findall("<table>.*</table>", page)
    heads, *rows = [re.findall("<t[hd]>(.*?)</t[hd]>", row) for row in re.findall("<tr>(.*?)</tr>", table)]
    assert len(rows) == len(documents)
    for row, document in zip(rows, documents, strict=True):
        cells = dict(zip(heads, row, strict=True))
        assert cells["updates"] == f"{document['updates']:,}"
        for part in ("first", "last"):
            expected = (
                "1e+300" if document[part] == 1e300 else f"{datetime.fromtimestamp(document[part]):%Y-%m-%d %H:%M}"
            )
            assert cells[f"{part} edit"] == expected
        parts = ("in rows", "in segments", "checkpoint", "moved aside", "paths, index")
        shown = [cells[part].split() for part in parts if cells[part]]
        total = sum(float(number) * {"B": 1, "kB": 1e3, "MB": 1e6}[unit] for number, unit in shown)
        assert total == pytest.approx(document["file_bytes"], rel=0.02, abs=10)
    charts = page.split("<svg")[1:]
    assert len(charts) == 4
    for chart in charts:
        ElementTree.fromstring("<svg" + chart.partition("</svg>")[0] + "</svg>")


def test_the_chart_of_codecs(run: Run, folder: Path) -> None:
    from xml.etree import ElementTree

    store = sessions.write_stock_store(folder / "typed.db", typed(300))
    done = run("bench", store, "--rounds", "1", "--json", "--plot", folder / "codecs.svg")
    assert done.returncode == 0
    results = json.loads(done.stdout)["results"]
    assert results[0]["name"] == "packed"
    circles = ElementTree.parse(folder / "codecs.svg").getroot().findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == len(results)
