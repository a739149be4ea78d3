"""Deflate streams (RFC 1951) out of tokens."""

from __future__ import annotations

from .basics import refuse_if

Code = tuple[int, int]  # the bits, the first one lowest, and how many


class Own:
    """The codes that a block spells out."""

    ORDER = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)

    def __init__(self, counts: list[int], lengths: list[int]) -> None:
        self.counts, self.in_order = counts, lengths
        self.symbols: list[tuple[int, int]] = []
        self.expected, self.stands_for = counts[0] + counts[1] + 258, 0
        lengths_of_lengths = [0] * 19
        for symbol, length in zip(self.ORDER, lengths, strict=False):
            lengths_of_lengths[symbol] = length
        self.code = codes(lengths_of_lengths)

    @staticmethod
    def further_bits(symbol: int) -> int:
        return {16: 2, 17: 3, 18: 7}.get(symbol, 0)

    def add(self, symbol: int, more: int) -> None:
        self.symbols.append((symbol, more))
        self.stands_for += {16: 3, 17: 3, 18: 11}.get(symbol, 1) + more

    def lengths(self) -> list[int]:
        out: list[int] = []
        for symbol, more in self.symbols:
            refuse_if(symbol == 16 and not out, "the first length repeated")
            out += {16: out[-1:], 17: [0], 18: [0]}.get(symbol, [symbol]) * (
                {16: 3, 17: 3, 18: 11}.get(symbol, 1) + more
            )
        refuse_if(len(out) != self.expected, "too many lengths")
        return out


def codes(lengths: list[int]) -> list[Code | None]:
    """RFC 1951, section 3.2.2."""
    out: list[Code | None] = [None] * len(lengths)
    code = 0
    for length in range(1, 16):
        for symbol in (i for i, of in enumerate(lengths) if of == length):
            refuse_if(code >= 1 << length, "more codes than there are")
            out[symbol] = int(f"{code:0{length}b}"[::-1], 2), length
            code += 1
        code <<= 1
    return out


class Codes:
    def __init__(self, own: Own | None) -> None:
        lengths, n = [8] * 144 + [9] * 112 + [7] * 24 + [8] * 8 + [5] * 32, 288
        if own:
            lengths, n = own.lengths(), own.counts[0] + 257
        self.literals, self.distances = codes(lengths[:n]), codes(lengths[n:])


class Deflated:
    """A stream, while it is written."""

    def __init__(self) -> None:
        self.out, self.held, self.count = bytearray(), 0, 0

    def length(self) -> int:
        return len(self.out)

    def bits(self, value: int, count: int) -> None:
        self.held |= value << self.count
        self.count += count
        while self.count >= 8:
            self.out.append(self.held & 255)
            self.held >>= 8
            self.count -= 8

    def symbol(self, of: list[Code | None], symbol: int) -> None:
        code = of[symbol] if symbol < len(of) else None
        if code is None:
            refuse_if(True, "a symbol without a code")
            return
        self.bits(*code)

    def begin(self, last: int, own: Own | None) -> None:
        self.bits(last, 1)
        self.bits(2 if own else 1, 2)
        if own:
            for count, n in zip(own.counts, (5, 5, 4), strict=True):
                self.bits(count, n)
            for length in own.in_order:
                self.bits(length, 3)
            for symbol, more in own.symbols:
                self.symbol(own.code, symbol)
                self.bits(more, own.further_bits(symbol))

    def token(self, codes: Codes, token: int | tuple[int, int]) -> None:
        if isinstance(token, int):
            self.symbol(codes.literals, token)
            return
        length, distance = token
        if length == 258:
            self.symbol(codes.literals, 285)
        else:
            number, more, bits = in_steps(length - 3, 2)
            self.symbol(codes.literals, 257 + number)
            self.bits(more, bits)
        number, more, bits = in_steps(distance - 1, 1)
        self.symbol(codes.distances, number)
        self.bits(more, bits)

    def end(self, codes: Codes) -> None:
        self.symbol(codes.literals, 256)

    def finished(self) -> bytes:
        return bytes(self.out) + (bytes([self.held]) if self.count else b"")


def in_steps(n: int, top: int) -> tuple[int, int, int]:
    """The number of the range that n is in, where it is in it, and in how many bits that is told: the ranges of the RFC
    begin at each number whose bits below the highest ``top + 1`` are 0."""
    bits = max(n.bit_length() - top - 1, 0)
    return (bits << top) + (n >> bits), n & ((1 << bits) - 1), bits
