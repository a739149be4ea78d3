"""Pictures: the text of PNG files, out of the tokens of their deflate streams."""

from __future__ import annotations

import base64
import zlib
from collections import defaultdict, deque
from itertools import islice

from .basics import M32, Bytes, clamp, refuse_if
from .coded import Coded, Number, Table, new_bit, table, tables
from .deflate import Codes, Deflated, Own
from .mixer import Mixer
from .symbols import Symbols


class Window:
    """What the tokens stand for so far."""

    def __init__(self, line: int, pixel: int) -> None:
        self.line, self.pixel = clamp(line, 2, 1 << 16), clamp(pixel, 1, 8)
        self.bytes, self.values = bytearray(), bytearray()
        self.slots: defaultdict[int, deque[int]] = defaultdict(deque)  # places, the last one first

    @property
    def column(self) -> int:
        return len(self.bytes) % self.line

    @property
    def lane(self) -> int:
        return 1 + (self.column - 1) % self.pixel if self.column else 0

    def byte(self, p: int) -> int:
        return self.bytes[p] if p >= 0 else 0

    def value(self, p: int) -> int:
        return self.values[p] if p >= 0 else 0

    def predicted(self) -> int:
        p, column = len(self.bytes), self.column
        if column == 0:
            return 0
        above, inside = self.value(p - self.line), column > self.pixel
        left = self.value(p - self.pixel) if inside else 0
        corner = self.value(p - self.line - self.pixel) if inside else 0
        match self.bytes[p - column]:
            case 1:
                return left
            case 2:
                return above
            case 3:
                return (left + above) // 2
            case 4:
                return min(left, above, corner, key=lambda value: abs(left + above - corner - value))
        return 0

    def append(self, byte: int) -> None:
        self.values.append((byte + self.predicted()) % 256)
        self.bytes.append(byte)
        if len(self.bytes) >= 3:
            p = len(self.bytes) - 3
            self.slots[self.slot(p)].appendleft(p)

    def slot(self, p: int) -> int:
        return (int.from_bytes(self.bytes[p : p + 3], "little") * 0x9E3779B1 & M32) >> 17

    def candidates(self, begin: int, excluded: list[int]) -> list[int]:
        """The distances from the copy that begins at ``begin``, of which three bytes are known."""
        near = [p for p in islice(self.slots[self.slot(begin)], 300) if 0 < begin - p < 32768][:256]
        same = [p for p in near if self.bytes[p : p + 3] == self.bytes[begin : begin + 3]]
        return [begin - p for p in same if begin - p not in excluded]


class Pictures:
    MOST = 1 << 28

    def __init__(self, coded: Coded, symbols: Symbols, literals: Bytes) -> None:
        self.coded, self.literals, self.mixer = coded, literals, Mixer(symbols, 2)
        self.numbers = [Number() for _ in range(5)]
        self.is_last, self.is_own, self.counts = new_bit(), new_bit(), Number()
        self.own_counts, self.lengths_of_lengths, self.items, self.more = tables(), tables(), tables(), tables()
        self.is_copy, self.sources, self.is_candidate = table(), tables(), table()
        self.distances, self.lengths = Number(), tables()
        self.left = self.MOST

    def next(self, room: int) -> bytes:
        breaks, head_length, tail_length, line, pixel = (self.coded.number(number) for number in self.numbers)
        refuse_if(head_length < 10, "a head that is too short")
        head, total, tail = (self.literals.take(n) for n in (head_length, 4, tail_length))
        size = int.from_bytes(head[-10:-6], "big")
        refuse_if(size < 2, "chunks that are too small")
        data = head[-2:] + self.stream(Tokens(self, Window(line, pixel)), room) + total
        refuse_if(len(data) + 12 * (len(data) // size) > room, "more than is left")
        file = head[:-10]
        for at in range(0, len(data), size):
            piece = data[at : at + size]
            chunk = b"IDAT" + piece
            file += (len(piece) if at else size).to_bytes(4, "big") + chunk + zlib.crc32(chunk).to_bytes(4, "big")
        text = base64.b64encode(file + tail)
        if breaks:
            text = b"\n".join(text[at : at + breaks] for at in range(0, len(text), breaks))
        refuse_if(len(text) > room, "more than is left")
        return text

    def stream(self, tokens: Tokens, room: int) -> bytes:
        out, last = Deflated(), 0
        while not last:
            last, count = self.coded.adaptive(self.is_last), self.coded.number(self.counts)
            own = self.own() if self.coded.adaptive(self.is_own) else None
            codes = Codes(own)
            out.begin(last, own)
            for _ in range(count):
                out.token(codes, tokens.next())
                refuse_if(out.length() > room, "more than is left")
                refuse_if(len(tokens.window.bytes) > self.left, "tokens for too many bytes")
            out.end(codes)
        self.left -= len(tokens.window.bytes)
        return out.finished()

    def own(self) -> Own:
        counts = [self.coded.tree(self.own_counts[i], n) for i, n in enumerate((5, 5, 4))]
        lengths = [self.coded.tree(self.lengths_of_lengths[i], 3) for i in range(counts[2] + 4)]
        own, symbol = Own(counts, lengths), 0
        while own.stands_for < own.expected:
            symbol = self.coded.tree(self.items[symbol], 5)
            refuse_if(symbol > 18, "no symbol of the code of lengths")
            bits = own.further_bits(symbol)
            own.add(symbol, self.coded.tree(self.more[symbol], bits) if bits else 0)
        return own


class Tokens:
    """The tokens of a picture. A literal is a byte, a copy its length and distance."""

    def __init__(self, pictures: Pictures, window: Window) -> None:
        self.models, self.coded, self.window = pictures, pictures.coded, window
        self.recent = self.length = 0
        self.known = [window.line, window.pixel, 1, 2 * window.line]

    def next(self) -> int | tuple[int, int]:
        lane = self.window.lane
        at = self.recent & 255 | lane << 8 | min(self.length, 15) << 12
        if not self.coded.adaptive(self.models.is_copy[at]):
            byte = self.byte(0)
            self.recent, self.length = self.recent << 1, 0
            return byte
        begin = len(self.window.bytes)
        source = self.coded.tree(self.models.sources[lane << 4 | self.recent & 15], 3)
        distances = [*self.known, 1, self.window.pixel, self.window.line]
        if source == 7:
            for _ in range(3):
                self.byte(1)
            distances.append(self.elsewhere(begin, distances))
        distance = distances[source]
        self.length = 3 + self.coded.tree(self.lengths(source, lane), 8)
        refuse_if(not 0 < distance <= min(32768, begin), "a copy from outside")
        while len(self.window.bytes) < begin + self.length:
            self.window.append(self.window.bytes[-distance])
        del self.known[min(source, 3)]
        self.known.insert(0, distance)
        self.recent = self.recent << 1 | 1
        return self.length, distance

    def lengths(self, source: int, lane: int) -> Table:
        return self.models.lengths[source << 5 | (self.recent & 1) << 4 | lane]

    def elsewhere(self, begin: int, excluded: list[int]) -> int:
        window = self.window
        for rank, distance in enumerate(window.candidates(begin, excluded)):
            same = 0
            while same < 2 and window.byte(begin - 1 - same) == window.byte(begin - 1 - same - distance):
                same += 1
            aligned = distance % window.pixel == 0
            if self.coded.adaptive(self.models.is_candidate[min(rank, 15) | same << 4 | aligned << 6]):
                return distance
        return self.coded.number(self.models.distances)

    def byte(self, copied: int) -> int:
        window = self.window
        p, lane = len(window.bytes), window.lane
        b1, b2 = window.byte(p - 1), window.byte(p - 2)
        predicted, before = (lane, window.predicted()), (lane, b1, b1 == b2)
        high = self.models.mixer.symbol([((predicted, -1), 0), ((before, -1), 0)], (lane, copied, 0))
        low = self.models.mixer.symbol([((predicted, high), 0), ((before, high), 0)], (lane, copied, 1))
        window.append(high << 4 | low)
        return high << 4 | low
