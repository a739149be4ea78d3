"""Coded bits: adaptive bits, trees, numbers."""

from __future__ import annotations

from collections import defaultdict

from .basics import M32, M64, clamp

Bit = list[int]  # p and seen
Table = defaultdict[int, Bit]


def new_bit() -> Bit:
    return [32768, 0]


def table() -> Table:
    """Adaptive bits by number, made when they are first asked for."""
    return defaultdict(new_bit)


def tables() -> defaultdict[int, Table]:
    return defaultdict(table)


def learn(model: Bit, bit: int, limit: int) -> None:
    p, seen = model
    model[0] = p + ((65535 * bit - p) * (131072 // (2 * seen + 3)) >> 16)
    if seen < limit:
        model[1] = seen + 1


class Number:
    """The model of a number."""

    def __init__(self, lead: int = 3) -> None:
        self.lengths, self.high, self.lead = table(), tables(), lead


class Coded:
    """One of the streams of coded bits."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 8
        self.low, self.high, self.value = 0, M64, int.from_bytes(data[:8].ljust(8, b"\0"), "big")

    def bit(self, p: int) -> int:
        low, high = self.low, self.high
        middle = low + ((high - low) >> 16) * p
        if self.value <= middle:
            bit, high = 1, middle
        else:
            bit, low = 0, middle + 1
        if low >> 32 == high >> 32:
            low, high = low << 32 & M64, (high << 32 | M32) & M64
            following = self.data[self.at : self.at + 4].ljust(4, b"\0")
            self.value = self.value << 32 & M64 | int.from_bytes(following, "big")
            self.at += 4
        self.low, self.high = low, high
        return bit

    def adaptive(self, model: Bit, limit: int = 60) -> int:
        bit = self.bit(clamp(model[0], 24, 65512))
        learn(model, bit, limit)
        return bit

    def tree(self, tree: Table, n: int, limit: int = 60) -> int:
        node = 1
        for _ in range(n):
            node = 2 * node + self.adaptive(tree[node], limit)
        return node - (1 << n)

    def number(self, model: Number) -> int:
        length = min(self.tree(model.lengths, 7), 64)
        if length < 2:
            return length
        lead = min(model.lead, length - 1)
        n = 1 << lead | self.tree(model.high[length], lead)
        for _ in range(length - 1 - lead):
            n = n << 1 | self.bit(32768)
        return n
