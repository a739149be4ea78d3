"""Twenty rooms at work in one process: ``python tests/long/soak.py --minutes 20``; ``make soak`` runs it on the wheel.

Rooms open, load, edit, and close or are torn down, again and again, while histories are packed and another process
compresses the file. Memory, file handles and threads are sampled; the run fails where they grow, where a document does
not load as it was left, or where at the end the history of one is not byte for byte what was written.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import pycrdt

from ypress.store import SQLiteYStore

ROOMS = 20
SAMPLE_EVERY = 2.0
COMPRESS_EVERY = 60.0
# What a fifth of the run may have more than the second fifth: bytes as a factor and in addition, handles, threads.
MEMORY = (1.15, 16 << 20)
HANDLES = 8
THREADS = 4
FEWEST_SAMPLES = 5
LONGEST_TEXT = 3_000
# Deleted text stays in a document as structs, so an open one takes more memory with every edit. From so many updates on
# a room goes on with another document.
LONGEST_HISTORY = 1_000


@dataclass
class Room:
    """What was written to a document, as far as it is needed to recognise it."""

    number: int
    digest: Any = field(default_factory=hashlib.sha256)
    updates: int = 0
    text: str = ""
    opened: int = 0

    def written(self, update: bytes) -> None:
        """Remember an update."""
        self.digest.update(len(update).to_bytes(4, "big") + update)
        self.updates += 1


@dataclass
class Sample:
    """What the process holds at a moment."""

    memory: int
    handles: int
    threads: int

    @staticmethod
    def take(process: psutil.Process) -> Sample:
        """Look at the process."""
        handles = process.num_fds() if hasattr(process, "num_fds") else process.num_handles()
        return Sample(process.memory_info().rss, handles, process.num_threads())


async def session(room: Room, store: SQLiteYStore, numbers: random.Random) -> None:
    """Load a document, edit it for a while, and remember what was written."""
    doc: Any = pycrdt.Doc()
    if room.updates:
        await store.apply_updates(doc)
    text = doc.get("text", type=pycrdt.Text)
    assert str(text) == room.text, f"room {room.number} has not loaded as it was left"
    room.opened += 1
    writes: list[asyncio.Task[None]] = []

    def changed(event: Any) -> None:
        room.written(event.update)
        # Called as a room does it: what is handed over is taken before the first await.
        writes.append(asyncio.ensure_future(store.write(event.update)))

    subscription = doc.observe(changed)
    for _ in range(numbers.randrange(1, 60)):
        if len(str(text)) > LONGEST_TEXT:
            del text[0 : LONGEST_TEXT // 2]
        elif numbers.random() < 0.1 and len(str(text)) > 10:
            del text[3 : numbers.randrange(4, 9)]
        elif numbers.random() < 0.05:
            text += "output " * numbers.randrange(50)
        else:
            text.insert(numbers.randrange(len(str(text)) + 1), numbers.choice("abcdefgh \n"))
        if numbers.random() < 0.3:
            await asyncio.sleep(numbers.random() * 0.05)
    doc.unobserve(subscription)
    room.text = str(text)
    if numbers.random() < 0.7:
        await asyncio.gather(*writes)


async def live(rooms: list[Room], store_class: type[SQLiteYStore], end: float, numbers: random.Random) -> None:
    """Open and close a room until the end; its documents are added to the list."""
    room = rooms[-1]
    while time.monotonic() < end:
        if room.updates > LONGEST_HISTORY:
            room = Room(room.number + ROOMS)
            rooms.append(room)
        store = store_class(f"room {room.number}", metadata_callback=lambda: b"")
        async with asyncio.TaskGroup() as group:
            started = group.create_task(store.start())
            await store.started.wait()
            await session(room, store, numbers)
            if numbers.random() < 0.2:
                started.cancel()  # as a server does it at the end of a room
            else:
                await store.stop()
        await asyncio.sleep(numbers.random() * 0.3)


async def compress(db: Path, end: float) -> int:
    """Run the command in another process now and then; how often it was run."""
    runs = 0
    while (left := end - time.monotonic()) > 0:
        await asyncio.sleep(min(left, COMPRESS_EVERY))
        if db.exists() and time.monotonic() < end:
            command = [sys.executable, "-m", "ypress.cli", "compress", str(db)]
            process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            _, said = await process.communicate()
            assert process.returncode == 0, said.decode()
            runs += 1
    return runs


async def sample(samples: list[Sample], end: float) -> None:
    """Look at this process until the end."""
    process = psutil.Process()
    while time.monotonic() < end:
        await asyncio.sleep(SAMPLE_EVERY)
        samples.append(Sample.take(process))


def grown(samples: list[Sample]) -> list[str]:
    """What the last fifth of the samples, of which there are at least `FEWEST_SAMPLES`, has more than the second."""
    fifth = len(samples) // 5
    before, after = samples[fifth : 2 * fifth], samples[-fifth:]
    found = []
    for name, factor, more in (("memory", *MEMORY), ("handles", 1.0, HANDLES), ("threads", 1.0, THREADS)):
        low, high = (median(getattr(one, name) for one in part) for part in (before, after))
        shown = f"{low / 1e6:.1f} MB -> {high / 1e6:.1f} MB" if name == "memory" else f"{low:.0f} -> {high:.0f}"
        print(f"{name:8} {shown}")
        if high > low * factor + more:
            found.append(f"{name}: {shown}")
    return found


async def check(room: Room, store_class: type[SQLiteYStore]) -> None:
    """Read everything of a room back."""
    back = Room(room.number)
    async with store_class(f"room {room.number}") as store:
        async for update, *_ in store.read():
            back.written(update)
    assert back.updates == room.updates, f"room {room.number}: {room.updates} written, {back.updates} read"
    assert back.digest.digest() == room.digest.digest(), f"room {room.number}: other updates than were written"


async def run(db: Path, minutes: float, seed: int) -> list[Sample]:
    """The whole run; what the process held meanwhile."""
    options = {"db_path": str(db), "compression": "zstd", "pack_every": 100, "checkpoint_interval": 200}
    store_class = type("Store", (SQLiteYStore,), options)
    documents = [[Room(number)] for number in range(ROOMS)]
    samples: list[Sample] = []
    end = time.monotonic() + 60 * minutes
    async with asyncio.TaskGroup() as group:
        for number, own in enumerate(documents):
            group.create_task(live(own, store_class, end, random.Random(seed * 1000 + number)))
        group.create_task(sample(samples, end))
        compressing = group.create_task(compress(db, end))
    rooms = [room for own in documents for room in own]
    for room in rooms:
        await check(room, store_class)
    print(
        f"{len(rooms)} documents, {sum(room.updates for room in rooms)} updates,"
        f" {sum(room.opened for room in rooms)} openings,"
        f" {compressing.result()} times compressed from outside, {db.stat().st_size / 1e6:.2f} MB; all read back equal"
    )
    return samples


def main() -> None:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ypress-soak-", ignore_cleanup_errors=True) as folder:
        samples = asyncio.run(run(Path(folder) / "store.db", arguments.minutes, arguments.seed))
    if len(samples) < FEWEST_SAMPLES:
        sys.exit(
            f"error: too short to tell whether it grows: {len(samples)} samples, one every {SAMPLE_EVERY:.0f} s, and "
            f"{FEWEST_SAMPLES} are needed; give it more --minutes"
        )
    if found := grown(samples):
        sys.exit(f"error: it grows: {'; '.join(found)}")


if __name__ == "__main__":
    main()
