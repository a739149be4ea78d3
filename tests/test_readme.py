"""The examples of the README run as they are printed, each on its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(str(page.relative_to(ROOT)) for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")))
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [
    pytest.param(match[1], TEXT[: match.start()].count("\n") + 1, id=f"line-{TEXT[: match.start()].count(chr(10)) + 1}")
    for match in re.finditer(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
]


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 3


@pytest.mark.parametrize(("code", "line"), BLOCKS)
def test_an_example_runs(code: str, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Blank lines in front, so that a traceback names the line of the README.
    exec(compile("\n" * line + code, str(ROOT / "README.md"), "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    file = ROOT / page
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", file.read_text(encoding="utf-8"))
    assert [target for target in targets if not (file.parent / target).exists()] == []


def test_commands_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in ("README.md", "CONTRIBUTING.md", "docs/design.md"):
        for target in re.findall(r"`make ([a-z]+)", (ROOT / page).read_text(encoding="utf-8")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page}: make {target}"
