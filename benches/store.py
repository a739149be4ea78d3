"""Writing through the store: the stock class and ours in one run, in interleaved rounds, medians.

``python benches/store.py [--quick] [--json] [--folder FOLDER]``: 1, 10 and 50 rooms that open a fresh file together and
type; then how late the event loop is while a large update is compressed and written.
"""

from __future__ import annotations

import argparse
import json
import logging
import platform
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import anyio
from pycrdt.store import SQLiteYStore as Stock

import sessions
import ypress
from ypress.store import SQLiteYStore as Ours

# (name, class, options, whether the file is there before the rooms open it)
VARIANTS: list[tuple[str, type[Stock], dict[str, Any], bool]] = [
    ("stock", Stock, {}, False),
    ("stock, file made before", Stock, {}, True),
    ("ypress", Ours, {}, False),
    ("ypress zstd, packing", Ours, {"compression": "zstd"}, False),
]
# Seconds that a round may take; what is not written then counts as lost.
PATIENCE = 60.0


def typed(rooms: int, edits: int) -> list[list[bytes]]:
    """The updates of each room."""
    rows: dict[str, list[bytes]] = {}
    for path, update, *_ in sessions.keystrokes(documents=min(rooms, 10), edits=edits):
        rows.setdefault(path, []).append(update)
    texts = [updates[:edits] for updates in rows.values()]
    return [texts[number % len(texts)] for number in range(rooms)]


def make(db: Path, path: str, base: type[Stock], options: dict[str, Any]) -> Any:
    """A store with these options."""
    return type("Store", (base,), {"db_path": str(db), **options})(path)


def stored(db: Path) -> Counter[str]:
    """How many updates of each document are in the file."""
    counts: Counter[str] = Counter()
    with closing(sqlite3.connect(db)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "yupdates" in tables:
            counts.update(dict(connection.execute("SELECT path, count(*) FROM yupdates GROUP BY path")))
        if "ysegments" in tables:
            counts.update(dict(connection.execute("SELECT path, sum(updates) FROM ysegments GROUP BY path")))
    return counts


async def write_rooms(db: Path, texts: list[list[bytes]], base: type[Stock], options: dict[str, Any]) -> dict[str, Any]:
    """All rooms open, type as fast as each write returns, and close."""
    waits: list[float] = []

    async def room(number: int) -> None:
        async with make(db, f"room {number}", base, options) as store:
            for update in texts[number]:
                start = time.perf_counter()
                await store.write(update)
                waits.append(time.perf_counter() - start)

    start = time.perf_counter()
    with anyio.move_on_after(PATIENCE):
        # The stock store's rooms fail together; what they lost is counted.
        with suppress(Exception):
            async with anyio.create_task_group() as group:
                for number in range(len(texts)):
                    group.start_soon(room, number)
    elapsed = time.perf_counter() - start
    counts = stored(db)
    written = sum(min(counts[f"room {number}"], len(updates)) for number, updates in enumerate(texts))
    waits = waits or [elapsed]
    return {
        "updates/s": written / elapsed,
        "p50 ms": 1e3 * statistics.median(waits),
        "p99 ms": 1e3 * sorted(waits)[int(0.99 * len(waits))],
        "bytes": db.stat().st_size,
        "lost": sum(map(len, texts)) - written,
    }


async def lateness(db: Path, update: bytes, base: type[Stock]) -> dict[str, Any]:
    """How late a ticker is at most while one update is compressed with zstd and written, in milliseconds."""
    options = {"compression": "zstd", "max_update_size": 2 * len(update)} if base is Ours else {}
    store = make(db, "room", base, options)
    if base is Stock:
        store.register_compression_callbacks(*ypress.callbacks("zstd"))
    late = [0.0]

    async def tick() -> None:
        while True:
            due = time.perf_counter() + 0.005
            await anyio.sleep(0.005)
            late.append(time.perf_counter() - due)

    async with store:
        await store.write(b"\0\0")
        async with anyio.create_task_group() as group:
            group.start_soon(tick)
            await anyio.sleep(0.05)
            start = time.perf_counter()
            await store.write(update)
            elapsed = time.perf_counter() - start
            await anyio.sleep(0.05)
            group.cancel_scope.cancel()
    return {"late ms": 1e3 * max(late), "seconds": elapsed}


def medians(rounds: int, measures: dict[str, Callable[[], dict[str, Any]]]) -> dict[str, dict[str, float]]:
    """The median of each figure over interleaved rounds; of what was lost, the most."""
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            results[name].append(measure())
    return {
        name: {
            key: (max if key == "lost" else statistics.median)(result[key] for result in of_one) for key in of_one[0]
        }
        for name, of_one in results.items()
    }


def measure_rooms(folder: Path, rooms: int, edits: int, rounds: int) -> dict[str, dict[str, float]]:
    """Each variant on a fresh file of its own."""
    texts = typed(rooms, edits)

    def measure(base: type[Stock], options: dict[str, Any], before: bool) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
            db = Path(place) / "store.db"
            if before:
                sessions.write_stock_store(db, [])
            return anyio.run(write_rooms, db, texts, base, options)

    return medians(rounds, {name: lambda args=args: measure(*args) for name, *args in VARIANTS})  # type: ignore[misc]


def measure_lateness(folder: Path, size: int, rounds: int) -> dict[str, dict[str, float]]:
    """Of an update whose half can be compressed."""
    update = Random(1).randbytes(size // 2) + b"the same line, printed again\n" * (size // 58)

    def measure(base: type[Stock]) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
            return anyio.run(lateness, Path(place) / "store.db", update, base)

    return medians(rounds, {"stock, zstd callbacks": lambda: measure(Stock), "ypress zstd": lambda: measure(Ours)})


def table(title: str, results: dict[str, dict[str, float]]) -> None:
    """Print figures."""
    keys = list(next(iter(results.values())))
    print(f"\n{title}\n{'':26}" + "".join(f"{key:>12}" for key in keys))
    for name, result in results.items():
        print(f"{name:26}" + "".join(f"{result[key]:>12,.{2 if result[key] < 100 else 0}f}" for key in keys))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round, fewer updates")
    parser.add_argument("--json", action="store_true", help="figures for a program")
    parser.add_argument("--folder", type=Path, help="where the files are made; a temporary folder by default")
    arguments = parser.parse_args()
    # The stock store logs each of its errors; they are counted here.
    logging.disable()
    rounds = 1 if arguments.quick else 5
    results: dict[str, Any] = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    with tempfile.TemporaryDirectory(dir=arguments.folder, ignore_cleanup_errors=True) as name:
        for rooms, edits in ((1, 300), (10, 100), (50, 40)) if arguments.quick else ((1, 1000), (10, 300), (50, 100)):
            results[f"{rooms} rooms, {edits} updates each"] = measure_rooms(Path(name), rooms, edits, rounds)
        results["an update of 100 MB"] = measure_lateness(Path(name), 100 << 20, rounds)
    if arguments.json:
        print(json.dumps(results, indent=2))
        return
    print(f"Python {results['python']}, SQLite {results['sqlite']}, pycrdt-store against ypress; medians of {rounds}")
    for title, result in results.items():
        if isinstance(result, dict):
            table(title, result)


if __name__ == "__main__":
    main()
