"""The list of other people's code in the wheel: complete, up to date, and only on terms that are allowed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "scripts"))

import licenses  # noqa: E402

ALLOWED = {"MIT", "Zlib", "BSD-3-Clause", "BSD-2-Clause"}


@pytest.mark.parametrize(
    ("expression", "met"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT/Apache-2.0", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR Apache-2.0) AND Zlib", True),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", False),
        ("BSD-3-Clause AND BSD-2-Clause", True),
        ("Apache-2.0 OR (MIT AND GPL-2.0-only)", False),
        ("", False),
    ],
)
def test_expressions(expression: str, met: bool) -> None:
    assert licenses.allows(expression, ALLOWED) is met


def test_the_list_is_up_to_date() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo tells what is compiled in")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "licenses.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_c_libraries_are_named() -> None:
    text = licenses.OUTPUT.read_text(encoding="utf-8")
    for library in ("libzstd", "liblz4", "libbrotli", "zlib-rs", "pyo3"):
        assert library in text


def test_nothing_depends_on_a_second_sqlite() -> None:
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    assert not {package["name"] for package in lock["package"]} & {"libsqlite3-sys", "rusqlite"}
