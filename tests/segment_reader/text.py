"""Bytes out of coded symbols, each predicted from those before it."""

from __future__ import annotations

from collections.abc import Hashable

from .basics import M32, M64, K, clamp
from .mixer import Mixer
from .symbols import Symbols

Context = int  # the last four bytes


def start(n: int) -> Context:
    return n


def after(context: Context, byte: int) -> Context:
    return (context << 8 | byte) & M32


class Text:
    """Bytes out of coded symbols, each predicted from those before it."""

    def __init__(self, symbols: Symbols, n: int) -> None:
        self.mixer, self.context = Mixer(symbols, 4), start(0)
        self.size = 1 << clamp(max(n, 1).bit_length() + 2, 10, 16)

    def byte(self) -> int:
        last = self.context & 0xFF
        kind = 3 if last >= 0x80 else 0 if chr(last).isalpha() else 1 if chr(last).isdigit() else 2
        high = self.mixer.symbol(self._at(0), 2 * kind)
        byte = high << 4 | self.mixer.symbol(self._at(16 + high), 2 * kind + 1)
        self.context = after(self.context, byte)
        return byte

    def _at(self, place: int) -> list[tuple[Hashable, int]]:
        values = (self.context & 0xFF, self.context & 0xFFFF, self.context)
        hashes = [((value | i << 32) * K & M64) >> 32 for i, value in enumerate(values, 1)]
        spread = place * 0x9E3779B1 & M32
        return [(("nothing", place), 0), *(((h ^ spread) >> 9 & self.size - 1, h & 511) for h in hashes)]
