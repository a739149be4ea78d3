"""Callbacks that panic and options of the wrong kind: told at once, and no write waits for ever because of them."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from ypress.store import DamagedHistory, SQLiteYStore

pytestmark = pytest.mark.anyio

# What Rust extensions raise when they panic: not an Exception, and of a class that cannot be imported.
PanicException = type("PanicException", (BaseException,), {})


def store_class(db: Path, **options: Any) -> type[SQLiteYStore]:
    return type("Store", (SQLiteYStore,), {"db_path": str(db), **options})


def panics(_: bytes) -> bytes:
    raise PanicException("index out of bounds")


def cancels(_: bytes) -> bytes:
    raise asyncio.CancelledError


@pytest.mark.parametrize("compress", [panics, cancels])
@pytest.mark.timeout(20)
async def test_a_compress_callback_that_panics_holds_up_no_write(
    tmp_path: Path, compress: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        async with store_class(tmp_path / "y.db", compress=compress)("doc") as store:
            await store.write(b"\x01update")
            assert [record[0] async for record in store.read()] == [b"\x01update"]
    assert "compress callback failed" in caplog.text


async def test_a_decompress_callback_that_panics_is_damage(tmp_path: Path) -> None:
    async with store_class(tmp_path / "y.db")("doc") as store:
        await store.write(b"\x01no update")
    async with store_class(tmp_path / "y.db", decompress=panics)("doc") as store:
        with pytest.raises(DamagedHistory, match="decompress callback failed"):
            _ = [record async for record in store.read()]


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("max_update_size", "9", TypeError),
        ("max_update_size", -1, ValueError),
        ("pack_every", "5", TypeError),
        ("pack_every", None, TypeError),
        ("pack_idle", "x", TypeError),
        ("pack_idle", float("nan"), ValueError),
        ("checkpoint_interval", "x", TypeError),
        ("squash_after_inactivity_of", "x", TypeError),
        ("squash_history_older_than", "x", TypeError),
        ("squash_no_more_often_than", "x", TypeError),
        ("cleanup_when_db_size_above", "x", TypeError),
        ("busy_timeout", None, TypeError),
        ("journal_mode", 3, ValueError),
    ],
)
async def test_a_wrong_option_is_an_error_when_the_store_starts(
    tmp_path: Path, option: str, value: object, error: type[Exception]
) -> None:
    store = store_class(tmp_path / "y.db", compression="zstd", **{option: value})("doc")
    with pytest.raises(error, match=option):
        store._open()
