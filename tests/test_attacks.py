"""Every attack through each way that a value takes: alone, as a segment, and in the file of a store."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import anyio
import attacks
import pytest

import ypress
from ypress.store import DamagedHistory, SQLiteYStore

ATTACKS = attacks.everything()
each = pytest.mark.parametrize(
    ("value", "outcome"), [attack[1:] for attack in ATTACKS], ids=[attack[0] for attack in ATTACKS]
)


def test_names_are_of_their_own() -> None:
    assert len({name for name, _, _ in ATTACKS}) == len(ATTACKS)
    assert len(ATTACKS) > 80


@each
def test_decompress(value: bytes, outcome: attacks.Outcome) -> None:
    if isinstance(outcome, type):
        with pytest.raises(outcome):
            ypress.decompress(value)
    elif outcome is None:
        assert ypress.decompress(value) is value
    else:
        assert ypress.decompress(value) == outcome


@each
def test_row_info(value: bytes, outcome: attacks.Outcome) -> None:
    if isinstance(outcome, type):
        # It does not decompress frames of ours, and so may have nothing to complain of.
        with suppress(outcome):
            assert ypress.row_info(value).kind in {"zstd", "lz4", "brotli"}
        return
    info = ypress.row_info(value)
    assert info.stored_size == len(value)
    if outcome is None:
        assert (info.kind, info.raw_size) == ("raw", len(value))
    else:
        assert info.kind != "raw"
        assert info.raw_size == len(outcome)


@each
def test_unpack(value: bytes, outcome: attacks.Outcome) -> None:
    for blob in (value, b"\xfe\1" + value, b"\xfe\1" + bytes(8) + value):
        with pytest.raises(ypress.Error):
            ypress.unpack(blob)
        if not blob.startswith(b"\xfe"):
            with pytest.raises(ypress.Error):
                ypress.segment_info(blob)


@each
@pytest.mark.parametrize("codec", ["zstd", "lz4", "brotli", None])
def test_as_content(codec: str | None, value: bytes, outcome: attacks.Outcome) -> None:
    """Someone may also write it: then it comes back as it is."""
    assert ypress.decompress(ypress.compress(value, codec, 0 if codec == "brotli" else None)) == value


def write(db: Path, rows: list[tuple[str, bytes]]) -> None:
    """A file as pycrdt-store makes it."""
    with closing(sqlite3.connect(db)) as connection, connection:
        connection.execute(
            "CREATE TABLE yupdates (path TEXT NOT NULL, yupdate BLOB, metadata BLOB, timestamp REAL NOT NULL)"
        )
        connection.execute(
            "CREATE TABLE ycheckpoints (path TEXT PRIMARY KEY, checkpoint BLOB NOT NULL, timestamp REAL NOT NULL)"
        )
        connection.execute("CREATE INDEX idx_yupdates_path_timestamp ON yupdates (path, timestamp)")
        connection.execute("PRAGMA user_version = 2")
        connection.executemany("INSERT INTO yupdates VALUES (?, ?, x'', 1.7e9)", rows)


def test_in_a_store(tmp_path: Path) -> None:
    """What can be read is read; what cannot be is named; nothing of it is removed."""
    db = tmp_path / "store.db"
    sound = [(name, value, outcome) for name, value, outcome in ATTACKS if not isinstance(outcome, type)]
    refused = [(name, value) for name, value, outcome in ATTACKS if isinstance(outcome, type)]
    # The stored values of the sound ones are one history; each of the others is behind one sound value.
    rows = [("sound", value) for _, value, _ in sound]
    rows += [(name, part) for name, value in refused for part in (b"\0\0", value)]
    write(db, rows)
    store_class = type("Store", (SQLiteYStore,), {"db_path": str(db), "checkpoint_interval": None})

    async def read(path: str) -> list[bytes]:
        async with store_class(path) as store:
            return [update async for update, *_ in store.read()]

    async def main() -> None:
        expected = [value if outcome is None else outcome for _, value, outcome in sound]
        assert await read("sound") == expected
        for name, _ in refused:
            async with store_class(name) as store:
                updates = store.read()
                assert (await anext(updates))[0] == b"\0\0"
                with pytest.raises(DamagedHistory, match="row"):
                    await anext(updates)

    anyio.run(main)
    with closing(sqlite3.connect(db)) as connection:
        assert sorted(connection.execute("SELECT path, yupdate FROM yupdates")) == sorted(rows)


def _bits(*fields: tuple[int, int]) -> bytes:
    """(value, how many bits), from the lowest bit of the first byte on; filled up with zeros."""
    number = at = 0
    for value, count in fields:
        number |= value << at
        at += count
    return number.to_bytes((at + 7) // 8, "little")


@pytest.mark.parametrize(("window", "problem"), [((0, 1), "check"), ((0x11 | 25 << 8, 14), "not a brotli stream")])
def test_a_brotli_stream_with_a_large_window_is_refused(window: tuple[int, int], problem: str) -> None:
    """It is not in RFC 7932. The same content with a window of 16 bits is read, up to the check, which is made up."""
    content = bytes(range(100))
    # Not the last block, its length in four nibbles, not compressed; then the last one, empty.
    head = _bits(window, (0, 1), (0, 2), (len(content) - 1, 16), (1, 1))
    with pytest.raises(ypress.CorruptData, match=problem):
        ypress.decompress(attacks.frame(3, len(content), head + content + b"\x03"))
