"""Make the golden segments: `python tests/golden/make_segments.py`, with the ypress that is to write them.

Each is a pair: NAME.segment, and NAME.records with what must come out of it: per record the length of the update and of
the metadata (int32, -1 for none), the timestamp (float64), the update, the metadata; all little-endian. Files that a
released version wrote are never made anew: a later version of the format gets files of its own.
"""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import ypress

sys.path.insert(0, str(Path(__file__).parents[1]))
from png_files import Png, in_base64, plot

HERE = Path(__file__).parent
VERSION = 1

Record = tuple[bytes, bytes | None, float]


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def typing(rnd: random.Random) -> Iterator[Record]:
    """Two people type words into one text, move about, and take characters back."""
    clients, clocks, time = [0x1234567, 0xFEDCBA987], [0, 0], 1.7e9
    who = 0
    for _ in range(400):
        time += rnd.uniform(0.05, 0.4)
        who ^= rnd.random() < 0.05
        client, clock = varint(clients[who]), clocks[who]
        if clock and rnd.random() < 0.08:
            yield b"\x00\x01" + client + b"\x01" + varint(clock - 1) + b"\x01", b"", time
            continue
        text = rnd.choice(["e", "t", " ", "a", "o", "é", "🎈", "the ", "print(x)\n"])
        start = b"\x01\x01" + client + varint(clock)
        if not clock:
            item = b"\x04\x01\x06source"
        elif rnd.random() < 0.1:
            origin = rnd.randrange(clock)
            item = b"\xc4" + client + varint(origin) + client + varint(min(origin + 1, clock - 1))
        else:
            item = b"\x84" + client + varint(clock - 1)
        yield start + item + varint(len(text.encode())) + text.encode() + b"\x00", b"", time
        clocks[who] += len(text.encode("utf-16-le")) // 2


def stream(_: random.Random) -> Iterator[Record]:
    """An output that is replaced by a longer one again and again."""
    client, text = varint(77), b""
    for step in range(60):
        text += b"step %d: loss=%.4f\n" % (step, 1 / (step + 1))
        value = b"\x76\x02\x04name\x77\x06stdout\x04text\x77" + varint(len(text)) + text
        item = b"\x88" + client + varint(step) if step else b"\x08\x01\x07outputs"
        update = b"\x01\x01" + client + varint(step + 1) + item + b"\x01" + value
        yield update + b"\x01" + client + b"\x01" + varint(step) + b"\x01", None, 1.7e9 + step / 1000


def anything(rnd: random.Random) -> Iterator[Record]:
    """What is no update, metadata of all kinds, and timestamps that are none."""
    times = [0.0, -0.0, float("inf"), float("-inf"), 1.7e9, 1.6e9, 5e-324]
    times.append(struct.unpack("<d", bytes.fromhex("010203040506f7ff"))[0])
    noise = rnd.randbytes(3000)
    yield b"", None, times[0]
    yield b"\x00\x00", b"", times[1]
    for time in times[2:]:
        start = rnd.randrange(2000)
        yield noise[start : start + rnd.randrange(1000)], rnd.choice([None, b"", b"author", noise[:70]]), time
    words = b" ".join(rnd.choice([b"alpha", b"beta", b"gamma", b"delta"]) for _ in range(300))
    yield words, b"", 1.7e9
    yield words[:400] + b"changed" + words[430:], b"", 1.7e9


def pictures(rnd: random.Random) -> Iterator[Record]:
    """Plots in base64, as notebooks hold them: new ones, one that was there before, and one of grey."""
    plots = []
    for colour in (6, 2, 0):
        png = Png(width=80, height=50, colour=colour, chunk_size=1000)
        plots.append(in_base64(png.file(plot(rnd, png)), 76 if colour else 0))
    for step, text in enumerate([*plots, plots[0]]):
        start = b"\x01\x01\x4d" + varint(step) + b"\x08\x01\x07outputs\x01"
        yield start + b"\x76\x01\x09image/png\x77" + varint(len(text)) + text + b"\x00", b"", 1.7e9 + step


def main() -> None:
    for make in (typing, stream, anything, pictures):
        for level in (None, 19):
            records = list(make(random.Random(4)))
            name = f"{make.__name__}-{level or 'default'}-v{VERSION}"
            (HERE / f"{name}.segment").write_bytes(ypress.pack(records, level=level))
            parts = []
            for update, metadata, time in records:
                length = -1 if metadata is None else len(metadata)
                parts.append(struct.pack("<iid", len(update), length, time) + update + (metadata or b""))
            (HERE / f"{name}.records").write_bytes(b"".join(parts))


if __name__ == "__main__":
    main()
