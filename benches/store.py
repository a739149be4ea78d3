"""Writing through the store: the stock class and ours in one run, in interleaved rounds, medians.

``python benches/store.py [--rounds N] [--folder FOLDER]``: 1, 10 and 50 rooms that open a fresh file together and
type; then how late the event loop is while a large update is compressed and written.
"""

from __future__ import annotations

import logging
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import anyio

import sessions
import ypress
from measuring import add_folder, default_folder, interleaved, parser, percentile, save, say_versions, table
from variants import PACKED, STOCK, WRITERS, Variant

# Seconds that a round may take; what is not written then counts as lost.
PATIENCE = 60.0
# Rooms, and the updates that each of them writes.
ROOMS = ((1, 1000), (10, 200), (50, 60))
QUICK_ROOMS = ((1, 200), (10, 50), (50, 20))
LARGE = 100 << 20


def typed(rooms: int, edits: int) -> list[list[bytes]]:
    """The updates of each room."""
    rows: dict[str, list[bytes]] = {}
    for path, update, *_ in sessions.keystrokes(documents=min(rooms, 10), edits=edits):
        rows.setdefault(path, []).append(update)
    texts = [updates[:edits] for updates in rows.values()]
    return [texts[number % len(texts)] for number in range(rooms)]


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


async def write_rooms(db: Path, texts: list[list[bytes]], variant: Variant) -> dict[str, Any]:
    """All rooms open, type as fast as each write returns, and close."""
    waits: list[float] = []

    async def room(number: int) -> None:
        async with variant.store(db, f"room {number}") as store:
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
        "p99 ms": 1e3 * percentile(waits, 0.99),
        "bytes": db.stat().st_size,
        "lost": sum(map(len, texts)) - written,
    }


async def lateness(db: Path, update: bytes, variant: Variant) -> dict[str, Any]:
    """How late a ticker is at most while one update is compressed with zstd and written, in milliseconds."""
    store = variant.store(db, "room")
    if variant.ours:
        store.max_update_size = 2 * len(update)
    else:
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


def measure_rooms(folder: Path, rooms: int, edits: int, rounds: int) -> dict[str, dict[str, Any]]:
    """Each variant on a fresh file of its own."""
    texts = typed(rooms, edits)

    def measure(variant: Variant) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
            db = Path(place) / "store.db"
            if variant.made:
                sessions.write_stock_store(db, [])
            return anyio.run(write_rooms, db, texts, variant)

    return interleaved(rounds, {variant.name: partial(measure, variant) for variant in WRITERS}, worst=["lost"])


def measure_lateness(folder: Path, size: int, rounds: int) -> dict[str, dict[str, Any]]:
    """Of an update whose half can be compressed."""
    update = Random(1).randbytes(size // 2) + b"the same line, printed again\n" * (size // 58)

    def measure(variant: Variant) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
            return anyio.run(lateness, Path(place) / "store.db", update, variant)

    compared = {"stock, zstd callbacks": STOCK, "ypress zstd": PACKED[0]}
    return interleaved(rounds, {name: partial(measure, variant) for name, variant in compared.items()})


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=3)
    add_folder(options)
    arguments = options.parse_args()
    # The stock store logs each of its errors; they are counted here.
    logging.disable()
    rounds = 1 if arguments.quick else arguments.rounds
    size = LARGE // 10 if arguments.quick else LARGE
    say_versions()
    print(f"medians of {rounds} rounds; of what was lost, the most")
    results: dict[str, Any] = {"rooms": {}}
    with tempfile.TemporaryDirectory(dir=default_folder(arguments.folder), ignore_cleanup_errors=True) as name:
        for rooms, edits in QUICK_ROOMS if arguments.quick else ROOMS:
            found = measure_rooms(Path(name), rooms, edits, rounds)
            results["rooms"][str(rooms)] = {"edits": edits, "stores": found}
            table(f"{rooms} rooms, {edits} updates each", found)
        results["late"] = {"size": size, "stores": measure_lateness(Path(name), size, rounds)}
        table(f"an update of {size:,} bytes", results["late"]["stores"])
    save(arguments.json, results, arguments.quick)


if __name__ == "__main__":
    main()
