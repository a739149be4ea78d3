"""PNG files as notebooks hold them, made of what a plot is made of: lines, text-like marks, areas, noise."""

from __future__ import annotations

import base64
import random
import struct
import zlib
from dataclasses import dataclass

__all__ = ["CHANNELS", "Png", "chunk", "in_base64", "plot"]

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type


@dataclass
class Png:
    """How a file is written; the defaults are what matplotlib does."""

    width: int = 60
    height: int = 40
    depth: int = 8
    colour: int = 6
    filters: int | None = None
    """One for all lines, or None for the one with the smallest residues."""
    level: int = 6
    strategy: int = zlib.Z_DEFAULT_STRATEGY
    wbits: int = 15
    chunk_size: int = 1 << 16

    @property
    def bits(self) -> int:
        return CHANNELS[self.colour] * self.depth

    def file(self, lines: list[bytes]) -> bytes:
        """The file of a picture with these lines of pixels."""
        filtered, above = bytearray(), bytes(len(lines[0]))
        step = max(self.bits // 8, 1)
        for line in lines:
            kinds = range(5) if self.filters is None else [self.filters]
            made = [(kind, residues(kind, line, above, step)) for kind in kinds]
            kind, best = min(made, key=lambda pair: sum(min(byte, 256 - byte) for byte in pair[1]))
            filtered += bytes([kind]) + best
            above = line
        compressor = zlib.compressobj(self.level, zlib.DEFLATED, self.wbits, 8, self.strategy)
        return self.around(compressor.compress(bytes(filtered)) + compressor.flush())

    def around(self, stream: bytes) -> bytes:
        """The file around a zlib stream."""
        header = struct.pack(">IIBBBBB", self.width, self.height, self.depth, self.colour, 0, 0, 0)
        file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"tEXt", b"Software\0a plotting library")
        if self.colour == 3:
            file += chunk(b"PLTE", bytes(range(48)))
        for at in range(0, len(stream), self.chunk_size):
            file += chunk(b"IDAT", stream[at : at + self.chunk_size])
        return file + chunk(b"IEND", b"")


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def residues(kind: int, line: bytes, above: bytes, step: int) -> bytes:
    left = bytes(step) + line
    corner = bytes(step) + above
    return bytes(
        (byte - predicted(kind, a, b, c)) & 255 for byte, a, b, c in zip(line, left, above, corner, strict=False)
    )


def predicted(kind: int, left: int, above: int, corner: int) -> int:
    nearest = min(left, above, corner, key=lambda value: abs(left + above - corner - value))
    return (0, left, above, (left + above) // 2, nearest)[kind]


def plot(rnd: random.Random, png: Png, noise: float = 0.02) -> list[bytes]:
    """Lines of pixels: a few curves with soft edges and blocks of colour on white, and some noise."""
    levels = [[255] * CHANNELS[png.colour] * png.width for _ in range(png.height)]
    channels = CHANNELS[png.colour]

    def paint(x: int, y: int, colour: list[int], part: float) -> None:
        if 0 <= x < png.width and 0 <= y < png.height:
            for channel, value in enumerate(colour):
                at = x * channels + channel
                levels[y][at] = round(levels[y][at] * (1 - part) + value * part)

    for _ in range(rnd.randrange(1, 5)):
        colour = [rnd.choice([0, 31, 119, 180, 255]) for _ in range(channels)]
        y, slope = rnd.uniform(0, png.height), rnd.uniform(-1, 1)
        for x in range(png.width):
            slope += rnd.uniform(-0.2, 0.2)
            y += slope
            paint(x, int(y), colour, 1 - y % 1)
            paint(x, int(y) + 1, colour, y % 1)
    for _ in range(rnd.randrange(4)):
        colour = [rnd.randrange(256) for _ in range(channels)]
        left, top = rnd.randrange(png.width), rnd.randrange(png.height)
        for y in range(top, top + rnd.randrange(1, 12)):
            for x in range(left, left + rnd.randrange(1, 12)):
                paint(x, y, colour, 1.0)
    for row in levels:
        for at in range(len(row)):
            if rnd.random() < noise:
                row[at] = rnd.randrange(256)
    return [packed_line(row, png.depth) for row in levels]


def packed_line(values: list[int], depth: int) -> bytes:
    if depth == 16:
        return b"".join(bytes([value, value ^ 0x5A]) for value in values)
    bits = "".join(f"{value >> (8 - depth):0{depth}b}" for value in values)
    return int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")


def in_base64(file: bytes, breaks: int = 76) -> bytes:
    """As base64.encodebytes writes it, with lines of another length, or in one line for 0."""
    text = base64.b64encode(file)
    if breaks == 0:
        return text
    return b"".join(text[at : at + breaks] + b"\n" for at in range(0, len(text), breaks))
