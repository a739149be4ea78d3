"""Updates: the walk, and what each element is guessed from."""

from __future__ import annotations

from collections.abc import Callable

from .basics import M64, Bytes, K, NotReadable, log2_of_size, refuse_if, unzigzag, varint
from .coded import Coded, Number, tables
from .long_strings import LongStrings
from .text import Context, Text, start

Id = tuple[int, int]  # the number of a client, and a clock


class Slots:
    """A table of fixed size: a new entry displaces what is in its slot."""

    def __init__(self, size: int, slot: Callable[[Id], int]) -> None:
        self.size, self.slot = size, slot
        self.entries: dict[int, tuple[Id, tuple[int, int]]] = {}

    def get(self, key: Id) -> tuple[int, int] | None:
        found = self.entries.get(self.slot(key) % self.size)
        return found[1] if found and found[0] == key else None

    def set(self, key: Id, value: tuple[int, int]) -> None:
        self.entries[self.slot(key) % self.size] = key, value


def plus(item: Id, n: int) -> Id:
    return item[0], (item[1] + n) & M64


class Updates:
    MOST_CLIENTS, MOST_WORDS = 4096, 4096

    def __init__(self, updates: int, structure: Coded, text: Text, long: LongStrings) -> None:
        self.structure, self.text, self.long = structure, text, long
        kinds = ("clock", "origin", "right origin", "parent", "length", "delete clock", "delete length", "signed")
        self.models = {kind: Number() for kind in kinds}
        self.new_client, self.rank, self.short_length = Number(), Number(), Number()
        self.raw_trees, self.raw_before = tables(), bytearray(8)
        self.words: list[bytes] = []
        self.ids: list[int] = []  # of the clients, by their number
        self.next_clock: list[int] = []
        self.recent: list[int] = []
        self.caret = self.right = self.deleted = self.parent = self.type1 = self.type2 = (0, 0)
        log2 = log2_of_size(2 * updates, 14)
        self.next = Slots(1 << log2, lambda i: ((i[1] ^ i[0] << 40) * K & M64) >> 40)
        self.previous = Slots(1 << log2, lambda i: ((i[1] ^ i[0] << 40) * K & M64) >> 40)
        self.contexts = Slots(1 << log2_of_size(2 * updates, 16), lambda i: i[1] ^ i[0] * 0x9E3779B9)

    def update(self, shape: bytes, left: int) -> bytes:
        self.shape, self.out, self.left, self.last_word = Bytes(shape), bytearray(), left, 0
        for _ in range(self.count()):
            self.client_block()
        for _ in range(self.count()):
            self.delete_block()
        self.shape.end()
        return bytes(self.out)

    # What is in the shape, and what follows from it

    def count(self) -> int:
        n = self.shape.varint()
        self.out += varint(n)
        return n

    def byte(self) -> int:
        self.out.append(self.shape.byte())
        return self.out[-1]

    def client(self) -> int:
        how = self.shape.byte()
        if how == 16:
            identifier = self.structure.number(self.new_client)
            if len(self.ids) < self.MOST_CLIENTS:
                number = len(self.ids)
                self.ids.append(identifier)
                self.next_clock.append(0)
            else:
                number = self.recent.pop()
                self.ids[number], self.next_clock[number] = identifier, 0
        else:
            rank = self.structure.number(self.rank) if how == 17 else how
            refuse_if(rank >= len(self.recent), "an unknown client")
            number = self.recent.pop(rank)
        self.recent.insert(0, number)
        self.out += varint(self.ids[number])
        return number

    def number(self, kind: str, *guesses: int) -> int:
        k = self.shape.byte()
        n = guesses[k] if k < len(guesses) else guesses[0] + unzigzag(self.structure.number(self.models[kind]))
        n &= M64
        self.out += varint(n)
        return n

    def id(self, kind: str, *guesses: Id) -> Id:
        k = self.shape.byte()
        if k < len(guesses):
            client, clock = guesses[k]
            self.out += varint(self.ids[client])
        else:
            client = self.client()
            base = next((guess[1] for guess in guesses if guess[0] == client), self.next_clock[client])
            clock = (base + unzigzag(self.structure.number(self.models[kind]))) & M64
        self.out += varint(clock)
        return client, clock

    def signed(self) -> None:
        m = self.structure.number(self.models["signed"])
        sign, magnitude = m & 1, m >> 1
        self.out.append(magnitude & 0x3F | sign << 6 | (magnitude > 0x3F) << 7)
        if magnitude > 0x3F:
            self.out += varint(magnitude >> 6)

    def raw(self, n: int) -> None:
        for position in range(n):
            self.raw_before[position] ^= self.structure.tree(self.raw_trees[position], 8)
        self.out += self.raw_before[:n]

    # Strings

    def word(self) -> None:
        self.string(4 + self.last_word % 32, start(1))

    def other(self) -> None:
        self.string(1, start(2))

    def string(self, slot: int, context: Context, item: Id | None = None) -> int:
        """How many clocks it takes if it is the text of this item."""
        how = self.shape.byte()
        refuse_if(how > 4, "an unknown kind of string")
        if how == 0:
            self.last_word = self.shape.varint()
            refuse_if(self.last_word >= len(self.words), "an unknown word")
            content = self.words[self.last_word]
        elif how == 2:
            content = self.long.next(slot, self.left - len(self.out))
        else:
            content = self.short_string(how == 3, context, item)
            if how == 1 and len(self.words) < self.MOST_WORDS:
                self.words.append(content)
        self.out += varint(len(content)) + content
        if how == 0:
            return 1
        return sum(not 0x80 <= byte < 0xC0 for byte in content) + sum(byte >= 0xF0 for byte in content)

    def short_string(self, single: bool, context: Context, item: Id | None) -> bytes:
        length = 1 if single else self.structure.number(self.short_length)
        refuse_if(length >= 48, "a short string that is not short")
        self.text.context = context
        content = bytearray()
        for i in range(length):
            content.append(self.text.byte())
            if item:
                self.contexts.set(plus(item, i), self.text.context)
        return bytes(content)

    # The walk

    def client_block(self) -> None:
        structs = self.count()
        client = self.client()
        clock = self.number("clock", self.next_clock[client])
        for _ in range(structs):
            clock = (clock + self.struct((client, clock))) & M64
            self.next_clock[client] = clock

    def struct(self, this: Id) -> int:
        """How many clocks the struct takes."""
        info = self.byte()
        kind = info & 31
        if kind in {0, 10}:
            return self.number("length", 1)
        origin = right_origin = None
        if info & 0x80:
            origin = self.id("origin", self.caret, plus(this, -1), plus(self.deleted, -1), self.right)
        if info & 0x40:
            if origin:
                guesses = (self.right_of(origin), self.right, plus(origin, 1), self.deleted)
            else:
                guesses = (self.right, self.right, plus(self.caret, 1), self.deleted)
            right_origin = self.id("right origin", *guesses)
        if not info & 0xC0:
            by = self.byte()
            refuse_if(by > 1, "an unknown kind of parent")
            if by:
                self.word()
            else:
                self.parent = self.id("parent", self.parent, self.type1, self.type2)
            if info & 0x20:
                self.word()
        n = self.content(kind, this, origin)
        self.placed(this, n, origin, right_origin)
        if kind == 7:
            self.type1, self.type2 = this, self.type1
        return n

    def content(self, kind: int, this: Id, origin: Id | None) -> int:
        if kind == 1:
            return self.number("length", 1)
        if kind in {2, 8}:
            n = self.count()
            for _ in range(n):
                self.other() if kind == 2 else self.any(12)
            return n
        if kind in {3, 5}:
            self.other()
        elif kind == 4:
            context = (self.contexts.get(origin) or self.text.context) if origin else start(0)
            return self.string(0, context, this)
        elif kind == 6:
            self.word()
            self.word()
        elif kind == 7:
            shared = self.byte()
            refuse_if(shared > 6, "an unknown shared type")
            if shared in {3, 5}:
                self.word()
        elif kind == 9:
            self.other()
            self.any(12)
        else:
            raise NotReadable("an unknown kind of content")
        return 1

    def any(self, depth: int) -> None:
        refuse_if(depth == 0, "nested too deep")
        kind = self.byte()
        if kind == 125:
            self.signed()
        elif kind == 124:
            self.raw(4)
        elif kind in {122, 123}:
            self.raw(8)
        elif kind == 119:
            self.word()
        elif kind in {117, 118}:
            for _ in range(self.count()):
                if kind == 118:
                    self.word()
                self.any(depth - 1)
        elif kind == 116:
            self.other()
        else:
            refuse_if(kind not in {127, 126, 121, 120}, "an unknown kind of value")

    def right_of(self, item: Id) -> Id:
        return self.next.get(item) or plus(item, 1)

    def placed(self, this: Id, n: int, origin: Id | None, right_origin: Id | None) -> None:
        end = plus(this, n - 1)
        if origin:
            if plus(origin, 1) != this:
                self.next.set(origin, this)
                self.previous.set(this, origin)
            elif self.next.get(origin):
                self.next.set(origin, this)
        if right_origin:
            self.next.set(end, right_origin)
            if plus(right_origin, -1) != end:
                self.previous.set(right_origin, end)
            self.right = right_origin
        self.caret = end

    def delete_block(self) -> None:
        client = self.client()
        for i in range(self.count()):
            caret, right, deleted = self.caret[1], self.right[1], self.deleted[1]
            if i:
                clock = self.number("delete clock", deleted, caret, right)
            else:
                clock = self.number("delete clock", caret, right, deleted)
            n = self.number("delete length", 1, caret + 1 - clock, right - clock, deleted - clock)
            begin = (client, clock)
            self.deleted = plus(begin, n)
            self.caret = self.previous.get(begin) or plus(begin, -1)
            self.right = begin
