"""What a long history costs: the file, opening the document, reading all of it, memory.

``python benches/history.py [--updates N] [--folder FOLDER]``: one notebook, typed and run, after 1,000, 10,000 and
260,000 updates, and the file's size between. Each file is made through the store (the stock ones row by row as that
store makes them) with a checkpoint 50 updates before the end, which is the average. Opening (`apply_updates` into an
empty document) and reading (`read` to its end) are measured in processes of their own, in interleaved rounds: the first
time in each process, after another document was opened; medians. Memory is how far the process's peak rises.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import time
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import anyio
from pycrdt import Doc

import sessions
from filling import grow
from measuring import add_folder, default_folder, in_child, interleaved, parser, peak_memory, save, say_versions, table
from variants import BY_NAME, READERS, Variant

UPDATES = 260_000
QUICK_UPDATES = 26_000
# Cells of a notebook that give at least so many updates.
UPDATES_PER_CELL = 220
OTHER = "another document"


def lengths(most: int) -> list[int]:
    """Where the file is looked at: three lengths to open and read, and some between them."""
    steps = [1_000, 3_000, 10_000, 30_000, 100_000]
    return [*(step for step in steps if step < most), most]


def opened(most: int) -> list[int]:
    """The lengths at which it is opened and read."""
    return [*(step for step in (1_000, 10_000) if step < most), most]


def notebook(updates: int) -> list[sessions.Row]:
    """The rows of one notebook."""
    cells = updates // UPDATES_PER_CELL + 5
    rows = list(islice(sessions.notebooks(1, documents=1, cells=cells, largest_output=10_000), updates))
    assert len(rows) == updates
    return rows


async def child(db: Path, path: str, variant: Variant, what: str) -> dict[str, Any]:
    """Open or read a document once, in this process, and tell how long that took and what memory it needed."""
    scratch = db.with_suffix(".other")
    async with variant.store(scratch, OTHER) as store:
        await store.write(b"\0\0")
        with suppress(Exception):  # the stock store does not load what its callbacks compressed
            await store.apply_updates(Doc())
        async for _ in store.read():
            pass
    try:
        async with variant.store(db, path) as store:
            while store.db_initialized is not None and not store.db_initialized.is_set():
                await anyio.sleep(0.001)
            before = peak_memory()
            start = time.perf_counter()
            doc: Doc = Doc()
            if what == "open":
                await store.apply_updates(doc)
            else:
                async for _ in store.read():
                    pass
            elapsed = time.perf_counter() - start
            after = peak_memory()
    except BaseExceptionGroup as errors:
        error = errors.exceptions[0]
        return {"failed": type(error).__name__}
    memory = None if before is None or after is None else after - before
    return {"ms": 1e3 * elapsed, "memory": memory, "state": clocks(doc)}


def clocks(doc: Doc) -> dict[str, int]:
    """How far a document has come, by client: the state vector, in an order of its own."""
    numbers: list[int] = [0]
    shift = 0
    for byte in doc.get_state():
        numbers[-1] |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(0)
            shift = 0
    return {str(client): clock for client, clock in zip(numbers[1:-1:2], numbers[2:-1:2], strict=True)}


def measure(folder: Path, file: bytes, path: str, variant: Variant, what: str) -> dict[str, Any]:
    """On a copy of the file: opening may write a checkpoint."""
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as place:
        db = Path(place) / "store.db"
        db.write_bytes(file)
        return dict(in_child(__file__, "--child", str(db), path, variant.name, what))


def check(found: dict[str, dict[str, Any]], rows: list[sessions.Row]) -> None:
    """Note which stores have loaded all that was written."""
    doc: Doc = Doc()
    for _, update, *_ in rows:
        doc.apply_update(update)
    expected = clocks(doc)
    for one in found.values():
        if "state" in one:
            one["whole"] = one["state"] == expected


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        logging.disable()
        db, path, name, what = sys.argv[2:]
        print(json.dumps(anyio.run(child, Path(db), path, BY_NAME[name], what)))
        return
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--updates", type=int, help="of the longest history")
    add_folder(options)
    arguments = options.parse_args()
    rounds = 1 if arguments.quick else arguments.rounds
    most = arguments.updates or (QUICK_UPDATES if arguments.quick else UPDATES)
    rows = notebook(most)
    path = rows[0][0]
    files: dict[str, dict[int, bytes]] = {}
    results: dict[str, Any] = {"updates": most, "sizes": {}, "open": {}, "read": {}}
    say_versions()
    with tempfile.TemporaryDirectory(dir=default_folder(arguments.folder), ignore_cleanup_errors=True) as name:
        for variant in READERS:
            files[variant.name] = dict(grow(Path(name) / f"{len(files)}.db", rows, variant, lengths(most)))
            sizes = {str(length): len(file) for length, file in files[variant.name].items()}
            results["sizes"][variant.name] = sizes
        table("bytes of the file, by updates", results["sizes"])
        for what in ("open", "read"):
            for length in opened(most):
                measures = {
                    variant.name: partial(measure, Path(name), files[variant.name][length], path, variant, what)
                    for variant in READERS
                }
                results[what][str(length)] = found = interleaved(rounds, measures)
                if what == "open":
                    check(found, rows[:length])
                for one in found.values():
                    one.pop("state", None)
                table(f"{what}, {length:,} updates", found)
    save(arguments.json, results, arguments.quick)


if __name__ == "__main__":
    main()
