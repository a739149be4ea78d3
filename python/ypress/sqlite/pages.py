"""The history as an event loop reads it: pages of decoded records, the next one made ready while one is used."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ..errors import Error
from .calls import explained
from .database import Database
from .errors import DamagedHistory
from .history import Page, Reader, Record, placed_records, plain_records, records_of
from .notify import outcome
from .values import Values

__all__ = ["read_pages"]

T = TypeVar("T")
Damage = Callable[[DamagedHistory], object]

# A page of at most so many bytes of rows is decoded by the loop itself, so many rows at a time, unless that takes more
# than so many seconds. Most of them are raw, and are done before a thread would have begun.
_SMALL_PAGE = 1 << 20
_SLICE = 100
_BRIEF = 0.002


@dataclass
class _Decoded:
    """Records of one page, and what was wrong behind the last of them."""

    records: list[Record]
    error: DamagedHistory | None
    # What was left out, for the caller's callback: that is called in the caller's thread, once it has come so far.
    damaged: list[DamagedHistory]
    # Whether it was a segment, and something follows it.
    ahead: bool


async def read_pages(
    database: Database, reader: Reader, path: str, values: Values, damage: Damage | None
) -> AsyncGenerator[list[Record], None]:
    """The history from where the reader stands, a page of records at a time.

    At most two pages are in memory: the one that is used, and, where that is a segment, the one behind it. No
    transaction is open in between.

    Args:
        database: where to read.
        reader: of a document.
        path: the document's path key.
        values: how values are decoded.
        damage: told of what cannot be decoded, which is left out then; without it, that is raised.

    Raises:
        DamagedHistory: something cannot be decoded; the records before it have been yielded.
        StoreError: the file cannot be read.
    """

    def next_decoded() -> _Decoded | None:
        page = database.run(reader.next_page)
        return None if page is None else _decoded(page, path, values, damage is not None)

    ready: Future[_Decoded | None] | None = None
    while True:
        try:
            if ready is not None:
                decoded = await outcome(ready)
            elif (page := await outcome(database.call(reader.next_page))) is None:
                return
            elif (records := _at_once(page, values)) is not None:
                decoded = _Decoded(records, None, [], False)
            else:
                decoded = await outcome(_in_thread(partial(_decoded, page, path, values, damage is not None)))
        except sqlite3.Error as fault:
            raise explained(database, fault) from fault
        if decoded is None:
            return
        # Not where rows are read: SQLite waits for the interpreter at each of them. Unpacking does without it.
        ready = _in_thread(next_decoded) if decoded.ahead else None
        if damage is not None:
            for error in decoded.damaged:
                damage(error)
        yield decoded.records
        if decoded.error is not None:
            raise decoded.error


def _in_thread(job: Callable[[], T]) -> Future[T]:
    """What a job returns or raises that runs in a thread of its own."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(job())
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            future.set_exception(error)

    # Not one of a pool: those of a pool are gone in a forked process that still believes in them.
    threading.Thread(target=run, name="ypress-read").start()
    return future


def _at_once(page: Page, values: Values) -> list[Record] | None:
    """The records of a page; None if that takes long, or one cannot be decoded."""
    if page.segment is not None or page.missing is not None or page.size > _SMALL_PAGE:
        return None
    records: list[Record] = []
    until = time.perf_counter() + _BRIEF
    for start in range(0, len(page.rows), _SLICE):
        try:
            records += values.decode_rows(page.rows[start : start + _SLICE])
        except Error:
            return None
        if time.perf_counter() > until and len(records) < len(page.rows):
            return None
    return records


def _decoded(page: Page, path: str, values: Values, go_on: bool) -> _Decoded:
    ahead = page.segment is not None and page.next is not None
    if go_on:
        damaged: list[DamagedHistory] = []
        return _Decoded(records_of(page, path, values, damaged.append), None, damaged, ahead)
    try:
        return _Decoded(plain_records(page, values), None, [], ahead)
    except Error:
        pass  # said below, with the place, and after the records before it
    records: list[Record] = []
    try:
        for _, record in placed_records(page, path, values):
            records.append(record)
    except DamagedHistory as error:
        return _Decoded(records, error, [], False)
    return _Decoded(records, None, [], ahead)
