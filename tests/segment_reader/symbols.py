"""Coded symbols: halves of bytes under given shares."""

from __future__ import annotations


class Symbols:
    """The stream of coded symbols."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 4
        self.state = int.from_bytes(data[:4].ljust(4, b"\0"), "big")

    def symbol(self, starts: list[int]) -> int:
        """The next symbol, where symbol s has the share from ``starts[s]`` on, up to where the next one starts."""
        slot = self.state & 0xFFFF
        symbol = max(s for s, start in enumerate(starts) if start <= slot)
        size = [*starts, 65536][symbol + 1] - starts[symbol]
        self.state = size * (self.state >> 16) + slot - starts[symbol]
        if self.state < 1 << 16:
            following = self.data[self.at : self.at + 2].ljust(2, b"\0")
            self.state = self.state << 16 | int.from_bytes(following, "big")
            self.at += 2
        return symbol
