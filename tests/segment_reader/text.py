"""Bytes out of coded bits, each predicted from those before it."""

from __future__ import annotations

from collections import defaultdict

from .basics import M32, M64, K, clamp, log2_of_size
from .coded import Coded, learn, tables

Context = tuple[int, int]  # history and word

_POINTS = [
    *(22, 36, 59, 98, 161, 265, 437, 719, 1179, 1929, 3108, 4972, 7812, 11955, 17625, 24816, 32768, 40720, 47911),
    *(53581, 57724, 60564, 62428, 63607, 64357, 64817, 65099, 65271, 65375, 65438, 65477, 65500, 65514, 65522),
]


def _squash(x: int) -> int:
    x = clamp(x, -2047, 2047) + 2048
    j, f = x >> 7, x & 127
    return (_POINTS[j] * (128 - f) + _POINTS[j + 1] * f) >> 7


def _stretch() -> list[int]:
    out, x = [], -2047
    for q in range(4096):
        while x < 2047 and _squash(x) >> 4 < q:
            x += 1
        out.append(x)
    return out


_SQUASH = [_squash(x) for x in range(-2047, 2048)]
_STRETCH = _stretch()


def start(n: int) -> Context:
    return n, 0


def after(context: Context, byte: int) -> Context:
    history, word = context
    letter = byte >= 0x80 or chr(byte).isalnum()
    return (history << 8 | byte) & M64, (word + byte + 1) * 0x2F0B4A27 & M32 if letter else 0


class Text:
    """Bytes out of coded bits, each predicted from those before it."""

    LIMITS = (250, 120, 20, 20)

    def __init__(self, coded: Coded, n: int) -> None:
        self.coded, self.context = coded, start(0)
        b = log2_of_size(n, 14)
        self.sizes = (1 << min(b, 11), 1 << b, 1 << b, 1 << b)
        self.tables = tables(), tables(), tables(), tables()
        self.weights: defaultdict[int, list[int]] = defaultdict(lambda: [6000] * 4)

    def byte(self) -> int:
        history, word = self.context
        parts = (history & 0xFF, history & 0xFFFF, history & 0xFFFFFF, word << 8 | history & 0xFF)
        hashes = [(part ^ i << 58) * K & M64 for i, part in enumerate(parts, 1)]
        high = self._half(hashes, 1, 0)
        byte = high << 4 | self._half(hashes, 16 + high, 64)
        self.context = after(self.context, byte)
        return byte

    def _half(self, hashes: list[int], place: int, base: int) -> int:
        lines = []
        for h, table, size in zip(hashes, self.tables, self.sizes, strict=True):
            lines.append(table[(((h + place) * 0xC2B2AE3D27D4EB4F & M64) >> 44) % size])
        base += 16 * ((lines[2][1][1] > 0) + (lines[3][1][1] > 1))
        node = 1
        for _ in range(4):
            models = [line[node] for line in lines]
            inputs = [_STRETCH[clamp(model[0], 24, 65512) >> 4] for model in models]
            weights = self.weights[base + node]
            total = sum(i * w for i, w in zip(inputs, weights, strict=True)) >> 14
            p = clamp(_SQUASH[clamp(total, -2047, 2047) + 2047], 32, 65504)
            bit = self.coded.bit(p)
            error = (bit << 16) - p
            for i, x in enumerate(inputs):
                weights[i] = clamp(weights[i] + ((x * (error >> 2) + 8192) >> 14), -131072, 131072)
                learn(models[i], bit, self.LIMITS[i])
            node = 2 * node + bit
        return node - 16
