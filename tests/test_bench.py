"""Comparing codecs on a store, and the stores that cannot be read."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import sessions
import ypress
from ypress.maintenance.bench import compare, compare_one, compare_packed
from ypress.maintenance.codecs import Codec, available_codecs
from ypress.maintenance.packing import packing
from ypress.maintenance.sample import NotAStore, read_sample

DEMO = Path(sessions.__file__).parent.parent / "demo.py"


@pytest.fixture(scope="module")
def rows() -> list[sessions.Row]:
    return list(sessions.notebooks(1, documents=2, cells=10, largest_output=20_000))


@pytest.fixture
def store(tmp_path: Path, rows: list[sessions.Row]) -> Path:
    return sessions.write_stock_store(tmp_path / "store.db", rows)


def test_a_store_is_read_whole_and_left_as_it_is(store: Path, rows: list[sessions.Row]) -> None:
    before = hashlib.sha256(store.read_bytes()).hexdigest()
    sample = read_sample(store)
    assert [(r.path, r.update, r.metadata, r.timestamp) for r in sample.records] == rows
    assert (sample.whole, sample.updates, sample.documents, sample.damaged) == (True, len(rows), 2, 0)
    assert hashlib.sha256(store.read_bytes()).hexdigest() == before
    assert list(store.parent.iterdir()) == [store]


def test_rows_that_were_compressed_count_as_what_they_hold(tmp_path: Path, rows: list[sessions.Row]) -> None:
    packed = [(path, ypress.compress(update), metadata, time) for path, update, metadata, time in rows]
    sample = read_sample(sessions.write_stock_store(tmp_path / "compressed.db", packed))
    assert [record.update for record in sample.records] == [row[1] for row in rows]


def test_damaged_and_missing_values_are_counted(tmp_path: Path, rows: list[sessions.Row]) -> None:
    bad = [("a", b"\x82\x00\x10nonsense", b"", 1.0), ("a", None, b"", 1.0)]
    sample = read_sample(sessions.write_stock_store(tmp_path / "damaged.db", [*rows[:9], *bad]))
    assert (len(sample.records), sample.damaged, sample.whole) == (9, 2, True)


def test_of_a_large_store_a_part_is_read(store: Path, rows: list[sessions.Row]) -> None:
    sample = read_sample(store, max_updates=300)
    assert 200 <= len(sample.records) <= 400
    assert not sample.whole
    assert sample.updates == len(rows)
    assert read_sample(store, max_bytes=5_000).records


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda file: None, "no such file"),
        (lambda file: file.mkdir(), "is a folder"),
        (lambda file: file.write_bytes(b""), "empty"),
        (lambda file: file.write_bytes(b"no database, whatever it is called\n" * 99), "not a SQLite database"),
        (lambda file: sqlite3.connect(file).execute("CREATE TABLE notes (a)").connection.close(), "not a pycrdt store"),
        (lambda file: sessions.write_stock_store(file, []), "holds no update"),
        (lambda file: sessions.write_stock_store(file, [("a", b"\x82\x00", b"", 1.0)]), "can be decoded"),
    ],
)
def test_what_is_not_a_store_is_said_in_one_line(tmp_path: Path, make: Callable[[Path], object], words: str) -> None:
    file = tmp_path / "file.db"
    make(file)
    with pytest.raises(NotAStore, match=words) as caught:
        read_sample(file)
    assert "\n" not in str(caught.value)
    demo = subprocess.run([sys.executable, str(DEMO), str(file)], capture_output=True, text=True, check=False)
    assert (demo.returncode, demo.stdout) == (1, "")
    assert demo.stderr == f"error: {caught.value}\n"


def test_a_store_in_another_process_can_be_written_while_it_is_read(store: Path) -> None:
    with closing(sqlite3.connect(store, timeout=0)) as writer:
        read_sample(store)
        with writer:
            writer.execute("INSERT INTO yupdates VALUES ('a', x'0000', x'', 0)")
    assert read_sample(store).documents == 3


def test_every_codec_gives_back_what_it_got(rows: list[sessions.Row]) -> None:
    values = [row[1] for row in rows[:200]]
    results = compare(values, available_codecs(), rounds=1)
    assert {"ypress", "Python"} <= {result.library for result in results}
    raw = sum(map(len, values))
    assert all(result.size <= raw for result in results if result.library == "ypress")
    assert all(result.compress > 0 and result.decompress > 0 for result in results)


def test_sizes_from_a_part_are_near_those_from_all(rows: list[sessions.Row]) -> None:
    import zlib

    values = [row[1] for row in rows]
    codec = Codec("zlib", 6, "Python", zlib.compress, zlib.decompress)
    (whole,) = compare(values, [codec], rounds=1, seconds=1000)
    (part,) = compare(values, [codec], rounds=2, seconds=1e-6)
    assert whole.size == sum(len(zlib.compress(value)) for value in values)
    assert part.estimated
    assert not whole.estimated
    assert part.size == pytest.approx(whole.size, rel=0.15)


def test_a_codec_that_loses_something_is_noticed() -> None:
    broken = Codec("broken", None, "nobody", lambda value: value[:-1], lambda value: value)
    with pytest.raises(RuntimeError, match="did not give back"):
        compare([b"abc"], [broken], rounds=1)


def test_one_value_again_and_again() -> None:
    codec = Codec("zstd", 3, "ypress", *ypress.callbacks("zstd", 3))
    (result,) = compare_one(b"press " * 100, [codec], rounds=2, seconds=1e-4)
    assert result.size == len(ypress.compress(b"press " * 100))
    assert 0 < result.compress < 1


def test_packing_where_there_is_packing(store: Path) -> None:
    result = compare_packed(read_sample(store).histories().values(), rounds=1)
    if packing() is None:
        assert result is None
    else:
        assert result is not None
        assert 0 < result[0].size < sum(len(record.update) for record in read_sample(store).records)


@pytest.mark.timeout(600)  # each codec gets its second or two, on a busy machine many more
def test_the_demo_prints_its_tables_in_80_columns(tmp_path: Path, rows: list[sessions.Row]) -> None:
    store = sessions.write_stock_store(tmp_path / "store.db", rows[:300])
    command = [sys.executable, str(DEMO), "--rounds", "1", str(store)]
    demo = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = demo.stdout.splitlines()
    assert [line for line in lines if len(line) > 80 and str(store) not in line] == []
    for library in ("ypress", "Python"):
        assert sum(f" {library} " in line for line in lines) > 10
    assert demo.stdout.count("decompress") == 3
    assert demo.stderr == ""
