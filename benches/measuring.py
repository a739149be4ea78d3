"""What the benches share: their options, the machine and versions, medians of interleaved rounds, results as JSON.

Each bench prints its figures; with ``--json FILE`` it also writes them for ``make_report.py``, which makes
``docs/benchmarks.md`` of all the files in a folder.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import shlex
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# Options whose argument is a place on this machine.
FOLDERS = ("--from", "--folder")
PACKAGES = (
    "ypress",
    "pycrdt",
    "pycrdt-store",
    "jupyter-ydoc",
    "zstandard",
    "backports.zstd",
    "lz4",
    "brotli",
    "cramjam",
    "numcodecs",
)


def parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser with the options that every bench has."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--quick", action="store_true", help="less of everything: a first look, no figures to quote")
    made.add_argument("--json", type=Path, metavar="FILE", help="also write the figures for make_report.py")
    return made


def command() -> str:
    """How this bench was called, without where its results go and which folders this machine has."""
    words = [f"benches/{Path(sys.argv[0]).name}"]
    for before, word in pairwise(sys.argv):
        if before in FOLDERS:
            words.append("FOLDER")
        elif "--json" not in (before, word):
            words.append(word)
    return shlex.join(["python", *words])


def save(file: Path | None, results: Mapping[str, Any], quick: bool) -> None:
    """Write results, with what they are of; nothing without a file."""
    if file is None:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    what = {"command": command(), "quick": quick, "machine": machine(), "versions": versions(), "results": results}
    file.write_text(json.dumps(what, indent=1) + "\n", encoding="utf-8")


def machine() -> dict[str, str]:
    """The computer, as far as it matters to the figures."""
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        processor = next((name for name in names if name and name != "unknown"), processor)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"system": f"{platform.system()} {platform.machine()}", "processor": processor, "cores": str(cores)}


def versions() -> dict[str, str]:
    """What took part."""
    found = {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def say_versions() -> None:
    """Print the machine and the versions."""
    print(", ".join(machine().values()))
    print(", ".join(f"{name} {version}" for name, version in versions().items()))


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all is not above."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def interleaved(
    rounds: int, measures: Mapping[str, Callable[[], dict[str, Any]]], worst: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """The median of each figure over interleaved rounds.

    Args:
        rounds: how many.
        measures: what to measure, by name; each gives figures by name.
        worst: figures of which the largest is reported instead.
    """
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            results[name].append(measure())
    return {name: _middle(of_one, worst) for name, of_one in results.items()}


def _middle(found: list[dict[str, Any]], worst: Sequence[str]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key in found[0]:
        values = [one[key] for one in found]
        if all(isinstance(value, int | float) for value in values):
            result[key] = max(values) if key in worst else statistics.median(values)
        else:
            result[key] = values[0]
    return result


def least(calls: dict[str, Callable[[], object]], rounds: int, seconds: float = 0.005) -> dict[str, float]:
    """Microseconds of each call."""
    repeats: dict[str, int] = {}
    for name, call in calls.items():
        start = time.process_time()
        call()
        repeats[name] = max(1, round(seconds / max(1e-7, time.process_time() - start)))
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(repeats[name]):
                call()
            found[name] = min(found[name], (time.process_time() - start) / repeats[name] * 1e6)
    return found


def each(call: Callable[[bytes], object], values: list[bytes]) -> Callable[[], object]:
    """All values, one after the other."""

    def run() -> None:
        for value in values:
            call(value)

    return run


def add_folder(options: argparse.ArgumentParser) -> None:
    """The option for where stores are made."""
    what = "where the files are made; in memory by default, where there is that"
    options.add_argument("--folder", type=Path, help=what)


def default_folder(wanted: Path | None) -> Path | None:
    """Where stores are made: where it is said, else in memory if there is such a place, else with temporary files."""
    memory = Path("/dev/shm")
    if wanted is None and memory.is_dir() and os.access(memory, os.W_OK):
        return memory
    return wanted


def peak_memory() -> int | None:
    """The most memory that this process has had, in bytes; None where the system does not tell."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not `getrusage`: a child begins with its parent's peak there.
        lines = [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
        return int(lines[0].split()[1]) * 1024 if lines else None
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def in_child(script: str, *arguments: str) -> Any:
    """Run a bench's own script in another process; it prints JSON. Its errors are raised here."""
    words = [sys.executable, script, *arguments]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(words)}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def table(title: str, results: Mapping[str, Mapping[str, Any]]) -> None:
    """Print figures, a line for each name."""
    keys = list(next(iter(results.values())))
    print(f"\n{title}\n{'':26}" + "".join(f"{key:>14}" for key in keys))
    for name, result in results.items():
        cells = []
        for key in keys:
            value = result.get(key)
            if isinstance(value, int | float):
                cells.append(f"{value:,.{2 if abs(value) < 100 else 0}f}")
            else:
                cells.append("-" if value is None else str(value))
        print(f"{name:26}" + "".join(f"{cell:>14}" for cell in cells))
