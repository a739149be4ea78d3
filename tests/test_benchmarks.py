"""The page of benchmarks: it can be made of few results, and what other pages quote is what it says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from make_report import PAGES, make
from measuring import command, interleaved
from report import Results, make_page, quote
from report.quoting import marked, tables_in

ROOT = Path(__file__).resolve().parent.parent
STORES = ("stock", "stock, zstandard callbacks", "ypress None", "ypress zstd")


def row(codec: str, name: str, ratio: float) -> dict[str, Any]:
    return {
        "values": "below 64 B",
        "codec": codec,
        "name": name,
        "compress_us": ratio / 10,
        "decompress_us": ratio / 20,
        "compress_ratio": ratio,
        "decompress_ratio": ratio,
        "size": 1.0,
    }


def history(ms: float) -> dict[str, Any]:
    return {"1000": {name: {"ms": ms * (1 + index), "memory": 5e6} for index, name in enumerate(STORES)}}


FIGURES: dict[str, dict[str, Any]] = {
    "sizes": {
        "stores": {
            kind: {"updates": 10, "sizes": {"stock": 1000, "ypress, in use": 9, "ypress, rewritten": 2}}
            for kind in ("keystrokes", "notebooks", "streams")
        }
    },
    "rows": {
        "rows": [row("zstd", "ypress", 1.0), row("zstd", "zstandard", 12.0), row("zstd", "zstandard (kept)", 6.0)]
    },
    "history": {
        "updates": 1000,
        "sizes": {name: {"100": 1000, "1000": 9000} for name in STORES},
        "open": history(2.0),
        "read": {"1000": {**history(1.0)["1000"], "stock": {"failed": "YDocNotFound"}}},
    },
    "importing": {"interpreter_ms": 20.0, "import_ms": 30.0, "loaded": []},
}


def results(**changed: Any) -> Results:
    figures = FIGURES | changed
    shared = {"command": "python benches/any.py", "quick": False, "versions": {"Python": "3"}}
    machine = {"processor": "a processor", "cores": "2", "system": "a system"}
    return Results({name: shared | {"machine": machine, "results": found} for name, found in figures.items()})


def verdicts(page: str) -> dict[tuple[str, str], str]:
    """What the table of targets says, by what and against what."""
    lines = page.split("## Targets", 1)[1].split("\n## ", 1)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {(what, against): verdict for what, against, _, _, verdict in cells[1:]}


def test_a_page_is_made_of_the_benches_that_were_run(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    for name in FIGURES:
        (folder / f"{name}.json").write_text(json.dumps(results()._found[name]))
    quoting = tmp_path / "README.md"
    quoting.write_text(f"before\n{marked('rows', 'old')}\nbetween\n{marked('writing', 'kept')}\nafter\n")
    written = make(Results.read(folder), tmp_path, [quoting])
    assert written == [tmp_path / "benchmarks.md", tmp_path / "growth.svg", quoting]
    page = written[0].read_text(encoding="utf-8")
    assert page == make_page(results())
    tables = tables_in(page)
    assert set(tables) == {"sizes", "rows", "all rows", "growth", "open", "read", "importing"}
    assert tables_in(quoting.read_text()) == {"rows": tables["rows"], "writing": "kept"}
    assert "| below 64 B | 12.0x, 12.0x | 6.00x, 6.00x | - | - |" in tables["rows"]
    assert "| stock | fails | - |" in tables["read"]
    assert written[1].read_text().startswith("<svg ")


def test_targets_are_judged() -> None:
    found = verdicts(make_page(results()))
    small = "rows, values under 64 B, both ways"
    assert found[small, "zstandard, one call"] == "met"
    assert found[small, "zstandard, contexts kept"] == "**missed**"
    assert found["file of typed text / notebooks / printing loops, after `compress`", "stock file"] == "met"
    assert found["file of the same, after a live session without maintenance", "stock file"] == "**missed**"
    assert found["`import ypress`", "the interpreter alone"] == "**missed**"
    assert found["open a document with the longest history", "stock, with its checkpoint"] == "**missed**"
    assert found["`compress` of a large store", ""] == "-"
    fast = results(importing={"interpreter_ms": 20.0, "import_ms": 3.0, "loaded": []})
    assert verdicts(make_page(fast))["`import ypress`", "the interpreter alone"] == "met"


def test_a_page_without_marks_stays_as_it_is() -> None:
    assert quote("text\n| a |\n", {"rows": "new"}) == "text\n| a |\n"
    assert quote(marked("rows", "old"), {"rows": "new"}) == marked("rows", "new")


def test_medians_and_what_is_worst() -> None:
    figures = iter([{"a": 1, "b": 1}, {"a": 5, "b": 9}, {"a": 2, "b": 3}])
    assert interleaved(3, {"one": lambda: next(figures)}, worst=["b"]) == {"one": {"a": 2, "b": 9}}


def test_a_command_names_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/x/sizes.py", "--json", "/y/z.json", "--from", "/home/me", "--quick"])
    assert command() == "python benches/sizes.py --from FOLDER --quick"


@pytest.mark.parametrize("page", PAGES)
def test_pages_quote_what_the_page_of_benchmarks_says(page: str) -> None:
    said = tables_in((ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8"))
    quoted = tables_in((ROOT / page).read_text(encoding="utf-8"))
    assert quoted
    assert quoted == {name: said.get(name) for name in quoted}
