"""compress and decompress: every byte string comes back, nothing grows but what must, nothing damaged passes."""

from __future__ import annotations

import array
import inspect
import pickle
import random
import sys
import zlib
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ypress

CODECS = [("zstd", -7), ("zstd", 3), ("zstd", 19), ("lz4", None), ("brotli", 0), ("brotli", 4), ("brotli", 11)]
TEXT = b"".join(b"%05d " % (number * number) for number in range(40))

prefixes = st.sampled_from(
    [b"", b"\x80\0", b"\x81\0", b"\x82\0\x40", b"\x83\0", b"\xff\0", b"\x78\x9c", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"]
)
bodies = st.one_of(
    st.binary(max_size=300),
    st.builds(lambda piece, times: piece * times, st.binary(min_size=1, max_size=20), st.integers(1, 300)),
    st.text("abc \n", max_size=2000).map(str.encode),
)
values = st.builds(lambda prefix, body: prefix + body, prefixes, bodies)


@given(raw=values, codec=st.sampled_from([*CODECS, (None, None)]))
def test_every_value_comes_back_and_none_grows(raw: bytes, codec: tuple[str | None, int | None]) -> None:
    stored = ypress.compress(raw, *codec)
    assert type(stored) is bytes
    assert ypress.decompress(stored) == raw
    info = ypress.row_info(stored)
    assert (info.stored_size, info.raw_size) == (len(stored), len(raw))
    assert len(stored) <= len(raw) + (2 if info.kind == "verbatim" else 0)
    if info.kind == "raw":
        assert stored is raw
        assert ypress.decompress(stored) is raw


@given(raw=values, layers=st.lists(st.sampled_from(CODECS), min_size=2, max_size=6))
def test_values_within_values_come_back_layer_by_layer(raw: bytes, layers: list[tuple[str, int | None]]) -> None:
    stored = [raw]
    for codec in layers:
        stored.append(ypress.compress(stored[-1], *codec))
    for outer, inner in zip(reversed(stored), reversed(stored[:-1]), strict=False):
        assert ypress.decompress(outer) == inner
    together = b"".join(stored)
    assert ypress.decompress(ypress.compress(together)) == together


@pytest.mark.parametrize(("codec", "level"), CODECS)
@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 4095, 4096, 4097, 300_000, 3_000_000])
def test_sizes(codec: str, level: int | None, size: int) -> None:
    if size > 10_000 and level in {11, 19}:
        size //= 20
    for raw in (bytes(size), (TEXT * (size // len(TEXT) + 1))[:size]):
        stored = ypress.compress(raw, codec, level)
        assert ypress.decompress(stored) == raw
        assert size < 4095 or len(stored) < size


def test_where_nothing_is_gained_the_same_object_comes_back() -> None:
    for raw in (b"", b"\0\0", b"x" * 30, random.Random(1).randbytes(300)):
        for codec in CODECS:
            assert ypress.compress(raw, *codec) is raw
        assert ypress.decompress(raw) is raw


def test_containers_are_escaped_so_that_they_come_back_as_containers() -> None:
    container = zlib.compress(b"a")
    stored = ypress.compress(container)
    assert stored == b"\x80\0" + container
    assert ypress.decompress(stored) == container
    assert ypress.decompress(container) == b"a"
    assert ypress.row_info(stored).kind == "verbatim"


@pytest.mark.parametrize(("codec", "level"), CODECS)
def test_each_truncation_and_each_bit_flip_of_a_frame(codec: str, level: int | None) -> None:
    raw = TEXT * 2
    frame = ypress.compress(raw, codec, level)
    assert ypress.row_info(frame).kind == codec
    for end in range(2, len(frame)):
        with pytest.raises(ypress.CorruptData):
            ypress.decompress(frame[:end])
    for byte, bit in product(range(len(frame)), range(8)):
        flipped = bytearray(frame)
        flipped[byte] ^= 1 << bit
        value = bytes(flipped)
        try:
            content = ypress.decompress(value)
        except ypress.Error:
            continue
        assert content == raw or (byte < 2 and content == value), f"byte {byte}, bit {bit}"
    for extra in (b"\0", frame, b"\0" * 40):
        with pytest.raises(ypress.CorruptData):
            ypress.decompress(frame + extra)


BUFFERS = {
    "bytearray": bytearray(TEXT),
    "memoryview": memoryview(TEXT),
    "array of int": array.array("i", range(200)),
    "array of double": array.array("d", [0.5] * 100),
    "strided": memoryview(TEXT * 2)[::2],
    "reversed": memoryview(TEXT)[::-1],
    "two dimensions": memoryview(TEXT[:240]).cast("B", (12, 20)),
    "three dimensions of int": memoryview(TEXT[:240]).cast("I", (3, 4, 5)),
    "strided array": memoryview(array.array("Q", range(300)))[1::3],
    "empty": memoryview(b""),
}


@pytest.mark.parametrize("name", BUFFERS)
def test_the_bytes_of_any_buffer_count(name: str) -> None:
    buffer = BUFFERS[name]
    expected = memoryview(buffer).tobytes()
    for codec in (*CODECS, (None, None)):
        stored = ypress.compress(buffer, *codec)
        assert type(stored) is bytes
        assert stored == ypress.compress(expected, *codec)
        assert ypress.decompress(bytearray(stored)) == expected
        assert ypress.decompress(memoryview(stored)) == expected
        assert ypress.row_info(bytearray(stored)) == ypress.row_info(stored)


def test_numpy_arrays_are_buffers() -> None:
    numpy = pytest.importorskip("numpy")
    matrix = numpy.arange(600, dtype=">i4").reshape(20, 30)
    for part in (matrix, matrix.T, matrix[::2, ::3]):
        assert ypress.decompress(ypress.compress(part)) == part.tobytes("C")


def test_a_released_buffer_is_refused() -> None:
    view = memoryview(b"x" * 100)
    view.release()
    with pytest.raises(ValueError, match="released"):
        ypress.compress(view)


def test_row_info() -> None:
    info = ypress.row_info(ypress.compress(TEXT, "lz4"))
    assert repr(info) == f'RowInfo(kind="lz4", stored_size={info.stored_size}, raw_size={len(TEXT)})'
    assert len({info, ypress.row_info(ypress.compress(TEXT, "lz4"))}) == 1
    assert info != ypress.row_info(TEXT)
    with pytest.raises(AttributeError):
        info.kind = "raw"  # type: ignore[misc]


def test_signatures() -> None:
    assert str(inspect.signature(ypress.compress)) == "(data, /, codec='zstd', level=None)"
    assert str(inspect.signature(ypress.decompress)).startswith("(data, /, *, max_size=")


def test_max_size() -> None:
    frame = ypress.compress(TEXT)
    assert ypress.decompress(frame, max_size=len(TEXT)) == TEXT
    assert ypress.decompress(frame, max_size=1 << 80) == TEXT
    with pytest.raises(ypress.TooLarge):
        ypress.decompress(frame, max_size=len(TEXT) - 1)
    # A raw value takes no memory, so no limit refuses it.
    assert ypress.decompress(TEXT, max_size=0) is TEXT


def test_how_decompress_is_called() -> None:
    kinds = [parameter.kind.name for parameter in inspect.signature(ypress.decompress).parameters.values()]
    assert kinds == ["POSITIONAL_ONLY", "KEYWORD_ONLY"]
    assert pickle.loads(pickle.dumps(ypress.decompress)) is ypress.decompress
    frame = ypress.compress(b"a" * 1000)
    assert ypress.decompress(frame, max_size=1000) == b"a" * 1000
    assert ypress.decompress(*(frame,), **{"max_size": 1000}) == b"a" * 1000
    calls: list[tuple[tuple[object, ...], dict[str, object], str]] = [
        ((), {}, "missing 1 required positional argument"),
        ((frame, 1000), {}, "takes 1 positional arguments but 2 were given"),
        ((frame, 1000), {"max_size": 1}, "takes 1 positional arguments but 2 were given"),
        ((), {"data": frame}, "positional-only arguments passed as keyword arguments"),
        ((frame,), {"limit": 1}, "unexpected keyword argument 'limit'"),
        ((frame,), {"max_size": "1"}, "max_size must be an int"),
        ((frame,), {"max_size": None}, "max_size must be an int"),
        ((7,), {}, "data must be bytes"),
    ]
    for positional, named, message in calls:
        with pytest.raises(TypeError, match=message):
            ypress.decompress(*positional, **named)


def test_a_raw_value_is_not_copied_and_not_leaked() -> None:
    raw = bytes(range(64))[1:]
    before = sys.getrefcount(raw)
    for _ in range(1000):
        assert ypress.decompress(raw) is raw
    assert sys.getrefcount(raw) == before

    class Bytes(bytes):
        pass

    assert ypress.decompress(Bytes(raw)) == raw
