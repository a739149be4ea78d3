"""The package as it is installed: what is in it, what importing it costs, where its version comes from."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import ypress

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel that is tested; ``make test`` says where it is."""
    if "YPRESS_WHEEL" not in os.environ:
        pytest.skip("YPRESS_WHEEL names no wheel; run make test")
    return Path(os.environ["YPRESS_WHEEL"])


def run(python: str | Path, code: str, **environment: str) -> str:
    command = [str(python), "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | environment)
    return done.stdout.strip()


def test_importing_loads_nothing_large() -> None:
    loaded = set(run(sys.executable, "import sys, ypress; print(*sys.modules)").split())
    heavy = {"numpy", "pycrdt", "traitlets", "click", "sqlite3", "asyncio", "anyio", "importlib.metadata", "logging"}
    assert "ypress._native" in loaded
    assert not loaded & heavy


def test_the_version_is_that_of_the_crate() -> None:
    crate = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]["version"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert ypress.__version__ == importlib.metadata.version("ypress") == crate
    assert "version" not in project
    assert project["dynamic"] == ["version"]


def test_the_installed_package_is_tested_not_the_sources(wheel: Path) -> None:
    assert ROOT / "python" not in Path(ypress.__file__).parents
    assert Path(ypress.__file__).is_relative_to(sys.prefix)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"ypress"}
    licences = {name.rpartition(".dist-info/licenses/")[2] for name in names if "/licenses/" in name}
    assert licences == {"LICENSE", "THIRD_PARTY_LICENSES"}
    assert {"ypress/py.typed", "ypress/_native.pyi", "ypress/__init__.py"} <= set(names)
    assert [name for name in names if "test" in name or name.endswith((".rs", ".toml", ".pyc"))] == []
    assert sum(name.startswith("ypress/_native.") and not name.endswith(".pyi") for name in names) == 1
    assert "-cp311-abi3-" in wheel.name
    assert wheel.stat().st_size < 3_000_000


def test_the_wheel_has_every_module_of_the_sources(wheel: Path) -> None:
    source = ROOT / "python"
    expected = {path.relative_to(source).as_posix() for path in source.rglob("*.py")}
    with zipfile.ZipFile(wheel) as archive:
        assert expected <= set(archive.namelist())


def test_the_source_distribution_holds_what_a_build_needs() -> None:
    if "YPRESS_SDIST" not in os.environ:
        pytest.skip("YPRESS_SDIST names no source distribution; run make test")
    with tarfile.open(os.environ["YPRESS_SDIST"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {
        "LICENSE",
        "THIRD_PARTY_LICENSES",
        "README.md",
        "Cargo.toml",
        "Cargo.lock",
        "pyproject.toml",
        "src/lib.rs",
        "python/ypress/py.typed",
    }
    assert needed <= names
    assert [name for name in names if name.endswith((".so", ".pyc", ".db"))] == []


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_one_wheel_loads_in_every_python(wheel: Path, version: str, tmp_path: Path) -> None:
    python = shutil.which(f"python{version}")
    # A launcher may be there without the Python that it launches.
    if python is None or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"no Python {version} here")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = "import sys, ypress; v = ypress.compress(b'abc' * 99); print(sys.version_info[:2], ypress.decompress(v)[:3])"
    major, minor = version.split(".")
    assert run(python, code, PYTHONPATH=str(tmp_path)) == f"({major}, {minor}) b'abc'"
