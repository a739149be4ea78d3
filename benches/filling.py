"""Stores with a long history, as they are after it was written, without waiting for each write."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from logging import getLogger
from pathlib import Path

from pycrdt import Doc

import sessions
from variants import Variant
from ypress.sqlite import checkpoints
from ypress.sqlite.connection import Location
from ypress.sqlite.options import Options
from ypress.sqlite.share import Share
from ypress.sqlite.worker import Write

Row = sessions.Row
# Writes that wait at a time while a session is replayed: as many as start packing, or more where that takes too long.
AT_ONCE = 500
MANY_AT_ONCE = 4_000
# Updates behind the last checkpoint: the average, as one is made every 100.
TAIL = 50


def write_rows(
    target: Path, rows: Sequence[Row], options: Options, *, at_once: int = AT_ONCE, checkpoint: bool = False
) -> None:
    """Write rows of one document through our store, and close it.

    Args:
        target: the file.
        rows: consecutive updates.
        options: of the store.
        at_once: how many are handed over before it is waited until they are stored and packed.
        checkpoint: have one made `TAIL` updates before the end.
    """
    path = rows[0][0]
    share = Share(Location(str(target)), path, options, getLogger(__name__))
    marked = len(rows) - TAIL if checkpoint else -1
    for number, (_, update, metadata, timestamp) in enumerate(rows, 1):
        share.submit(Write(path, update, timestamp, options, metadata=metadata))
        if number % at_once == 0 or number == marked:
            share.database.wait_stored(path, 60)
            share.database.maintenance.settle(60)
        if number == marked:
            checkpoints.make(share.database, path, options.values)
    if checkpoint:
        # People type more slowly: by the time they close a document, its next checkpoint may be made.
        share.database.wait_stored(path, 60)
        time.sleep(max(0.0, share.document.checkpoint_not_before - time.monotonic()))
    share.close()
    left = share.drain(600)
    if left or not share.database.finished.is_set():
        raise RuntimeError(f"{left} updates are not stored")


def write_stock(target: Path, rows: Sequence[Row], compress: Callable[[bytes], bytes] | None) -> None:
    """Make the file of a stock store with a checkpoint `TAIL` updates before the end."""
    packed = rows if compress is None else [(path, compress(update), *rest) for path, update, *rest in rows]
    sessions.write_stock_store(target, packed)
    doc: Doc = Doc()
    for _, update, *_ in rows[:-TAIL]:
        doc.apply_update(update)
    state = doc.get_update() if compress is None else compress(doc.get_update())
    with closing(sqlite3.connect(target)) as database:
        # The stock store's checkpoint has the time of the update that it was made with.
        database.execute("INSERT INTO ycheckpoints VALUES (?, ?, ?)", (rows[0][0], state, rows[-TAIL][3]))
        database.commit()


def grow(target: Path, rows: Sequence[Row], variant: Variant, lengths: Sequence[int]) -> list[tuple[int, bytes]]:
    """A store's file after so many updates, for each of these lengths; it is closed there, and then goes on."""
    files = []
    start = 0
    for length in lengths:
        if variant.ours:
            write_rows(target, rows[start:length], variant.own_options(), at_once=MANY_AT_ONCE, checkpoint=True)
        else:
            write_stock(target, rows[:length], _zstandard() if variant.callbacks else None)
        start = length
        files.append((length, target.read_bytes()))
    return files


def _zstandard() -> Callable[[bytes], bytes]:
    import zstandard

    return zstandard.compress
