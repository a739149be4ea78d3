"""The records, one after another."""

from __future__ import annotations

from .basics import Record, refuse_if
from .coded import Coded, new_bit
from .long_strings import LongStrings
from .shapes import Shapes
from .symbols import Symbols
from .text import Text
from .times import Times
from .updates import Updates


class Content:
    def __init__(self, updates: int, raw_bytes: int, structure: Coded, text: Symbols, literals: bytes) -> None:
        self.updates, self.left, self.structure = updates, raw_bytes, structure
        self.text = Text(text, min(2 * updates + 1024, raw_bytes))
        self.long = LongStrings(structure, self.text, literals)
        self.metadata: list[bytes] = []  # that is not said to be the same as before
        self.walk, self.shapes = Updates(updates, structure, self.text, self.long), Shapes(structure, text)

    def records(self, times: Times) -> list[Record]:
        same, is_same, is_any = new_bit(), new_bit(), new_bit()
        all_same = self.structure.adaptive(same)
        records: list[Record] = []
        metadata: bytes | None = b""
        for i in range(self.updates):
            shape = self.shapes.next()
            update = self.walk.update(shape, self.left) if shape else self.long.next(2, self.left)
            self.took(len(update))
            if (i == 0 or not all_same) and not self.structure.adaptive(is_same):
                metadata = self.long.next(3, self.left) if self.structure.adaptive(is_any) else None
                self.metadata.append(metadata or b"")
            self.took(len(metadata or b""))
            records.append((update, metadata, times.next()))
        return records

    def took(self, n: int) -> None:
        self.left -= n
        refuse_if(self.left < 0, "more content than the header says")

    def end(self) -> None:
        refuse_if(self.left != 0, "less content than the header says")
        self.long.literals.end()
