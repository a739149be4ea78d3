"""Long strings, out of copies of earlier ones and literals."""

from __future__ import annotations

from .basics import M64, Bytes, refuse_if, unzigzag
from .coded import Coded, Number, table, tables
from .pictures import Pictures
from .text import Text, after, start


class LongStrings:
    def __init__(self, structure: Coded, text: Text, literals: bytes) -> None:
        self.structure, self.text, self.literals = structure, text, Bytes(literals)
        self.pictures = Pictures(structure, text.mixer.symbols, self.literals)
        self.history = bytearray()
        self.ends: list[int] = []  # of the strings, in order
        self.slots = [(0, 0)] * 36
        self.kinds, self.to_end = tables(), table()
        self.lengths, self.copies, self.distances = Number(), Number(), {4: Number(), 5: Number()}

    def next(self, slot: int, left: int) -> bytes:
        begin = len(self.history)
        last = cursor = self.slots[slot][0]
        kind = 0
        while kind := self.structure.tree(self.kinds[kind], 3):
            refuse_if(kind > 6, "an unknown kind of token")
            room = left - (len(self.history) - begin)
            if kind == 1:
                self.coded_literals(begin, room)
            elif kind == 2:
                self.history += self.literals.take(self.length(self.lengths, room))
            elif kind == 6:
                self.history += self.pictures.next(room)
            else:
                cursor = self.copy(kind, last, cursor, begin, room)
        self.ends.append(len(self.history))
        self.slots[slot] = (begin, len(self.history))
        return bytes(self.history[begin:])

    def length(self, model: Number, room: int) -> int:
        n = self.structure.number(model)
        refuse_if(not 0 < n <= room, "a length of 0, or more than is left")
        return n

    def coded_literals(self, begin: int, room: int) -> None:
        n = self.length(self.lengths, room)
        self.text.context = start(3)
        for byte in self.history[max(begin, len(self.history) - 8) :]:
            self.text.context = after(self.text.context, byte)
        for _ in range(n):
            self.history.append(self.text.byte())

    def copy(self, kind: int, last: int, cursor: int, begin: int, room: int) -> int:
        source, end = last, len(self.history)
        if kind == 4:
            source = (cursor + unzigzag(self.structure.number(self.distances[4]))) & M64
        elif kind == 5:
            source = end - self.structure.number(self.distances[5])
        refuse_if(not 0 <= source < end, "a copy from outside")
        if source < begin and self.structure.adaptive(self.to_end[kind]):
            n = min(e for e in self.ends if e > source) - source
            refuse_if(n > room, "more than is left")
        else:
            n = self.length(self.copies, room)
        for at in range(source, source + n):
            self.history.append(self.history[at])
        return source + n
