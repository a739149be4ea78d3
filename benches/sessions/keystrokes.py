"""Text files that several people write: typing, correcting, jumping, deleting, pasting."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from jupyter_ydoc import YUnicode
from pycrdt import Text

from .room import Room, Row
from .text import Writer


class Typist:
    """A person at the keyboard of one text."""

    def __init__(self, room: Room, rnd: Random, source: Text, writer: Writer) -> None:
        self.room = room
        self.rnd = rnd
        self.source = source
        self.writer = writer

    def type(self, text: str, at: int, mistakes: float = 0.03) -> int:
        """Type text key by key at a position (in UTF-8 bytes), with mistakes that are taken back.

        Returns:
            the position behind the text.
        """
        for character in text:
            if self.rnd.random() < mistakes:
                at = self._slip(at)
            self.source.insert(at, character)
            at += len(character.encode())
            self.room.keystroke()
        return at

    def _slip(self, at: int) -> int:
        wrong = self.rnd.choices("etaoinshrdlu ", k=self.rnd.choice((1, 1, 1, 2, 4)))
        for offset, character in enumerate(wrong):
            self.source.insert(at + offset, character)
            self.room.keystroke()
        for offset in reversed(range(len(wrong))):
            del self.source[at + offset : at + offset + 1]
            self.room.keystroke()
        return at

    def erase(self, start: int, end: int) -> None:
        """Take back text with the backspace key, from its end to its start, or all at once if that is long."""
        if end - start > 12:
            del self.source[start:end]
            self.room.keystroke()
            return
        for position in range(end - 1, start - 1, -1):
            del self.source[position : position + 1]
            self.room.keystroke()


def _boundary(text: bytes, at: int) -> int:
    """The nearest position at or before ``at`` that does not cut a character."""
    while 0 < at < len(text) and text[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _place(text: bytes, rnd: Random, mark: bytes) -> int:
    """The end of some line or word: where a person would put the cursor."""
    found = text.find(mark, rnd.randrange(len(text) + 1))
    return len(text) if found < 0 else found + 1


def _edit(typist: Typist, rnd: Random, code: bool) -> None:
    """One thing that a person does before moving on."""
    text = str(typist.source).encode()
    fresh = typist.writer.code if code else typist.writer.paragraph
    what = rnd.random()
    if what < 0.40 or len(text) < 400:
        typist.type(fresh(), len(text))
    elif what < 0.62:
        typist.type(fresh(), _place(text, rnd, b"\n"))
    elif what < 0.80:
        typist.type(" " + typist.writer.word(), _place(text, rnd, b" ") - 1)
    elif what < 0.90:
        start = _place(text, rnd, b" ")
        end = _place(text[: start + 40], rnd, b" ") if start + 2 < len(text) else start
        if start < end:
            typist.erase(start, end)
        typist.type(typist.writer.word() + " ", min(start, len(typist.source)))
    elif what < 0.96:
        start = _place(text, rnd, b"\n")
        del typist.source[start : _boundary(text, min(len(text), start + rnd.randint(20, 400)))]
        typist.room.keystroke()
    else:
        start = _boundary(text, rnd.randrange(len(text)))
        end = _boundary(text, min(len(text), start + rnd.randint(30, 3000)))
        typist.source.insert(_place(text, rnd, b"\n"), text[start:end].decode())
        typist.room.keystroke()


def keystrokes(seed: int = 1, documents: int = 4, edits: int = 12_000, people: int = 3) -> Iterator[Row]:
    """The rows of text files that were typed.

    Args:
        seed: another seed is another session.
        documents: how many files; they follow each other in the rows.
        edits: about how many updates each of them has.
        people: the most who write in one file; the first file has one author.

    Every second file holds something already when the session begins.
    """
    for number in range(documents):
        rnd = Random(f"keystrokes {seed} {number}")
        code = number % 2 == 1
        room = Room("text:file", rnd)
        typists = []
        for _ in range(1 + number % people):
            document = room.join(YUnicode)
            typists.append((document, Typist(room, rnd, document.ydoc.get("source", type=Text), Writer(rnd))))
        if number % 2 == 0:
            # A file that was there before: it arrives as one large update.
            write = typists[0][1].writer.paragraph
            room.speak_as(typists[0][0])
            typists[0][1].source += "".join(write() for _ in range(edits // 80))
        while len(room.rows) < edits:
            document, typist = rnd.choice(typists)
            room.speak_as(document)
            for _ in range(rnd.randint(1, 6)):
                _edit(typist, rnd, code)
                room.wait(rnd.expovariate(1 / 3))
            if rnd.random() < 0.05:
                room.wait(rnd.expovariate(1 / 3600))
        yield from room.rows
