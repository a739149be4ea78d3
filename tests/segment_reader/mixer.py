"""Symbols whose shares are mixed from what followed in several contexts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

from .symbols import Symbols

Line = list[int]  # a tag, and what is below the symbols 1 to 15


def portion(n: int, part: int) -> int:
    return n * part >> 16


def towards_65536(n: int, part: int) -> int:
    return 65535 - towards_0(65535 - n, part)


def towards_0(n: int, part: int) -> int:
    return n - portion(n, part)


def first_weight(experience: int) -> int:
    row, seen = divmod(experience, 32)
    return (20000, 26000, 39000, 46000)[row] * (seen + 1) // (seen + 2) if seen else 0


class Mixer:
    """Symbols of which each is mixed from so many lines."""

    def __init__(self, symbols: Symbols, n: int) -> None:
        self.symbols = symbols
        self.lines: defaultdict[Hashable, Line] = defaultdict(lambda: [0] * 16)
        first = [first_weight(experience) for experience in range(128)]
        self.weights: defaultdict[Hashable, list[list[int]]] = defaultdict(lambda: [first.copy() for _ in range(n)])

    def symbol(self, at: Sequence[tuple[Hashable, int]], set_of_weights: Hashable) -> int:
        """The next symbol, by the lines at these places, each asked for with a check."""
        lines, checks = [self.lines[place] for place, _ in at], [check for _, check in at]
        weights = self.weights[set_of_weights]
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
