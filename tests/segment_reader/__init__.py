"""A reader of segments written from docs/format-segment.md alone, without ypress: what another program would do.

It is slow: some ten microseconds for each coded bit, a hundred for each byte of text.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import brotli  # type: ignore[import-untyped]
import xxhash
import zstandard

from .basics import Bytes, NotReadable, Record, refuse_if, unzigzag
from .coded import Coded
from .content import Content
from .symbols import Symbols
from .times import Times

__all__ = ["NotReadable", "Record", "Segment", "parse", "read"]


def literals_of(stream: bytes, length: int, method: int) -> bytes:
    try:
        if method == 0:
            decompressor = zstandard.ZstdDecompressor(format=zstandard.FORMAT_ZSTD1_MAGICLESS).decompressobj()
            literals = decompressor.decompress(stream)
            refuse_if(not decompressor.eof or decompressor.unused_data != b"", "the literals are damaged")
        else:
            literals = brotli.decompress(stream)
    except (zstandard.ZstdError, brotli.error) as error:
        raise NotReadable("the literals are damaged") from error
    refuse_if(len(literals) != length, "the literals are of another length")
    return literals


def xxh3(data: bytes, seed: int = 0) -> int:
    return xxhash.xxh3_64_intdigest(data, seed)


@dataclass
class Segment:
    """A segment whose check was not compared yet."""

    blob: bytes
    check: int
    records: list[Record]
    metadata: list[bytes]
    """The metadata that is not said to be the same as before."""

    def expected_check(self) -> int:
        updates = [update for update, _, _ in self.records]
        index = [
            struct.pack("<IId", len(update), 0 if metadata is None else len(metadata) + 1, timestamp)
            for update, metadata, timestamp in self.records
        ]
        return xxh3(b"".join(updates + self.metadata + index), xxh3(self.blob[:2] + self.blob[10:]))

    def signed(self) -> bytes:
        """The same blob with the right check."""
        return self.blob[:2] + self.expected_check().to_bytes(8, "little") + self.blob[10:]


def read(blob: bytes) -> list[Record]:
    """The records of a segment: update, metadata, timestamp; NotReadable if it is none, damaged, of a newer format."""
    segment = parse(blob)
    refuse_if(segment.check != segment.expected_check(), "the content is damaged")
    return segment.records


def parse(blob: bytes) -> Segment:
    """All of it, but nothing may be handed out before the check is compared."""
    data = Bytes(blob)
    refuse_if(data.byte() != 0xFE, "no segment")
    refuse_if(data.byte() != 1, "of another version")
    check = int.from_bytes(data.take(8), "little")
    updates = data.varint()
    refuse_if(updates > 1 << 20, "too many updates")
    if updates == 0:
        data.end()
        return Segment(blob, check, [], [])
    raw_bytes = data.varint()
    refuse_if(raw_bytes > 1 << 31, "too large")
    unit = data.byte()
    first: float = struct.unpack("<d", data.take(8))[0]
    last = data.varint()
    lengths = [data.varint() for _ in range(5)]
    literals_raw = method = 0
    if lengths[4]:
        literals_raw, method = data.varint(), data.byte()
        refuse_if(literals_raw > raw_bytes, "more literals than bytes")
        refuse_if(method > 1, "an unknown method")
        refuse_if(method == 1 and literals_raw > 1 << 22, "more literals than brotli may hold")
    structure, text, times_coded, noise, compressed = [data.take(length) for length in lengths]
    data.end()
    literals = literals_of(compressed, literals_raw, method) if compressed else b""
    times = Times(Coded(times_coded), unit, first, noise)
    content = Content(updates, raw_bytes, Coded(structure), Symbols(text), literals)
    records = content.records(times)
    content.end()
    timestamp = times.timestamp(times.first + unzigzag(last))
    refuse_if(struct.pack("<d", timestamp) != struct.pack("<d", records[-1][2]), "another last timestamp")
    return Segment(blob, check, records, content.metadata)
