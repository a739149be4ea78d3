"""Run the test-suites that the sdists of pycrdt-store carry, with our store class in place of theirs.

    python tests/upstream/run.py --wheel dist/ypress-*.whl

For each supported version an environment is made in the cache folder, with that version, what its tests need, and the
wheel. Each suite runs once without compression and once with zstd; ``--class stock`` runs it as upstream does, which
shows that a failure is ours. Tests left out are listed in deselected.txt, with the reason.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VERSIONS = ("0.1.3", "0.1.4", "0.1.5")
CLASSES = ("stock", "none", "zstd")
# What the suites import and the markers they use; they have no wheel of their own to say so.
NEEDED = ("pytest>=8", "pytest-rerunfailures", "pytest-timeout", "trio>=0.25", "hatchling")


def call(*command: str | Path, **keywords: object) -> None:
    subprocess.run([str(part) for part in command], check=True, **keywords)


def python_of(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def prepare(cache: Path, version: str) -> tuple[Path, Path]:
    """The environment of one version and the folder with its tests, made unless they are there."""
    environment = cache / f"venv-{version}-py{sys.version_info.major}{sys.version_info.minor}"
    python = python_of(environment)
    source = cache / f"pycrdt_store-{version}"
    ready = environment / "ready"
    if ready.exists() and source.is_dir():
        return python, source
    venv.create(environment, with_pip=True, clear=True)
    pip = (python, "-m", "pip", "--disable-pip-version-check", "-q")
    call(*pip, "install", *NEEDED)
    if not source.is_dir():
        exact = f"pycrdt-store=={version}"
        # hatchling is there already, so that pip can read the sdist's metadata without an environment of its own.
        call(*pip, "download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "-d", cache, exact)
        with tarfile.open(cache / f"pycrdt_store-{version}.tar.gz") as archive:
            archive.extractall(cache, filter="data")
    # With its dependencies, in the versions that this release asks for.
    call(*pip, "install", "--no-build-isolation", source)
    ready.touch()
    return python, source


def deselected(which: str, version: str) -> list[str]:
    """The names of the tests to leave out."""
    names = []
    for line in (HERE / "deselected.txt").read_text(encoding="utf-8").splitlines():
        entry, _, reason = line.partition("#")
        if not entry.strip():
            continue
        classes, versions, name = entry.split()
        if not reason.strip():
            raise SystemExit(f"deselected.txt: {name} needs a reason")
        if classes in ("*", which) and versions in ("*", version):
            names.append(name)
    return names


def run(python: Path, source: Path, version: str, which: str, more: list[str]) -> bool:
    tests = source / "tests"
    left_out = [f"--deselect={tests / 'test_store.py'}::{name}" for name in deselected(which, version)]
    print(f"\n== pycrdt-store {version}, class: {which}, tests left out: {len(left_out)}", flush=True)
    # A test that hangs must not hold up everything; theirs all finish within seconds.
    options = ["-q", "-p", "ypress_substitute", "--timeout=120", "-o", "addopts=", f"--rootdir={tests}"]
    environment = os.environ | {"YPRESS_SUBSTITUTE": which, "PYTHONPATH": str(HERE / "plugin")}
    with tempfile.TemporaryDirectory(prefix="ypress-upstream-", ignore_cleanup_errors=True) as folder:
        command = [str(python), "-m", "pytest", *options, *left_out, *more, str(tests)]
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="the wheel of ypress to install; not needed for the stock class")
    parser.add_argument("--version", action="append", choices=VERSIONS, help="only this one (may be repeated)")
    parser.add_argument("--class", action="append", dest="classes", choices=CLASSES, help="default: none and zstd")
    parser.add_argument(
        "--cache", type=Path, default=Path(os.environ.get("YPRESS_CACHE", ROOT / "target" / "upstream"))
    )
    parser.add_argument("pytest", nargs="*", help="more arguments for pytest, after --")
    arguments = parser.parse_args()
    classes = arguments.classes or ["none", "zstd"]
    if arguments.wheel is None and classes != ["stock"]:
        parser.error("--wheel is needed to test the class of ypress")
    arguments.cache.mkdir(parents=True, exist_ok=True)
    failed = []
    for version in arguments.version or VERSIONS:
        python, source = prepare(arguments.cache.resolve(), version)
        if arguments.wheel is not None:
            call(python, "-m", "pip", "-q", "install", "--no-deps", "--force-reinstall", arguments.wheel)
        failed += [
            f"{version} {which}" for which in classes if not run(python, source, version, which, arguments.pytest)
        ]
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall suites of pycrdt-store passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
