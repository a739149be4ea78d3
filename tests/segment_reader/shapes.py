"""Shapes: what most updates are alike in."""

from __future__ import annotations

from collections import defaultdict

from .basics import M32, refuse_if
from .coded import Coded, Number, new_bit, table
from .symbols import Symbols
from .text import Text, start


class Shapes:
    MOST = 4096

    def __init__(self, coded: Coded, symbols: Symbols) -> None:
        self.coded, self.symbols = coded, symbols
        self.known = [b""]
        self.followers: defaultdict[int, list[int]] = defaultdict(list)
        self.last = self.before = 0
        self.first_rank, self.ranks, self.is_known = table(), table(), new_bit()
        self.numbers, self.lengths, self.text = Number(), Number(), Text(symbols, 512)

    def next(self) -> bytes:
        followers = self.followers[self.last]
        for rank, number in enumerate(followers):
            if rank == 0:
                at = self.last * 0x9E37 + ((self.before * 0x85EBCA6B & M32) >> 9)
                model = self.first_rank[(at & M32) % 4096]
            else:
                model = self.ranks[(8 * self.last + rank) % 4096]
            if self.coded.adaptive(model):
                followers.insert(rank // 2, followers.pop(rank))
                self.before, self.last = self.last, number
                return self.known[number]
        if self.coded.adaptive(self.is_known):
            number = self.coded.number(self.numbers)
            refuse_if(number >= len(self.known), "an unknown shape")
            shape = self.known[number]
        else:
            number, shape = len(self.known), self.spelled_out()
            if number < self.MOST:
                self.known.append(shape)
        if number < self.MOST:
            n = min(len(followers) + 1, 7)
            followers.insert((n - 1) // 2, number)
            del followers[7:]
        self.before, self.last = self.last, number if number < self.MOST else 0
        return shape

    def spelled_out(self) -> bytes:
        length = self.coded.number(self.lengths)
        refuse_if(length > 255, "a shape that is too long")
        self.text.context = start(0)
        return bytes(self.text.byte() for _ in range(length))
