"""Pictures in base64 come back byte for byte, whoever wrote them, and the plots of notebooks become smaller."""

from __future__ import annotations

import random
import zlib

import pytest
import segment_reader
from hypothesis import given, settings
from hypothesis import strategies as st
from png_files import CHANNELS, Png, chunk, in_base64, plot
from segment_reader import Record
from segment_reader.basics import varint
from segment_reader.deflate import Codes, Deflated, Own

import ypress

FEW = min(settings.default.max_examples // 2, 200) if settings.default else 25
THOROUGH = 9


def output(text: bytes, clock: int = 0) -> bytes:
    """An update with an output as jupyter-collaboration stores it: a map with the picture under its kind."""
    data = b"\x76\x01\x09image/png\x77" + varint(len(text)) + text
    value = b"\x76\x01\x04data" + data
    return b"\x01\x01\x4d" + varint(clock) + b"\x08\x01\x07outputs\x01" + value + b"\x00"


def packed(*texts: bytes, level: int = THOROUGH) -> bytes:
    """A segment of updates with these texts, which was found to come back."""
    records: list[Record] = [(output(text, at), None, 1.7e9) for at, text in enumerate(texts)]
    blob = ypress.pack(records, level=level)
    assert list(ypress.unpack(blob)) == records
    return blob


def recoded(*texts: bytes) -> bool:
    """Whether a picture in it was stored by its tokens: then only its beginning and its end are literals."""
    literals = ypress.segment_info(packed(*texts)).literals_raw_size
    return 0 < literals < sum(len(text) for text in texts) / 4


def a_plot(seed: int = 1, png: Png | None = None, noise: float = 0.02) -> bytes:
    png = png or Png(width=200, height=120)
    return png.file(plot(random.Random(seed), png, noise))


pngs = st.builds(
    lambda colour, depth, **more: Png(colour=colour, depth=8 if colour in {2, 4, 6} and depth < 8 else depth, **more),
    colour=st.sampled_from(sorted(CHANNELS)),
    depth=st.sampled_from([1, 2, 4, 8, 8, 8, 16]),
    width=st.integers(1, 70),
    height=st.integers(1, 50),
    filters=st.sampled_from([None, None, 0, 1, 2, 3, 4]),
    level=st.integers(0, 9),
    strategy=st.sampled_from([zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_RLE, zlib.Z_FIXED, zlib.Z_HUFFMAN_ONLY]),
    wbits=st.integers(9, 15),
    chunk_size=st.sampled_from([2, 40, 500, 8192, 1 << 16]),
)


@settings(max_examples=FEW)
@given(
    st.integers(0, 1 << 32),
    pngs,
    st.sampled_from([0, 1, 4, 57, 64, 76, 77]),
    st.sampled_from([0.0, 0.02, 0.5]),
    st.lists(st.sampled_from(["cut", "flip", "insert", "again", "before", "after"]), max_size=2),
)
def test_any_picture_comes_back(seed: int, png: Png, breaks: int, noise: float, changes: list[str]) -> None:
    """And the reader of the documentation says the same."""
    rnd = random.Random(seed)
    file = png.file(plot(rnd, png, noise))
    text = in_base64(file, breaks)
    for change in changes:
        at = rnd.randrange(len(text))
        match change:
            case "cut":
                text = text[:at]
            case "flip":
                text = text[:at] + bytes([text[at] ^ 1 << rnd.randrange(8)]) + text[at + 1 :]
            case "insert":
                text = text[:at] + rnd.choice([b"\n", b"A", b"====", b"iVBORw0KGgo"]) + text[at:]
            case "again":
                text += rnd.choice([b"", b"\n"]) + text
            case "before":
                text = b'<img src="data:image/png;base64,' + text
            case _:
                text += b'" alt="a plot of what was measured"/>'
        if not text:
            break
    records: list[Record] = [(output(text), b"", 1.7e9), (text, text[:100], 1.7e9)]
    blob = ypress.pack(records, level=THOROUGH)
    assert list(ypress.unpack(blob)) == records
    assert segment_reader.read(blob) == records


@pytest.mark.parametrize("breaks", [0, 64, 76])
@pytest.mark.parametrize("level", [1, 6, 9])
@pytest.mark.parametrize("colour", [2, 3, 6])
def test_plots_become_smaller(breaks: int, level: int, colour: int) -> None:
    png = Png(width=300, height=200, colour=colour, level=level)
    text = in_base64(a_plot(3, png, noise=0.0), breaks)
    assert recoded(text)
    assert len(packed(text)) < 0.95 * len(packed(text, level=THOROUGH - 1))


@pytest.mark.parametrize("chunk_size", [100, 8192, 1 << 20])
def test_chunks_of_any_size(chunk_size: int) -> None:
    assert recoded(in_base64(a_plot(png=Png(width=200, height=120, chunk_size=chunk_size))))


def test_pictures_inside_of_texts() -> None:
    """As attachments and in HTML, where neither a line break nor padding ends them, and more than one of them."""
    plots = [in_base64(a_plot(seed), 0) for seed in range(3)]
    html = b"".join(b'<p>%d</p><img src="data:image/png;base64,%s">' % pair for pair in enumerate(plots))
    assert recoded(html)
    bare = [text.rstrip(b"=") for text in plots]
    assert recoded(b" ".join(bare))


def test_a_picture_that_was_there_is_no_news() -> None:
    """Saved again, it is a reference; also if others came between, and if there is more around it."""
    plots = [in_base64(a_plot(seed)) for seed in range(4)]
    once = len(packed(*plots))
    assert len(packed(*plots, *plots)) < once + 200
    assert len(packed(*plots, plots[2], b"x" * 50 + plots[1] + b"y" * 50)) < once + 200


def test_half_a_picture_that_was_there() -> None:
    """The same lines, then others: what is the same, some blocks of tokens, is taken from the first one."""
    png = Png(width=300, height=200, filters=0)
    rnd = random.Random(2)
    lines = plot(rnd, png, 0.2)
    changed = lines[:150] + plot(rnd, png, 0.2)[150:]
    first, second = (in_base64(png.file(each)) for each in (lines, changed))
    assert len(packed(first, second)) < 1.6 * len(packed(first))


def test_photographs_are_left_as_they_are() -> None:
    rnd = random.Random(4)
    png = Png(width=100, height=80, colour=2, filters=1)
    lines = [bytes(min(255, max(0, 128 + round(rnd.gauss(0, 30)))) for _ in range(300)) for _ in range(80)]
    assert not recoded(in_base64(png.file(lines)))


@pytest.mark.parametrize("level", [1, THOROUGH - 1])
def test_fast_levels_leave_pictures_alone(level: int) -> None:
    text = in_base64(a_plot())
    assert ypress.segment_info(packed(text, level=level)).literals_raw_size > 0.9 * len(text)


def test_what_is_no_picture_after_all() -> None:
    """Each is stored as text: it cannot be written from its tokens, or has none."""
    file = a_plot()
    wrong_check = file[:-20] + bytes([file[-20] ^ 1]) + file[-19:]
    no_end = file[: len(file) // 2]
    stored = a_plot(png=Png(width=200, height=120, level=0))
    whole = in_base64(file)
    for text in [in_base64(wrong_check), in_base64(no_end), in_base64(stored), whole[:2000] + b" " + whole[2000:]]:
        assert not recoded(text)
    assert not recoded(in_base64(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", b"") + file[33:]))


class Odd(Deflated):
    """A stream as no encoder in use writes it."""

    def __init__(self) -> None:
        super().__init__()
        # 16 lengths of 4 bits for the code of lengths; nothing is repeated by 16 to 18.
        lengths = [4 if symbol < 16 else 0 for symbol in Own.ORDER]
        self.own = Own([29, 29, 15], lengths)
        for symbol in range(286 + 30):
            self.own.add((8 if symbol < 226 else 9) if symbol < 286 else 4 if symbol < 288 else 5, 0)
        self.codes = Codes(self.own)
        self.begin(1, self.own)

    def zlib(self, plain: bytes) -> bytes:
        self.end(self.codes)
        return b"\x78\x9c" + self.finished() + zlib.adler32(plain).to_bytes(4, "big")


def odd(how: str) -> tuple[bytes, bytes]:
    rnd, out, plain = random.Random(9), Odd(), bytearray()
    for _ in range(40_000):
        byte = rnd.choice(b"\0\0\0\1\2")
        out.token(out.codes, byte)
        plain.append(byte)
        if rnd.random() < 0.3 and len(plain) > 32768:
            length, distance = rnd.choice([3, 20, 257, 258]), rnd.choice([1, 2, 32767, 32768])
            if how == "long" and length == 258:
                # 258 as 227 and 31 more, which no decoder minds.
                out.symbol(out.codes.literals, 284)
                out.bits(31, 5)
                out.symbol(out.codes.distances, 0)
                distance = 1
            else:
                out.token(out.codes, (length, distance))
            for _ in range(length):
                plain.append(plain[-distance])
    return out.zlib(bytes(plain)), bytes(plain)


def test_codes_and_tokens_of_another_kind() -> None:
    """Codes that do not fit the tokens, the farthest distances: they can be written again."""
    stream, plain = odd("far")
    assert zlib.decompress(stream) == plain
    assert recoded(in_base64(Png(width=100, height=100, colour=0).around(stream)))
    stream, plain = odd("long")
    assert zlib.decompress(stream) == plain
    assert not recoded(in_base64(Png(width=100, height=100, colour=0).around(stream)))


@pytest.mark.parametrize("heights", [[4096], [2000, 2000, 500, 1]])
def test_more_pixels_than_are_looked_at(heights: list[int]) -> None:
    """Black, some hundred million bytes of it in one or several: their tokens are few, what they stand for is not."""
    line = bytes(1 + (4 << 14))
    texts = []
    for height in heights:
        compressor = zlib.compressobj(6)
        stream = b"".join(compressor.compress(line) for _ in range(height)) + compressor.flush()
        texts.append(in_base64(Png(width=1 << 14, height=height).around(stream)))
    assert len(packed(*texts, in_base64(a_plot()))) < 10_000 + len(in_base64(a_plot()))


def test_each_byte_counts() -> None:
    png = Png(width=30, height=20)
    blob = packed(in_base64(png.file(plot(random.Random(1), png, 0.1))))
    for at, byte in enumerate(blob):
        with pytest.raises(ypress.Error):
            ypress.unpack(blob[:at] + bytes([byte ^ 1 << at % 8]) + blob[at + 1 :])


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_text_full_of_beginnings(end: bytes) -> None:
    """Each could be a picture that goes on to the end of the text; to read them all would take hours."""
    packed((b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAA7UElEQVR4nAAA" + end) * 100_000)
    packed(b"iVBORw0KGgo" * 400_000)
