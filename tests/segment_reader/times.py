"""Timestamps."""

from __future__ import annotations

import math
import struct

from .basics import M64, clamp, refuse_if
from .coded import Coded, new_bit, table, tables


class Times:
    SCALES = (None, 1e6, 1e3)

    def __init__(self, coded: Coded, unit: int, first: float, noise: bytes) -> None:
        refuse_if(unit > 2, "unknown unit")
        self.scale = self.SCALES[unit]
        self.coded, self.noise, self.noise_at = coded, int.from_bytes(noise, "little"), 0
        self.first = self.last = self.number(first)
        self.step, self.token = 0, 0
        self.tokens, self.small, self.negative = tables(), table(), new_bit()
        self.lengths, self.high = table(), tables()

    def number(self, timestamp: float) -> int:
        if self.scale is None:
            return int.from_bytes(struct.pack("<d", timestamp), "little")
        scaled = timestamp * self.scale
        if not math.isfinite(scaled):
            return 0 if math.isnan(scaled) else (1 << 63) - (scaled > 0)
        whole = int(scaled)
        if abs(scaled - whole) >= 0.5:
            whole += 1 if scaled > 0 else -1
        return clamp(whole, -(1 << 63), (1 << 63) - 1) & M64

    def next(self) -> float:
        token = self.coded.tree(self.tokens[{0: 0, 31: 1}.get(self.token, 2)], 5, 250)
        if token == 0:
            self.step += self.coded.tree(self.small, 5, 250) - 16
        elif token < 31:
            self.step = self.magnitude(token)
        else:
            negative = self.coded.adaptive(self.negative, 250)
            magnitude = self.magnitude(min(self.coded.tree(self.lengths, 7, 250), 64))
            self.step = -magnitude if negative else magnitude
        self.token = token
        self.last = (self.last + self.step) & M64
        return self.timestamp(self.last)

    def timestamp(self, number: int) -> float:
        number &= M64
        if self.scale is None:
            timestamp: float = struct.unpack("<d", number.to_bytes(8, "little"))[0]
            return timestamp
        return float(number - (number >> 63 << 64)) / self.scale

    def magnitude(self, length: int) -> int:
        if length == 0:
            return 0
        lead = min(4, length - 1)
        rest = length - 1 - lead
        n = 1 << lead | self.coded.tree(self.high[length], lead, 250)
        low = self.noise >> self.noise_at & ((1 << rest) - 1)
        self.noise_at += rest
        return n << rest | low
