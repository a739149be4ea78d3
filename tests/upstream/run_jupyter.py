"""Run the test-suite that the sdist of jupyter-server-ydoc carries, with our store class in place of theirs.

    python tests/upstream/run_jupyter.py --wheel dist/ypress-*.whl

An environment is made in the cache folder, with that version, what its tests need, and the wheel. The suite runs once
without compression and once with zstd; ``--class stock`` runs it as upstream does.
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

from run import CLASSES, HERE, ROOT, call, python_of

VERSIONS = ("3.0.4",)


def prepare(cache: Path, version: str) -> tuple[Path, Path]:
    """The environment of one version and the folder with its tests, made unless they are there."""
    environment = cache / f"venv-jupyter-{version}-py{sys.version_info.major}{sys.version_info.minor}"
    python = python_of(environment)
    source = cache / f"jupyter_server_ydoc-{version}"
    ready = environment / "ready"
    if ready.exists() and source.is_dir():
        return python, source
    venv.create(environment, with_pip=True, clear=True)
    pip = (python, "-m", "pip", "--disable-pip-version-check", "-q")
    call(*pip, "install", f"jupyter-server-ydoc[test]=={version}", "jupyter-collaboration", "pytest-timeout")
    if not source.is_dir():
        # Only unpacked: with its build backend missing, pip would fail when it asks for the metadata.
        call(*pip, "install", "hatchling", "hatch-nodejs-version", "hatch-jupyter-builder")
        exact = f"jupyter-server-ydoc=={version}"
        call(*pip, "download", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "-d", cache, exact)
        with tarfile.open(cache / f"jupyter_server_ydoc-{version}.tar.gz") as archive:
            archive.extractall(cache, filter="data")
    ready.touch()
    return python, source


def run(python: Path, source: Path, version: str, which: str, more: list[str]) -> bool:
    """Run the suite with one class; returns whether it passed."""
    tests = source / "tests"
    print(f"\n== jupyter-server-ydoc {version}, class: {which}", flush=True)
    options = [
        "-q",
        "-p",
        "ypress_substitute_jupyter",
        "--timeout=120",
        "-o",
        "addopts=",
        "-o",
        "filterwarnings=default",
    ]
    # Its own warnings are its own affair: where no configuration is found on the way up, ours would count.
    options += [f"--rootdir={source}"]
    environment = os.environ | {"YPRESS_SUBSTITUTE": which, "PYTHONPATH": str(HERE / "plugin")}
    with tempfile.TemporaryDirectory(prefix="ypress-upstream-", ignore_cleanup_errors=True) as folder:
        command = [str(python), "-m", "pytest", *options, *more, str(tests)]
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, required=True, help="the wheel of ypress to install")
    parser.add_argument("--class", action="append", dest="classes", choices=CLASSES, help="default: none and zstd")
    parser.add_argument(
        "--cache", type=Path, default=Path(os.environ.get("YPRESS_CACHE", ROOT / "target" / "upstream"))
    )
    parser.add_argument("pytest", nargs="*", help="more arguments for pytest, after --")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    failed = []
    for version in VERSIONS:
        python, source = prepare(arguments.cache.resolve(), version)
        call(python, "-m", "pip", "-q", "install", "--no-deps", "--force-reinstall", arguments.wheel)
        for which in arguments.classes or ["none", "zstd"]:
            if not run(python, source, version, which, arguments.pytest):
                failed.append(f"{version} {which}")
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nthe suite of jupyter-server-ydoc passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
