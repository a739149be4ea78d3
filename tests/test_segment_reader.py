"""docs/format-segment.md is enough to write a reader: the one in segment_reader reads what ypress reads, and refuses
what ypress refuses."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import TypeVar

import pytest
import segment_reader
from golden_segments import GOLDEN, Bits, bits, golden_records
from hypothesis import given, settings
from hypothesis import strategies as st
from random_updates import RandomUpdates, string, typed
from segment_forger import Forged
from segment_reader import NotReadable, Record
from segment_reader.basics import varint

import ypress

LEVELS = [1, 9, 19]
# A reader in Python takes its time.
FEW = min(settings.default.max_examples // 2, 300) if settings.default else 30

T = TypeVar("T")


def both(blob: bytes) -> Bits | None:
    """What ypress and the reader make of it, which is the same; None if they refuse it."""
    try:
        ours = bits(list(ypress.unpack(blob)))
    except ypress.Error:
        ours = None
    try:
        theirs = bits(segment_reader.read(blob))
    except NotReadable:
        theirs = None
    assert theirs == ours
    return ours


def with_the_right_check(blob: bytes) -> Bits | None:
    """The same for a segment that has a wrong check, or no content that one could be made of."""
    with pytest.raises(ypress.Error) as error:
        ypress.unpack(blob)
    try:
        segment = segment_reader.parse(blob)
    except NotReadable:
        assert "the check does not match" not in str(error.value), "ypress has found content, the reader has not"
        return None
    assert segment.check != segment.expected_check()
    assert bits(list(ypress.unpack(segment.signed()))) == bits(segment.records)
    return bits(segment.records)


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_golden_segments(file: Path) -> None:
    expected = golden_records(file)
    assert bits(segment_reader.read(file.read_bytes())) == bits(expected)


updates = st.binary(max_size=60) | st.builds(bytes.__mul__, st.binary(max_size=8), st.integers(0, 30))
timestamps = st.floats(width=64) | st.floats(1.6e9, 1.8e9) | st.integers(0, 2**41).map(lambda ms: ms / 1e3)
metadata = st.none() | st.just(b"") | st.binary(max_size=60)


@settings(max_examples=FEW)
@given(st.lists(st.tuples(updates, metadata, timestamps), max_size=6), st.sampled_from(LEVELS))
def test_records_of_any_kind(records: list[Record], level: int) -> None:
    assert both(ypress.pack(records, level=level)) == bits(records)


@settings(max_examples=FEW)
@given(st.integers(0, 1 << 32), st.integers(1, 20), st.sampled_from(LEVELS))
def test_updates_of_all_kinds(seed: int, count: int, level: int) -> None:
    records = RandomUpdates(seed).history(count)
    assert both(ypress.pack(records, level=level)) == bits(records)


@settings(max_examples=FEW)
@given(st.integers(0, 1 << 32), st.integers(1, 60))
def test_typing(seed: int, count: int) -> None:
    records = typed(seed, count)
    assert both(ypress.pack(records)) == bits(records)


@pytest.mark.parametrize("level", LEVELS)
def test_literals(level: int) -> None:
    """Long strings with much that is new, and with what was there before: all kinds of tokens, both compressors."""
    rnd = random.Random(level)
    words = [bytes(rnd.choices(b"abcdefgh", k=rnd.randrange(3, 9))) for _ in range(400)]
    texts = [b" ".join(rnd.choices(words, k=400)), rnd.randbytes(900)]
    records: list[Record] = []
    for _ in range(12):
        text = rnd.choice(texts)
        at, end = sorted(rnd.choices(range(len(text)), k=2))
        texts.append(text[:at] + b" ".join(rnd.choices(words, k=8)) + text[end:] + text[:at])
        records.append((texts[-1], rnd.choice([b"", texts[-1][:100]]), 1.7e9))
    blob = ypress.pack(records, level=level)
    assert ypress.segment_info(blob).literals_size > 0
    assert both(blob) == bits(records)


def test_values_by_key() -> None:
    """Long strings of many keys, saved again with changes: what comes after a word looks where its last value is."""
    rnd = random.Random(1)
    values = {b"key%d" % i: rnd.randbytes(8).hex().encode() * 4 for i in range(40)}
    records: list[Record] = []
    for clock in range(8):
        for key in rnd.sample(sorted(values), 10) if clock > 1 else []:
            values[key] = values[key][:50] + rnd.randbytes(4).hex().encode() + values[key][50:]
        for some in parts(list(values.items()), 20):
            pairs = b"".join(string(key) + b"\x77" + string(value) for key, value in some)
            records.append((b"\1\1\7" + varint(clock) + b"\x88\7\0\1\x76\x14" + pairs + b"\0", b"", 0.0))
    assert both(ypress.pack(records)) == bits(records)


def parts(items: list[T], size: int) -> list[list[T]]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def test_more_clients_and_words_than_are_kept() -> None:
    clients = [7919 * i + 3 for i in range(4400)]
    named = [*parts(clients, 55), clients[:40], clients[4000:4040], clients[4300:4310] + clients[300:310]]
    blocks = [varint(len(ids)) + b"".join(b"\0" + varint(client) + b"\0" for client in ids) + b"\0" for ids in named]
    words = [b"%x" % i for i in range(4300)]
    said = [*parts(words, 50), words[:40], words[4050:4100], words[4290:]]
    arrays = [varint(len(some)) + b"".join(b"\x77" + varint(len(word)) + word for word in some) for some in said]
    # The client that makes room for another one leaves it its number, and so the caret.
    records: list[Record] = [(b"\1\1\5\0\4\1\1a\1x\0", b"", 0.0)]
    records += [(block, b"", 0.0) for block in blocks[:80]]
    heir = varint(clients[4095])
    records += [(b"\1\1" + heir + b"\1\x84" + heir + b"\0\1y\0", b"", 0.0)]
    records += [(block, b"", 0.0) for block in blocks[80:]]
    records += [(b"\1\1\7\0\x08\1\1a\1\x75" + array + b"\0", b"", 0.0) for array in arrays]
    assert both(ypress.pack(records)) == bits(records)


def test_more_shapes_than_are_kept(long_rounds: bool) -> None:
    if not long_rounds:
        pytest.skip("takes ten seconds")
    named = itertools.islice(itertools.product(b"\0\1\2\3", repeat=7), 4300)
    records: list[Record] = [(b"\0\7" + b"".join(b"%c\0" % client for client in some), b"", 0.0) for some in named]
    records += records[:50] + records[4200:]
    assert both(ypress.pack(records)) == bits(records)


SMALL = {
    "updates": RandomUpdates(8).history(2),
    "no update": [(b"some words, and some words again, and more than are short", b"author", 1e9), (b"", None, 2e9)],
    "nothing": [],
}


@pytest.mark.parametrize("name", SMALL)
def test_each_byte_counts(name: str) -> None:
    """Where only the check tells that a byte was changed, both read the same with the check that it should have."""
    blob = ypress.pack(SMALL[name])
    rnd = random.Random(5)
    assert both(blob) is not None
    for at, byte in enumerate(blob):
        with_the_right_check(blob[:at] + bytes([byte ^ 1 << rnd.randrange(8)]) + blob[at + 1 :])
        assert both(blob[:at]) is None
    assert both(blob + b"\0") is None


def assert_both_agree(forged: Forged) -> None:
    if forged.records is None:
        assert with_the_right_check(forged.blob) is None
    else:
        assert both(forged.blob) == bits(forged.records)


@settings(max_examples=FEW)
@given(st.integers(0, 1 << 32), st.integers(1, 16))
def test_what_ypress_never_writes(seed: int, count: int) -> None:
    assert_both_agree(Forged(seed, count))


def test_what_is_forged_reaches_far() -> None:
    """Most forged segments are read, so that they say something about what ypress reads."""
    made = [Forged(seed, 8) for seed in range(20)]
    assert sum(forged.records is not None for forged in made) > 10
    for forged in made:
        assert_both_agree(forged)
