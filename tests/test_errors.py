"""Errors: each has its class, says what and where, and survives pickling."""

from __future__ import annotations

import copy
import pickle

import lz4.frame
import pytest

import ypress

FRAME = ypress.compress(b"abcdefgh" * 20, "lz4")


def flipped(value: bytes, byte: int) -> bytes:
    return value[:byte] + bytes([value[byte] ^ 1]) + value[byte + 1 :]


CASES = {
    "check": (flipped(FRAME, len(FRAME) - 1), ypress.CorruptData, {"format": "ypress frame", "offset": len(FRAME) - 4}),
    "cut off": (FRAME[:6], ypress.CorruptData, {"format": "ypress frame", "offset": 6}),
    "only a tag": (b"\x82\0", ypress.CorruptData, {"format": "ypress frame", "offset": 2}),
    "length cut off": (b"\x82\0\xff", ypress.CorruptData, {"format": "ypress frame", "offset": 2}),
    "length padded": (b"\x82\0\x80\0aaaaaaaa", ypress.CorruptData, {"format": "ypress frame", "offset": 2}),
    "length of 70 bits": (b"\x82\0" + b"\xff" * 10, ypress.CorruptData, {"format": "ypress frame", "offset": 2}),
    "impossible length": (b"\x81\0\xff\x7f\0aaaa", ypress.CorruptData, {"format": "ypress frame", "offset": 2}),
    "needless escape": (b"\x80\0abc", ypress.CorruptData, {"format": "ypress frame", "offset": 2}),
    "no zstd": (b"\x82\0\x64" + b"\xff" * 40, ypress.CorruptData, {"format": "zstd frame", "offset": 3}),
    "no lz4": (b"\x81\0\x64\xf0aaaaaaa", ypress.CorruptData, {"format": "lz4 frame", "offset": 4}),
    "no brotli": (b"\x83\0\x64" + b"\xff" * 40, ypress.CorruptData, {"format": "brotli frame"}),
    "claim": (b"\x83\0\x80\x80\x80\x80\x80\x20aaaaa", ypress.CorruptData, {"format": "ypress frame", "offset": 2}),
    "method": (b"\x84\0abc", ypress.UnsupportedFormat, {"format": "frame method", "version": 4}),
    "last method": (b"\xff\0", ypress.UnsupportedFormat, {"format": "frame method", "version": 127}),
}


@pytest.mark.parametrize("name", CASES)
def test_what_and_where(name: str) -> None:
    value, kind, attributes = CASES[name]
    with pytest.raises(kind) as caught:
        ypress.decompress(value)
    error = caught.value
    assert isinstance(error, ypress.Error)
    assert isinstance(error, ValueError)
    for attribute, expected in attributes.items():
        assert getattr(error, attribute) == expected
    assert error.format in str(error)
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert vars(other) == vars(error)


def test_too_large() -> None:
    for value, format in ((FRAME, "ypress frame"), (lz4.frame.compress(b"a" * 160), "lz4-frame")):
        with pytest.raises(ypress.TooLarge, match="raise max_size") as caught:
            ypress.decompress(value, max_size=159)
        error = caught.value
        assert (error.format, error.size, error.limit) == (format, 160, 159)
        other = pickle.loads(pickle.dumps(error))
        assert vars(other) == vars(error)


def test_row_info_raises_the_same_and_reads_headers_only() -> None:
    for name in ("cut off", "length padded", "method"):
        value, kind, _ = CASES[name]
        with pytest.raises(kind):
            ypress.row_info(value)
    assert ypress.row_info(CASES["no zstd"][0]).kind == "zstd"


def test_the_classes() -> None:
    assert issubclass(ypress.Error, Exception)
    assert not issubclass(ypress.Error, ValueError)
    for kind in (ypress.CorruptData, ypress.TooLarge, ypress.UnsupportedFormat):
        assert issubclass(kind, ypress.Error)
        assert issubclass(kind, ValueError)
        assert kind.__module__ == "ypress.errors"
        assert str(kind("in words")) == "in words"
    assert str(ypress.Error()) == ""


@pytest.mark.parametrize("data", [None, "text", 3, [1, 2], object()])
def test_no_buffer_is_a_type_error(data: object) -> None:
    for call in (ypress.compress, ypress.decompress, ypress.row_info, ypress.callbacks()[0]):
        with pytest.raises(TypeError, match=f"not {type(data).__name__}"):
            call(data)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize("level", [True, False, 3.0, "3", b"3", [3]])
def test_a_level_is_an_int(level: object) -> None:
    for call in (lambda: ypress.compress(b"x" * 99, "zstd", level), lambda: ypress.callbacks("zstd", level)):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="level must be an int"):
            call()
    with pytest.raises(TypeError, match="max_size must be an int"):
        ypress.decompress(b"", max_size=level)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("codec", "level", "words"),
    [
        ("zstd", -8, "levels -7 to 19"),
        ("zstd", 20, "levels -7 to 19"),
        ("zstd", 2**31, "levels -7 to 19; got level 2147483648"),
        ("zstd", -(2**90), f"got level -{2**90}"),
        ("brotli", -1, "levels 0 to 11"),
        ("brotli", 12, "levels 0 to 11"),
        ("lz4", 0, "no levels"),
        ("snappy", None, "zstd, lz4, brotli"),
        ("", None, "no codec is called"),
        ("ZSTD", 3, "no codec is called"),
    ],
)
def test_levels_and_names(codec: str, level: int | None, words: str) -> None:
    # Also for data that is too small to be tried: a wrong setting must not hide until a large update comes.
    for data in (b"", b"x" * 5000):
        with pytest.raises(ValueError, match=words):
            ypress.compress(data, codec, level)
    with pytest.raises(ValueError, match=words):
        ypress.callbacks(codec, level)


def test_odd_arguments() -> None:
    for codec in (1, b"zstd", ["zstd"], {}):
        with pytest.raises(TypeError):
            ypress.compress(b"", codec)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            ypress.callbacks(codec)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 0"):
        ypress.decompress(b"", max_size=-1)
    with pytest.raises(ValueError, match="no codec to apply to"):
        ypress.compress(b"", None, 3)
    with pytest.raises(TypeError):
        ypress.decompress(b"", 5)  # type: ignore[misc]
    with pytest.raises(TypeError):
        ypress.compress()  # type: ignore[call-arg]
