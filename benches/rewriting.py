"""``compress`` and ``restore`` of a large store: speed, memory, and what a server that writes meanwhile feels.

``python benches/rewriting.py [--mb N] [--rounds N] [--from FILE] [--folder FOLDER]``: of a store of 290 MB (`--mb 1000`
for a gigabyte), in which generated notebooks are repeated under other keys, or of a copy of a store of yours. Each is
run in a process of its own: once alone, for speed and memory, and then with a server-like writer at work in another
process: five rooms that write 50 updates a second in all, for 15 seconds, or until it is done. The same writer on the
same file with nobody else is the baseline; rounds are interleaved.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import anyio

import sessions
from measuring import (
    ROOT,
    add_folder,
    default_folder,
    in_child,
    interleaved,
    parser,
    peak_memory,
    percentile,
    save,
    say_versions,
    table,
)
from variants import BY_NAME
from ypress.maintenance.restore import Restored, restore_store
from ypress.maintenance.rewrite import Compressed, compress_store
from ypress.sqlite.values import Values

MB = 290
QUICK_MB = 40
INPUTS = ROOT / "target" / "bench-inputs"
ROOMS = 5
# Seconds between two writes of the writer, and that it writes for.
PAUSE = 0.02
WATCHED = 15.0
QUICK_WATCHED = 4.0
DOCUMENTS = {"documents": 4, "cells": 60}
# What SQLite keeps beside an update: twice the key, twice the timestamp, rowids, lengths.
ROW_BYTES = 145


def repeated(size: int) -> Iterator[sessions.Row]:
    """Notebooks, again and again under other keys, until a file of them has about this many bytes."""
    rows = list(sessions.notebooks(1, **DOCUMENTS))
    each = sum(len(row[1]) + ROW_BYTES for row in rows)
    for number in range(max(1, round(size / each))):
        for path, *rest in rows:
            yield f"{path[:-7]}{number:05}.y", *rest


def store_of(size: int) -> Path:
    """A stock store of about `size` bytes; it is kept for the next time."""
    what = hashlib.sha256(json.dumps([size, DOCUMENTS]).encode()).hexdigest()[:8]
    file = INPUTS / f"{size // 1_000_000}MB-{what}.db"
    if not file.exists():
        INPUTS.mkdir(parents=True, exist_ok=True)
        sessions.write_stock_store(file.with_suffix(".part"), repeated(size))
        file.with_suffix(".part").rename(file)
    return file


async def write_until(db: Path, stop: Event, seconds: float) -> list[float]:
    """What a server's rooms wait for their writes, until told to stop or for so many seconds."""
    updates = [row[1] for row in sessions.keystrokes(1, documents=1, edits=2000)]
    waits: list[float] = []
    end = time.perf_counter() + seconds

    async def room(number: int) -> None:
        async with BY_NAME["ypress zstd"].store(db, f"room {number}") as store:
            await anyio.sleep(PAUSE * number)
            for update in updates:
                if stop.is_set() or time.perf_counter() > end:
                    return
                start = time.perf_counter()
                await store.write(update)
                waits.append(time.perf_counter() - start)
                await anyio.sleep(max(0.0, start + ROOMS * PAUSE - time.perf_counter()))

    async with anyio.create_task_group() as group:
        for number in range(ROOMS):
            group.start_soon(room, number)
    return waits


def write_in_child(db: Path) -> None:
    """Write until standard input ends, then print the waits."""
    stop = Event()

    def listen() -> None:
        sys.stdin.read()
        stop.set()

    Thread(target=listen, daemon=True).start()
    print("ready", flush=True)
    print(json.dumps(anyio.run(write_until, db, stop, 600.0)))


@contextmanager
def writer(db: Path, waits: list[float]) -> Iterator[None]:
    """A writer in another process for as long as this lasts; then its waits are known."""
    command = [sys.executable, __file__, "--child", "write", str(db)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(1.0)
        yield
        printed, _ = process.communicate("")
    waits += json.loads(printed)


def felt(waits: list[float]) -> dict[str, Any]:
    """The waits in milliseconds."""
    return {
        "writes": len(waits),
        "p50 ms": 1e3 * percentile(waits, 0.5),
        "p99 ms": 1e3 * percentile(waits, 0.99),
        "max ms": 1e3 * max(waits),
    }


def run_child(what: str, db: Path) -> dict[str, Any]:
    """Compress or restore in this process."""
    if what == "compress":
        done: Compressed | Restored = compress_store(db, Values(compression="zstd"))
    else:
        done = restore_store(db)
    assert not done.left, done.left
    return {"seconds": done.seconds, "before": done.before, "after": done.after, "memory": peak_memory()}


def alone(what: str, source: Path, folder: Path) -> dict[str, Any]:
    """Speed and memory with nobody else."""
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
        db = Path(shutil.copy(source, Path(place) / "store.db"))
        done = in_child(__file__, "--child", what, str(db))
        size = max(done["before"], done["after"])
        return {"MB/s": size / done["seconds"] / 1e6, "seconds": done["seconds"], **_sizes(done)}


def beside(what: str, source: Path, folder: Path, seconds: float) -> dict[str, Any]:
    """What a writer feels meanwhile, for so many seconds; ``nothing`` is the baseline."""
    waits: list[float] = []
    done = None
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
        db = Path(shutil.copy(source, Path(place) / "store.db"))
        command = [sys.executable, __file__, "--child", what, str(db)]
        with writer(db, waits):
            if what == "nothing":
                time.sleep(seconds)
            else:
                done = subprocess.Popen(command, stdout=subprocess.DEVNULL)
                with suppress(subprocess.TimeoutExpired):
                    done.wait(seconds)
        if done is not None:
            # The writer has ended, so nobody waits for a lock that is left behind.
            done.kill()
            if done.wait() > 0:
                raise RuntimeError(f"{what} failed")
    return felt(waits)


def _sizes(done: dict[str, Any]) -> dict[str, Any]:
    return {"before": done["before"], "after": done["after"], "memory": done["memory"]}


def main() -> None:
    logging.disable()
    if sys.argv[1:2] == ["--child"]:
        what, db = sys.argv[2], Path(sys.argv[3])
        if what == "write":
            write_in_child(db)
        else:
            print(json.dumps(run_child(what, db)))
        return
    options = parser(__doc__)
    options.add_argument("--mb", type=int, help="size of the store that is made")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--from", dest="source", type=Path, metavar="FILE", help="copy this store instead")
    add_folder(options)
    arguments = options.parse_args()
    rounds = 1 if arguments.quick else arguments.rounds
    size = arguments.mb or (QUICK_MB if arguments.quick else MB)
    source = arguments.source or store_of(size * 1_000_000)
    say_versions()
    with tempfile.TemporaryDirectory(dir=default_folder(arguments.folder), ignore_cleanup_errors=True) as name:
        folder = Path(name)
        packed = Path(shutil.copy(source, folder / "packed.db"))
        in_child(__file__, "--child", "compress", str(packed))
        stores = {"compress": source, "restore": packed}
        speed = interleaved(rounds, {what: partial(alone, what, stores[what], folder) for what in stores}, ["memory"])
        table(f"a store of {source.stat().st_size / 1e6:,.0f} MB, nobody else at work", speed)
        seconds = QUICK_WATCHED if arguments.quick else WATCHED
        measures = {
            what: partial(beside, what, stores.get(what, source), folder, seconds)
            for what in ("nothing", "compress", "restore")
        }
        waits = interleaved(rounds, measures, ["max ms"])
        table("what a writer waits for meanwhile", waits)
    save(arguments.json, {"bytes": source.stat().st_size, "speed": speed, "waits": waits}, arguments.quick)


if __name__ == "__main__":
    main()
