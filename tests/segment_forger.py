"""Segments that no writer would make: the reader runs on streams that do not exist yet, each choice is made by chance
and coded as it is made. They reach what the format allows and ypress itself never writes, and what a reader refuses.
"""

from __future__ import annotations

import random
import struct
from collections import deque
from collections.abc import Callable

import zstandard
from segment_reader import NotReadable, Record, Segment
from segment_reader.basics import M32, M64, varint, zigzag
from segment_reader.coded import Bit, Coded, Number, Table
from segment_reader.content import Content
from segment_reader.deflate import Own
from segment_reader.long_strings import LongStrings
from segment_reader.pictures import Pictures, Tokens
from segment_reader.shapes import Shapes
from segment_reader.symbols import Symbols
from segment_reader.times import Times
from segment_reader.updates import Updates


class Choices(Coded):
    """A stream that is written while it is read."""

    def __init__(self, rnd: random.Random) -> None:
        super().__init__(b"")
        self.rnd, self.out = rnd, bytearray()
        self.wanted: deque[int] = deque()
        self.bounds: dict[int, tuple[int, int]] = {}

    def bit(self, p: int) -> int:
        bit = self.wanted.popleft() if self.wanted else int(self.rnd.random() * 65536 < p)
        middle = self.low + ((self.high - self.low) >> 16) * p
        self.low, self.high = (self.low, middle) if bit else (middle + 1, self.high)
        if self.low >> 32 == self.high >> 32:
            self.out += (self.low >> 32).to_bytes(4, "big")
            self.low, self.high = self.low << 32 & M64, (self.high << 32 | M32) & M64
        return bit

    def finished(self) -> bytes:
        return bytes(self.out) + self.high.to_bytes(8, "big")

    def bits(self, value: int, n: int) -> None:
        self.wanted.extend(value >> i & 1 for i in range(n - 1, -1, -1))

    def adaptive(self, model: Bit, limit: int = 60) -> int:
        if not self.wanted and self.rnd.random() < 0.5:
            self.bits(self.rnd.getrandbits(1), 1)
        return super().adaptive(model, limit)

    def tree(self, tree: Table, n: int, limit: int = 60) -> int:
        if not self.wanted and n == 3:
            # The kinds of tokens, of which one is none.
            self.bits(self.rnd.choice([0, 0, 1, 1, 2, 2, 3, 4, 4, 5, 6]) if self.rnd.random() < 0.998 else 7, n)
        elif not self.wanted and self.rnd.random() < 0.5:
            self.bits(self.rnd.choice([0, (1 << n) - 1, self.rnd.getrandbits(n)]), n)
        return super().tree(tree, n, limit)

    def number(self, model: Number) -> int:
        if not self.wanted:
            lowest, below = self.bounds.get(id(model), (0, 1 << 64))
            n = self.rnd.choice(
                [0, 0, 1, 2, 3, self.rnd.randrange(64), self.rnd.getrandbits(self.rnd.choice([6, 20, 64]))]
            )
            self.number_is(n if self.rnd.random() < 0.005 else max(lowest, min(n, below - 1)))
        return super().number(model)

    def number_is(self, n: int) -> None:
        """The next number is to be n; its length may be said in more than one way if it is 64."""
        length = n.bit_length()
        self.bits(length if length < 64 or self.rnd.random() < 0.5 else self.rnd.randrange(64, 128), 7)
        if length > 1:
            self.bits(n & ((1 << (length - 1)) - 1), length - 1)

    def bound(self, model: Number, lowest: int, below: int) -> None:
        """Numbers of this model are nearly always in this range."""
        self.bounds[id(model)] = lowest, below


class ChosenSymbols(Symbols):
    """A stream of symbols that is written while it is read: from its end, once it is known."""

    def __init__(self, rnd: random.Random) -> None:
        super().__init__(b"")
        self.rnd, self.shares = rnd, list[tuple[int, int]]()
        self.wanted: deque[int] = deque()

    def symbol(self, starts: list[int]) -> int:
        ends = [*starts[1:], 65536]
        sizes = [end - start for start, end in zip(starts, ends, strict=True)]
        if self.wanted:
            symbol = self.wanted.popleft()
        elif self.rnd.random() < 0.5:
            symbol = self.rnd.randrange(16)
        else:
            symbol = self.rnd.choices(range(16), sizes)[0]
        self.shares.append((starts[symbol], sizes[symbol]))
        return symbol

    def want(self, wanted: bytes) -> None:
        for byte in wanted:
            self.wanted.extend([byte >> 4, byte & 15])

    def finished(self) -> bytes:
        # What is left in the end is nobody's concern.
        state, out = self.rnd.randrange(1 << 16, 1 << 32), bytearray()
        for start, size in reversed(self.shares):
            if state >> 16 >= size:
                out += (state & 0xFFFF).to_bytes(2, "little")
                state >>= 16
            state = (state // size << 16) + state % size + start
        return bytes(reversed(out + state.to_bytes(4, "little")))


class ForgedShapes(Shapes):
    coded: Choices
    symbols: ChosenSymbols
    walk: Updates

    def next(self) -> bytes:
        self.coded.bound(self.numbers, 0, len(self.known))
        return super().next()

    def spelled_out(self) -> bytes:
        shape = ShapeMaker(self.coded.rnd, len(self.walk.ids), len(self.walk.words)).shape()
        self.coded.number_is(len(shape))
        self.symbols.want(shape)
        return super().spelled_out()


class ForgedStrings(LongStrings):
    structure: Choices

    def length(self, model: Number, room: int) -> int:
        self.structure.bound(model, 1, min(room, 40) + 1)
        return super().length(model, room)

    def copy(self, kind: int, last: int, cursor: int, begin: int, room: int) -> int:
        self.structure.bound(self.distances[5], 1, len(self.history) + 1)
        # Even numbers go forward, odd ones back.
        forward = len(self.history) - cursor
        self.structure.bound(self.distances[4], int(forward == 0), min(2 * forward, 2 * cursor + 1) or 2)
        return super().copy(kind, last, cursor, begin, room)


class ForgedPictures(Pictures):
    coded: Choices

    def next(self, room: int) -> bytes:
        for number, least, most in zip(self.numbers, (0, 10, 0, 0, 0), (90, 20, 9, 70, 9), strict=True):
            self.coded.bound(number, least, most + 1)
        self.coded.bound(self.counts, 0, 50)
        at = self.literals.at
        # The size of chunks is among the literals, where the head ends.
        data = bytearray(self.literals.data)
        for p in range(at, min(at + 20, len(data)), 4):
            data[p : p + 4] = self.coded.rnd.choice([b"\0\0\0\x02", b"\0\0\1\0", b"\0\0\0\x40"])
        self.literals.data = bytes(data)
        return super().next(room)

    def stream(self, tokens: Tokens, room: int) -> bytes:
        chosen = ForgedTokens(self, tokens.window)
        return super().stream(chosen, room)

    def own(self) -> Own:
        """Codes that are possible; whether they have what is needed is a matter of chance."""
        rnd, coded = self.coded.rnd, self.coded
        counts = [rnd.choice([29, 29, 29, rnd.randrange(32)]), rnd.choice([29, 29, 29, rnd.randrange(32)]), 15]
        for count, n in zip(counts, (5, 5, 4), strict=True):
            coded.bits(count, n)
        for symbol in Own.ORDER:
            coded.bits(rnd.choice([5, 5, 6]) if symbol in {0, 5, 8, 9, 16, 17, 18} or rnd.random() < 0.5 else 0, 3)
        expected, stands_for = sum(counts) - 15 + 258, 0
        while stands_for < expected:
            symbol = rnd.choice([9, 16]) if stands_for and stands_for + 6 <= expected else 9
            if rnd.random() < 0.002:
                symbol = rnd.choice([0, 8, 16, 17, 18, 19])
            coded.bits(symbol, 5)
            bits = Own.further_bits(symbol)
            more = rnd.getrandbits(bits) if bits < 7 else rnd.randrange(4)
            coded.bits(more, bits)
            stands_for += {16: 3, 17: 3, 18: 11}.get(symbol, 1) + more
            if symbol > 18:
                break
        return super().own()


class ForgedTokens(Tokens):
    coded: Choices

    def next(self) -> int | tuple[int, int]:
        rnd, begin = self.coded.rnd, len(self.window.bytes)
        copy = begin > 0 and rnd.random() < 0.3
        self.coded.bits(int(copy), 1)
        if copy:
            distances = [*self.known, 1, self.window.pixel, self.window.line]
            within = [i for i, distance in enumerate(distances) if distance <= begin]
            self.coded.bits(rnd.choice([*within, 7, 7]) if rnd.random() < 0.999 else rnd.randrange(8), 3)
        self.coded.bound(self.models.distances, 1, begin + 1)
        return super().next()


class ForgedUpdates(Updates):
    structure: Choices

    def client(self) -> int:
        self.structure.bound(self.rank, 0, len(self.recent))
        self.structure.bound(self.short_length, 0, 48)
        return super().client()


class ShapeMaker:
    """Shapes of updates of all kinds, for a reader that knows so many clients and words."""

    def __init__(self, rnd: random.Random, clients: int, words: int) -> None:
        self.rnd, self.choice = rnd, rnd.choice
        self.clients, self.words = clients, words

    def shape(self) -> bytes:
        if self.rnd.random() < 0.1:
            return b""
        out = self.repeated(self.choice([0, 1, 1, 2]), self.client_block)
        out += self.repeated(self.choice([0, 0, 1, 2]), self.delete_block)
        if self.rnd.random() < 0.02:
            at = self.rnd.randrange(len(out))
            out = out[:at] + self.rnd.randbytes(self.choice([0, 1, 2])) + out[at + 1 :]
        return out

    def repeated(self, n: int, make: Callable[[], bytes]) -> bytes:
        return bytes([n]) + b"".join(make() for _ in range(n))

    def k(self) -> bytes:
        return bytes([self.choice([0, 1, 2, 3, 4, 255])])

    def client(self) -> bytes:
        how = self.choice([0, 0, 0, 16, 16, 17, self.rnd.randrange(min(256, self.clients + 1))])
        if how == 16 or (self.clients <= how != 17 and self.rnd.random() < 0.99):
            self.clients += 1
            how = 16
        return bytes([how])

    def id(self) -> bytes:
        k = self.choice([0, 1, 2, 3, 4, 255])
        return bytes([k]) + (self.client() if k > 3 else b"")

    def parent_id(self) -> bytes:
        k = self.choice([0, 1, 2, 3, 255])
        return bytes([k]) + (self.client() if k > 2 else b"")

    def string(self) -> bytes:
        if self.words and self.rnd.random() < 0.4:
            return b"\0" + varint(self.rnd.randrange(self.words))
        how = self.choice([*(1, 1, 2, 3, 4) * 6, self.rnd.randrange(1, 256)])
        self.words += how == 1
        return bytes([how])

    def client_block(self) -> bytes:
        structs = self.choice([1, 1, 2, 3])
        return bytes([structs]) + self.client() + self.k() + b"".join(self.struct() for _ in range(structs))

    def delete_block(self) -> bytes:
        return self.client() + self.repeated(self.choice([0, 1, 2, 3]), lambda: self.k() + self.k())

    def struct(self) -> bytes:
        kind = self.choice([0, 1, 2, 3, 4, 4, 4, 5, 6, 7, 7, 8, 9, 10])
        info = kind | self.choice([0, 0x20, 0x80, 0xC0, 0x40, 0xE0])
        out = bytes([info])
        if kind in {0, 10}:
            return out + self.k()
        out += self.id() if info & 0x80 else b""
        out += self.id() if info & 0x40 else b""
        if not info & 0xC0:
            out += self.choice([b"\1" + self.string(), b"\0" + self.parent_id()])
            out += self.string() if info & 0x20 else b""
        return out + self.content(kind)

    def content(self, kind: int) -> bytes:
        count = self.choice([0, 1, 1, 3])
        shared = self.rnd.randrange(7)
        made: dict[int, Callable[[], bytes]] = {
            1: self.k,
            2: lambda: self.repeated(count, self.string),
            6: lambda: self.string() + self.string(),
            7: lambda: bytes([shared]) + (self.string() if shared in {3, 5} else b""),
            8: lambda: self.repeated(count, self.any),
            9: lambda: self.string() + self.any(),
        }
        return made.get(kind, self.string)()

    def any(self, depth: int = 0) -> bytes:
        if self.rnd.random() < 0.03 and depth == 0:
            return b"\x75\1" * self.rnd.choice([10, 11, 11, 12]) + b"\x7f"
        kind = self.rnd.randrange(116, 128)
        inside = self.choice([0, 1, 2]) if depth < 3 else 0
        made: dict[int, Callable[[], bytes]] = {
            119: self.string,
            118: lambda: self.repeated(inside, lambda: self.string() + self.any(depth + 1)),
            117: lambda: self.repeated(inside, lambda: self.any(depth + 1)),
            116: self.string,
        }
        return bytes([kind]) + made.get(kind, bytes)()


class Forged:
    """A segment, and what the reader made of it while it came to be: the records, or the reason why it refuses it."""

    def __init__(self, seed: int, updates: int) -> None:
        rnd = random.Random(seed)
        structure, text, coded_times = Choices(rnd), ChosenSymbols(rnd), Choices(rnd)
        any_time: float = struct.unpack("<d", rnd.randbytes(8))[0]
        first = rnd.choice([0.0, 1.7e9, -5.25, 9.3e12, any_time])
        unit, noise = rnd.choice([0, 1, 2]), rnd.randbytes(20)
        times = Times(coded_times, unit, first, noise)
        content = Content(updates, 1 << 20, structure, text, rnd.randbytes(1 << 12))
        content.long = ForgedStrings(structure, content.text, content.long.literals.data)
        content.long.pictures = ForgedPictures(structure, text, content.long.literals)
        content.walk = ForgedUpdates(updates, structure, content.text, content.long)
        content.shapes = ForgedShapes(structure, text)
        content.shapes.walk = content.walk
        # The size of a table depends on that of the content if there is little of it, which is not known yet.
        structure.bits(rnd.getrandbits(1), 1)
        structure.bits(1, 1)
        structure.number_is(0)
        structure.bits(2, 3)
        structure.number_is(2 * updates + 1024)
        self.records: list[Record] | None = None
        try:
            self.records = content.records(times)
            self.reason = ""
        except NotReadable as error:
            self.reason = str(error)
        used = content.long.literals.at
        if self.records is not None and rnd.random() < 0.05:
            used, self.records, self.reason = used + 1, None, "literals are left over"
        literals = content.long.literals.data[:used]
        parameters = zstandard.ZstdCompressionParameters(
            format=zstandard.FORMAT_ZSTD1_MAGICLESS, write_content_size=0, write_checksum=0
        )
        compressed = zstandard.ZstdCompressor(compression_params=parameters).compress(literals)
        streams = [structure.finished(), text.finished(), coded_times.finished(), noise, compressed]
        raw_bytes = (1 << 20) - content.left
        header = varint(updates) + varint(raw_bytes) + bytes([unit]) + struct.pack("<d", first)
        header += varint(zigzag(times.last - times.first)) + b"".join(varint(len(stream)) for stream in streams)
        header += varint(len(literals)) + b"\0"
        blob = b"\xfe\x01" + bytes(8) + header + b"".join(streams)
        self.blob = Segment(blob, 0, self.records or [], content.metadata).signed()
