"""Updates of all kinds that Yjs (v1) can write, by chance: several clients, deletions, nested types, any values."""

from __future__ import annotations

import random
import struct

from segment_reader.basics import varint

Record = tuple[bytes, bytes | None, float]

WORDS = ("source", "cells", "id", "metadata", "é🎈", "", "x" * 47, "y" * 60, '{"bold":true}')
TEXTS = (
    "e",
    " ",
    "é",
    "🎈",
    "the ",
    "print(x)\n",
    "",
    "a longer line that was pasted, with more than 48 bytes in it\n",
)


def string(content: bytes) -> bytes:
    return varint(len(content)) + content


class RandomUpdates:
    def __init__(self, seed: int) -> None:
        self.rnd = random.Random(seed)
        self.clients = [self.rnd.choice([self.rnd.randrange(1, 300), self.rnd.getrandbits(53)]) for _ in range(5)]
        self.clocks = dict.fromkeys(self.clients, 0)
        self.last = (self.clients[0], 0)

    def history(self, count: int) -> list[Record]:
        """Some kept by one author, at times that a clock gives, some with metadata and times of any kind."""
        records: list[Record] = []
        plain, time = self.rnd.random() < 0.5, 1.7e9
        digits = self.rnd.choice([3, 6, 20])
        for _ in range(count):
            time = round(time + self.rnd.choice([0.1, self.rnd.expovariate(4), -1, 0, 1e5, 2e-6]), digits)
            metadata = b"" if plain else self.rnd.choice([None, b"", b"author", self.rnd.randbytes(60)])
            update = self.update() if self.rnd.random() < 0.95 else self.damaged(self.update())
            records.append((update, metadata, time))
        return records

    def damaged(self, update: bytes) -> bytes:
        at = self.rnd.randrange(len(update))
        return update[:at] + self.rnd.randbytes(1) + update[at + 1 :]

    def update(self) -> bytes:
        blocks = self.rnd.choice([0, 1, 1, 1, 2])
        out = varint(blocks) + b"".join(self.client_block() for _ in range(blocks))
        blocks = self.rnd.choice([0, 0, 1, 2])
        return out + varint(blocks) + b"".join(self.delete_block() for _ in range(blocks))

    def id(self) -> bytes:
        client, clock = self.last
        if self.rnd.random() < 0.4:
            client = self.rnd.choice(self.clients)
            clock = self.rnd.randrange(self.clocks[client] + 2)
        return varint(client) + varint(max(clock - self.rnd.choice([0, 0, 0, 1]), 0))

    def client_block(self) -> bytes:
        client, structs = self.rnd.choice(self.clients), self.rnd.choice([1, 1, 1, 2, 3])
        if self.rnd.random() < 0.05:
            self.clocks[client] += self.rnd.getrandbits(self.rnd.choice([3, 31, 50]))
        out = varint(structs) + varint(client) + varint(self.clocks[client])
        for _ in range(structs):
            content, clocks = self.struct()
            out += content
            self.clocks[client] += clocks
            self.last = (client, self.clocks[client] - 1)
        return out

    def struct(self) -> tuple[bytes, int]:
        kind = self.rnd.choice([0, 1, 2, 3, 4, 4, 4, 4, 4, 5, 6, 7, 7, 8, 8, 9, 10])
        if kind in {0, 10}:
            clocks = self.rnd.randrange(1, 300)
            return bytes([kind]) + varint(clocks), clocks
        info = kind | self.rnd.choice([0, 0x20, 0x80, 0x80, 0x80, 0xC0, 0xC0, 0x40, 0xA0])
        out = bytes([info])
        for bit in (0x80, 0x40):
            out += self.id() if info & bit else b""
        if not info & 0xC0:
            out += b"\x01" + self.word() if self.rnd.random() < 0.3 else b"\x00" + self.id()
            out += self.word() if info & 0x20 else b""
        content, clocks = self.content(kind)
        return out + content, clocks

    def word(self) -> bytes:
        return string(self.rnd.choice(WORDS).encode())

    def content(self, kind: int) -> tuple[bytes, int]:  # noqa: PLR0911 - one line for each kind
        count = self.rnd.choice([1, 1, 1, 2, 3, 0])
        if kind == 1:
            return varint(count), count
        if kind == 2:
            return varint(count) + self.word() * count, count
        if kind in {3, 5}:
            return string(self.rnd.randbytes(self.rnd.choice([0, 3, 60]))), 1
        if kind == 4:
            text = self.rnd.choice(TEXTS)
            return string(text.encode()), len(text.encode("utf-16-le")) // 2
        if kind == 6:
            return self.word() + self.word(), 1
        if kind == 7:
            shared = self.rnd.randrange(7)
            return bytes([shared]) + (self.word() if shared in {3, 5} else b""), 1
        if kind == 8:
            return varint(count) + b"".join(self.any() for _ in range(count)), count
        return self.word() + self.any(), 1

    def any(self, depth: int = 0) -> bytes:
        kind = self.rnd.randrange(116, 128)
        inside = self.rnd.choice([0, 1, 2]) if depth < 3 else 0
        if kind == 125:
            sign, magnitude = self.rnd.choice([0, 0x40]), self.rnd.getrandbits(self.rnd.choice([0, 5, 6, 7, 40, 62]))
            rest = varint(magnitude >> 6) if magnitude > 63 else b""
            return bytes([kind, magnitude & 63 | sign | (0x80 if rest else 0)]) + rest
        if kind in {124, 123, 122}:
            number = self.rnd.choice([0, 1, self.rnd.getrandbits(31)])
            return bytes([kind]) + struct.pack({124: ">f", 123: ">d", 122: ">q"}[kind], number)
        if kind in {119, 116}:
            return bytes([kind]) + self.word()
        if kind == 118:
            return bytes([kind, inside]) + b"".join(self.word() + self.any(depth + 1) for _ in range(inside))
        if kind == 117:
            return bytes([kind, inside]) + b"".join(self.any(depth + 1) for _ in range(inside))
        return bytes([kind])

    def delete_block(self) -> bytes:
        client, ranges = self.rnd.choice(self.clients), self.rnd.choice([1, 1, 2, 3])
        out = varint(client) + varint(ranges)
        for _ in range(ranges):
            clock = max(self.last[1], 0) if self.rnd.random() < 0.5 else self.rnd.randrange(self.clocks[client] + 1)
            out += varint(clock) + varint(self.rnd.choice([1, 1, 2, 9]))
        return out


def typed(seed: int, count: int) -> list[Record]:
    """Two people type and delete in one text, at a place each that moves now and then."""
    rnd = random.Random(seed)
    text: list[tuple[int, int]] = []  # the items, deleted or not
    clients, clocks, places = [rnd.getrandbits(30), rnd.getrandbits(30)], [0, 0], [0, 0]
    records: list[Record] = []
    for second in range(count):
        who = rnd.randrange(2) if rnd.random() < 0.2 else second // 16 % 2
        client, place = varint(clients[who]), min(places[who], len(text))
        if rnd.random() < 0.1:
            place = rnd.randrange(len(text) + 1)
        if place and rnd.random() < 0.2:
            at, clock = text[place - 1]
            update = b"\0\1" + varint(at) + b"\1" + varint(clock) + b"\1"
            places[who] = place - 1
        else:
            info, ids = 4, b""
            for bit, item in ((0x80, text[place - 1 : place]), (0x40, text[place : place + 1])):
                info |= bit if item else 0
                ids += b"".join(varint(at) + varint(clock) for at, clock in item)
            content = "".join(rnd.choices("etaon é", k=rnd.choice([1, 1, 1, 3])))
            parent = b"" if ids else b"\1\6source"
            item_bytes = bytes([info]) + ids + parent + string(content.encode())
            update = b"\1\1" + client + varint(clocks[who]) + item_bytes + b"\0"
            text[place:place] = [(clients[who], clocks[who] + i) for i in range(len(content))]
            clocks[who] += len(content)
            places[who] = place + len(content)
        records.append((update, b"", 1.7e9 + second))
    return records
