"""Bytes out of coded symbols, each predicted from those before it."""

from __future__ import annotations

from collections import defaultdict

from .basics import M32, M64, K, clamp
from .symbols import Symbols

Context = int  # the last four bytes
Line = list[int]  # a tag, and what is below the symbols 1 to 15


def start(n: int) -> Context:
    return n


def after(context: Context, byte: int) -> Context:
    return (context << 8 | byte) & M32


def portion(n: int, part: int) -> int:
    return n * part >> 16


def towards_65536(n: int, part: int) -> int:
    return 65535 - towards_0(65535 - n, part)


def towards_0(n: int, part: int) -> int:
    return n - portion(n, part)


def first_weight(experience: int) -> int:
    row, seen = divmod(experience, 32)
    return (20000, 26000, 39000, 46000)[row] * (seen + 1) // (seen + 2) if seen else 0


class Text:
    """Bytes out of coded symbols, each predicted from those before it."""

    def __init__(self, symbols: Symbols, n: int) -> None:
        self.symbols, self.context = symbols, start(0)
        self.size = 1 << clamp(max(n, 1).bit_length() + 2, 10, 16)
        self.lines: defaultdict[tuple[bool, int], Line] = defaultdict(lambda: [0] * 16)
        weights = [first_weight(experience) for experience in range(128)]
        self.weights = [[weights.copy() for _ in range(4)] for _ in range(8)]

    def byte(self) -> int:
        values = (self.context & 0xFF, self.context & 0xFFFF, self.context)
        hashes = [((value | i << 32) * K & M64) >> 32 for i, value in enumerate(values, 1)]
        last = self.context & 0xFF
        kind = 3 if last >= 0x80 else 0 if chr(last).isalpha() else 1 if chr(last).isdigit() else 2
        high = self._half(hashes, 0, self.weights[2 * kind])
        byte = high << 4 | self._half(hashes, 16 + high, self.weights[2 * kind + 1])
        self.context = after(self.context, byte)
        return byte

    def _half(self, hashes: list[int], place: int, weights: list[list[int]]) -> int:
        lines, checks = [self.lines[False, place]], [0]
        for h in hashes:
            lines.append(self.lines[True, ((h ^ (place * 0x9E3779B1 & M32)) >> 9) % self.size])
            checks.append(h & 511)
        experience = [line[0] % 128 if line[0] >> 7 == check else 0 for line, check in zip(lines, checks, strict=True)]
        mixtures = [[4096 * i for i in range(16)]]
        for line, held, weight in zip(lines, experience, weights, strict=True):
            pairs = zip(mixtures[-1], [0, *line[1:]], strict=True)
            mixtures.append([towards_0(m, weight[held]) + portion(c, weight[held]) for m, c in pairs])
        symbol = self.symbols.symbol([portion(m, 65280) + 16 * i for i, m in enumerate(mixtures[-1])])
        shares = [[*mixture, 65536][symbol + 1] - mixture[symbol] for mixture in mixtures]
        for i, (line, held, weight) in enumerate(zip(lines, experience, weights, strict=True)):
            row, seen = divmod(held, 32)
            if shares[i + 1] > shares[i]:
                weight[held] = 65535 - ((65535 - weight[held]) - (65535 - weight[held] >> 6))
                row = min(row + 1, 3)
            else:
                weight[held] -= weight[held] >> 6
                row = 0 if held else 1
            step = 5 * 65536 // (5 * seen + 6) if seen else 65535
            for s in range(1, 16):
                line[s] = towards_65536(line[s], step) if s > symbol else towards_0(line[s], step)
            line[0] = checks[i] << 7 | row << 5 | min(seen + 1, 30)
        return symbol
