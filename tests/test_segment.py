"""Segments from Python: what is packed comes back bit for bit, and nothing else is taken for a segment."""

from __future__ import annotations

import random
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_segments import GOLDEN, Record, bits, golden_records
from hypothesis import given
from hypothesis import strategies as st
from segment_reader.basics import varint

import ypress


def typed(count: int) -> list[Record]:
    """Someone types at the end of a text, and takes every eleventh character back."""
    records = []
    for clock in range(count):
        update = b"\x01\x01\x07" + varint(clock) + b"\x84\x07" + varint(max(clock - 1, 0))
        update += b"\x01" + bytes([97 + clock % 26]) + b"\x00"
        records.append((update, b"", 1.7e9 + clock * 0.2173))
        if clock % 11 == 10:
            records.append((b"\x00\x01\x07\x01" + varint(clock) + b"\x01", b"", 1.7e9 + clock * 0.2173 + 0.1))
    return records


updates = st.one_of(
    st.binary(max_size=80),
    st.sampled_from([update for update, _, _ in typed(140)]),
    st.builds(lambda part, times: part * times, st.binary(max_size=8), st.integers(0, 60)),
)
timestamps = st.one_of(st.floats(width=64), st.floats(1.6e9, 1.8e9), st.integers(0, 2**31).map(lambda ms: ms / 1e3))
records_of_any_kind = st.lists(st.tuples(updates, st.none() | st.just(b"") | st.binary(max_size=80), timestamps))


@given(records_of_any_kind, st.sampled_from([None, 1, 19]))
def test_every_record_comes_back(records: list[Record], level: int | None) -> None:
    blob = ypress.pack(records, level=level)
    assert bits(list(ypress.unpack(blob))) == bits(records)
    info = ypress.segment_info(blob)
    assert info.updates == len(records)
    assert info.raw_bytes == sum(len(update) + len(metadata or b"") for update, metadata, _ in records)
    assert info.stored_size == len(blob)
    sizes = [info.header_size, info.structure_size, info.text_size, info.timestamps_size, info.literals_size]
    assert sum(sizes) == len(blob)


def test_any_nan_comes_back() -> None:
    nan: float = struct.unpack("<d", b"\x01\x02\x03\x04\x05\x06\xf7\xff")[0]
    records: list[Record] = [(b"\x00\x00", None, nan), (b"\x00\x00", b"", -0.0), (b"", b"", float("-inf"))]
    assert bits(list(ypress.unpack(ypress.pack(records)))) == bits(records)


def test_any_iterable_and_any_buffer() -> None:
    def records() -> Iterator[tuple[bytearray, memoryview, int]]:
        yield bytearray(b"\x00\x00"), memoryview(b"abc"), 3

    blob = ypress.pack(records())
    assert list(ypress.unpack(bytearray(blob))) == [(b"\x00\x00", b"abc", 3.0)]


@pytest.mark.parametrize(
    "records", [None, [b"abc"], [(b"a", b"")], [("a", b"", 0.0)], [(b"a", b"", "0")], [(b"a", 1, 0.0)]]
)
def test_records_of_another_form_are_a_type_error(records: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        ypress.pack(records)  # type: ignore[arg-type]


@pytest.mark.parametrize("level", [0, 20, -3])
def test_levels(level: int) -> None:
    with pytest.raises(ValueError, match="levels 1 to 19"):
        ypress.pack([], level=level)


def test_each_byte_counts() -> None:
    blob = ypress.pack(typed(40))
    for at in range(len(blob)):
        altered = bytearray(blob)
        altered[at] ^= 0xFF
        with pytest.raises(ypress.Error):
            ypress.unpack(altered)
        with pytest.raises(ypress.CorruptData):
            ypress.unpack(blob[:at])


def test_a_later_version_is_unsupported() -> None:
    blob = bytearray(ypress.pack(typed(3)))
    blob[1] += 1
    with pytest.raises(ypress.UnsupportedFormat):
        ypress.unpack(blob)


def test_max_size() -> None:
    records = typed(100)
    size = sum(len(update) for update, _, _ in records)
    blob = ypress.pack(records)
    assert len(list(ypress.unpack(blob, max_size=size))) == len(records)
    with pytest.raises(ypress.TooLarge):
        ypress.unpack(blob, max_size=size - 1)


def test_what_typing_costs() -> None:
    """Timestamps are a third of a byte here; the rest must be near nothing, or the guesses do not work."""
    records = typed(4000)
    info = ypress.segment_info(ypress.pack(records))
    assert info.structure_size < len(records) * 0.1


def test_threads_pack_at_the_same_time() -> None:
    records = typed(2000)
    expected = ypress.pack(records)
    results: list[bytes] = []
    threads = [threading.Thread(target=lambda: results.append(ypress.pack(records))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


def test_an_iterator_can_be_used_up_and_asked_again() -> None:
    iterator = ypress.unpack(ypress.pack(typed(2)))
    assert iterator.__length_hint__() == 2
    assert len(list(iterator)) == 2
    assert list(iterator) == []
    assert iterator.__length_hint__() == 0


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_golden_segments_read_for_ever(file: Path) -> None:
    expected = golden_records(file)
    assert bits(list(ypress.unpack(file.read_bytes()))) == bits(expected)


def test_the_golden_segments_are_there() -> None:
    assert len(GOLDEN) >= 8


def _words(updates: int) -> list[Record]:
    """Updates with new words in each, as pasted lines of prose."""
    rnd = random.Random(3)
    words = ("the", "model", "returns", "every", "value", "before", "another", "document", "between", "which", "could")
    lines = [" ".join(rnd.choice(words) + str(rnd.randrange(999)) for _ in range(300)) for _ in range(updates)]
    return [(line.encode(), b"", float(second)) for second, line in enumerate(lines)]


def test_few_literals_are_compressed_harder_from_level_nine_on() -> None:
    records = _words(20)
    fast, thorough = (ypress.segment_info(ypress.pack(records, level=level)) for level in (8, 9))
    assert fast.literals_raw_size == thorough.literals_raw_size > 20_000
    assert thorough.literals_size < 0.97 * fast.literals_size
    assert list(ypress.unpack(ypress.pack(records, level=9))) == records


def test_a_lie_about_brotli_takes_no_memory() -> None:
    """Some bytes of brotli may stand for any number of literals; the format bounds what they may claim."""
    blob = ypress.pack(_words(20), level=9)
    literals = ypress.segment_info(blob).literals_raw_size
    claim = varint(literals)
    at = blob.index(claim + b"\x01")
    lie = blob[:at] + varint((1 << 22) + 1) + blob[at + len(claim) :]
    raw = ypress.segment_info(blob).raw_bytes
    lie = lie.replace(varint(raw), varint(1 << 30), 1)
    with pytest.raises(ypress.CorruptData, match="more literals than brotli may hold"):
        ypress.segment_info(lie)
    unknown = blob[: at + len(claim)] + b"\x02" + blob[at + len(claim) + 1 :]
    with pytest.raises(ypress.CorruptData, match="unknown way to compress literals"):
        ypress.segment_info(unknown)


@pytest.mark.parametrize("period", [70_000, 300_000, 1 << 20])
def test_what_repeats_in_one_update_is_stored_once(period: int) -> None:
    """However far apart: further than the window of a fast level of zstd, too."""
    update = random.Random(period).randbytes(period) * 5
    blob = ypress.pack([(update, b"", 1.0)])
    assert len(blob) < 1.02 * period
    assert list(ypress.unpack(blob)) == [(update, b"", 1.0)]
