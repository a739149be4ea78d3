"""Inputs of kinds that have broken decoders before, made here: what each is, and what has to become of it."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator

from segment_reader.basics import varint

import ypress

# What becomes of a value: it stays as it is; it has this content; it is refused with this error.
RAW = None
Outcome = bytes | type[Exception] | None
Attack = tuple[str, bytes, Outcome]

MIB = 1 << 20
ZSTD = b"\x28\xb5\x2f\xfd"
LZ4 = b"\x04\x22\x4d\x18"
GZIP = b"\x1f\x8b\x08"


def frame(method: int, length: int, payload: bytes, check: bytes = bytes(4)) -> bytes:
    """A frame of ours around any payload."""
    return bytes([0x80 | method, 0]) + varint(length) + payload + check


def zstd_block(kind: int, size: int, content: bytes, last: bool = True) -> bytes:
    """A block: 0 is stored, 1 repeats a byte, 2 is compressed, 3 is reserved."""
    return struct.pack("<I", size << 3 | kind << 1 | last)[:3] + content


def window(log: int) -> bytes:
    """The descriptor of a window of 2**log bytes, behind a frame header that says nothing else."""
    return bytes([0, (log - 10) << 3])


def zstd() -> Iterator[Attack]:
    """Zstandard frames: RFC 8878."""
    stored = zstd_block(0, 5, b"hello")
    yield "a window of 2 TB for five bytes", ZSTD + b"\0\xf8" + stored, RAW
    yield "a window of 2 GB for five bytes", ZSTD + window(31) + stored, b"hello"
    yield "a content size of 2**62", ZSTD + b"\xe0" + struct.pack("<Q", 1 << 62) + stored, RAW
    yield "a content size that is too small", ZSTD + b"\x20\4" + stored, RAW
    yield "a content size that is too large", ZSTD + b"\x20\6" + stored, RAW
    yield "a dictionary that nobody has", ZSTD + b"\x21\7\5" + stored, RAW
    yield "a reserved bit", ZSTD + b"\x28\5" + stored, RAW
    yield "a reserved kind of block", ZSTD + window(20) + zstd_block(3, 5, b"hello"), RAW
    yield "a block that is longer than the value", ZSTD + window(20) + zstd_block(0, 1 << 20, b"hello"), RAW
    yield "a byte repeated more often than a block may", ZSTD + window(20) + zstd_block(1, (1 << 21) - 1, b"a"), RAW
    yield "no last block", ZSTD + window(20) + zstd_block(0, 5, b"hello", last=False), RAW
    yield "a checksum that is wrong", ZSTD + b"\x24\5" + stored + b"nope", RAW
    yield "empty compressed block", ZSTD + window(20) + zstd_block(2, 0, b""), RAW
    yield "10,000 empty frames", (ZSTD + b"\x20\0" + zstd_block(0, 0, b"")) * 10_000, b""
    skip = struct.pack("<II", 0x184D2A50, 3) + b"abc"
    yield "a skippable frame alone", skip, RAW
    yield "a skippable frame behind", ZSTD + b"\x20\5" + stored + skip, b"hello"
    yield "a skippable frame of 4 GB behind", ZSTD + b"\x20\5" + stored + skip[:4] + b"\xff" * 4, RAW
    for version in range(1, 8):
        magic = struct.pack("<I", 0xFD2FB51E if version == 1 else 0xFD2FB520 + version)
        yield f"the legacy format 0.{version}", magic + bytes(20), RAW
    repeat = zstd_block(1, 1 << 17, b"a", last=False)
    yield "1 GiB in 32 KB", ZSTD + window(20) + repeat * 8192 + zstd_block(0, 0, b""), ypress.TooLarge
    yield "512 MiB in a frame of ours", frame(2, 512 * MIB, window(20) + repeat * 4096), ypress.TooLarge
    yield "more than its bytes can hold", frame(2, 200 * MIB, window(20) + repeat * 100), ypress.CorruptData
    yield "a window of 2 GB in a frame of ours", frame(2, 5, window(31) + stored), ypress.CorruptData
    yield "a magic number in a frame of ours", frame(2, 5, ZSTD + b"\x20\5" + stored), ypress.CorruptData


def xxh32(data: bytes) -> int:
    """XXH32 of less than 16 bytes."""
    primes = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    mask = 0xFFFFFFFF
    value = primes[4] + len(data)
    while len(data) >= 4:
        value = (value + int.from_bytes(data[:4], "little") * primes[2]) & mask
        value = (value << 17 | value >> 15) * primes[3] & mask
        data = data[4:]
    for byte in data:
        value = (value + byte * primes[4]) & mask
        value = (value << 11 | value >> 21) * primes[0] & mask
    value = (value ^ value >> 15) * primes[1] & mask
    value = (value ^ value >> 13) * primes[2] & mask
    return value ^ value >> 16


def lz4_frame(flags: int, more: bytes, blocks: bytes, maximum: int = 0x40) -> bytes:
    """A frame with the check of its header right."""
    header = bytes([0x40 | flags, maximum]) + more
    return LZ4 + header + bytes([xxh32(header) >> 8 & 0xFF]) + blocks


def lz4() -> Iterator[Attack]:
    """LZ4 blocks and frames."""
    end = bytes(4)
    stored = struct.pack("<I", 0x80000005) + b"hello"

    def block(content: bytes) -> bytes:
        return struct.pack("<I", len(content)) + content

    runs = {
        # The sum of such a length once went beyond 32 bits.
        "literals of 4 GB": b"\xf0" + b"\xff" * (17 << 20) + b"\0",
        "a match of 4 GB": b"\x1fa\1\0" + b"\xff" * (17 << 20) + b"\0",
        "literals beyond the end": b"\xf0\xff\xff\x10short",
        "an offset to before the beginning": b"\x10a\xff\xff\0",
        "an offset of zero": b"\x14a\0\0\x50hello",
        "a cut off offset": b"\x14a\1",
        "nothing but a token": b"\xff",
        "no end of literals": b"\x14a\1\0",
    }
    for name, content in runs.items():
        yield f"{name}, in a frame of ours", frame(1, 1000, content), ypress.CorruptData
        yield f"{name}, in an LZ4 frame", lz4_frame(0x20, b"", block(content) + end, 0x70), RAW
    yield "a sound frame", lz4_frame(0x20, b"", stored + end), b"hello"
    sized = [(size, struct.pack("<Q", size)) for size in (4, 6, 1 << 40, (1 << 64) - 1)]
    for size, field in sized:
        yield f"a content size of {size} for five bytes", lz4_frame(0x28, field, stored + end), RAW
    yield "a dictionary that nobody has", lz4_frame(0x21, b"\1\2\3\4", stored + end), RAW
    yield "a reserved flag", lz4_frame(0x22, b"", stored + end), RAW
    yield "another version", LZ4 + b"\x80\x40\0" + stored + end, RAW
    yield "a block size of 2 GB", lz4_frame(0x20, b"", b"\xff\xff\xff\x7f" + b"hello" + end), RAW
    yield "a stored block of 2 GB", lz4_frame(0x20, b"", b"\xff\xff\xff\xff" + b"hello" + end), RAW
    yield "a wrong check of the header", LZ4 + b"\x60\x40\0" + stored + end, RAW
    yield "no end mark", lz4_frame(0x20, b"", stored), RAW
    yield "a content check that is wrong", lz4_frame(0x24, b"", stored + end + b"nope"), RAW
    yield "the legacy format", b"\x02\x21\x4c\x18" + block(b"\x50hello"), RAW
    yield "10,000 empty frames", lz4_frame(0x20, b"", end) * 10_000, b""


def deflate() -> Iterator[Attack]:
    """gzip (RFC 1952) and zlib (RFC 1950)."""
    member = gzip.compress(b"hello", mtime=0)
    body = member[10:]

    def head(flags: int) -> bytes:
        return GZIP + bytes([flags]) + bytes(4) + b"\0\xff"

    yield "10,000 empty members", gzip.compress(b"", mtime=0) * 10_000, b""
    yield "two members", member * 2, b"hellohello"
    yield "rubbish behind a member", member + b"\0" * 10, RAW
    yield "half a second member", member + member[:12], RAW
    yield "an extra field of 64 KB", head(4) + b"\xff\xff" + bytes(65535) + body, b"hello"
    yield "an extra field beyond the end", head(4) + b"\xff\xff" + body, RAW
    yield "a name without an end", head(8) + b"name" * 1000, RAW
    yield "a name of 1 MB", head(8) + b"n" * MIB + b"\0" + body, RAW
    yield "a check of the header that is wrong", head(2) + b"\0\0" + body, RAW
    yield "reserved flags", head(0xE0) + body, RAW
    yield "a length that is wrong", member[:-4] + struct.pack("<I", 6), RAW
    yield "a CRC that is wrong", member[:-8] + bytes(4) + member[-4:], RAW
    primed = zlib.compressobj(zdict=b"hello hello hello")
    yield "a preset dictionary", primed.compress(b"hello hello") + primed.flush(), RAW
    plain = zlib.compress(b"hello")
    yield "a window of 64 KB", b"\x88" + bytes([31 - 0x8800 % 31]) + plain[2:], RAW
    streams = {
        "a kind of block that is reserved": b"\7",
        "a stored block whose lengths disagree": b"\1\5\0\5\0hello",
        "a stored block beyond the end": b"\1\xff\xff\0\0hello",
        "a reference to before the beginning": b"\x83\0\0",
        # Over-subscribed and incomplete codes, which crashed inflate in 2005.
        "too many codes of one length": b"\x04\x80\x49\x92\x24\x49\x92\x24\x0f\xb4\xff\xff\xc3\x04",
        "an incomplete code": b"\x04\xc0\x81\x08\0\0\0\0\x20\x7f\xeb\x0b\0\0",
        "too many distances": b"\xfc\0\0",
    }
    for name, stream in streams.items():
        yield f"{name}, in zlib", b"\x78\x9c" + stream + struct.pack(">I", 0x00060001), RAW
        yield f"{name}, in gzip", head(0) + stream + struct.pack("<II", zlib.crc32(bytes(6)), 6), RAW


def brotli() -> Iterator[Attack]:
    """Brotli streams (RFC 7932), in frames of ours: nothing else tells of them."""
    skipped = b"\x06" * 100_000  # metadata blocks of no bytes
    streams = {
        "a large window, which is not in the RFC": b"\x11\x1e" + b"\x03",
        "a window that is reserved": b"\x91\x03",
        "metadata without end": b"\x0c" + skipped,
        "metadata of 16 MB that is not there": b"\x6c\xff\xff\xff" + b"\x03",
        "a stored block beyond the end": b"\x0f\0\x80hello",
        "a length with a zero in front": b"\x20\0\0\0\x03",
        "bytes behind the end": b"\x06\x06\x06",
        "nothing": b"",
        "a reserved bit": b"\x1c\x03",
        "all ones": b"\xff" * 50,
    }
    for name, stream in streams.items():
        yield name, frame(3, 5, stream), ypress.CorruptData
    # XXH3-64 of nothing ends in these bytes.
    nothing = ypress_check_of_nothing()
    yield "100,000 blocks of metadata", frame(3, 0, b"\x0c" + skipped + b"\x03", nothing), b""


def ypress_check_of_nothing() -> bytes:
    """The low half of XXH3-64 of no bytes: 0x2d06800538d394c2."""
    return bytes.fromhex("c294d338")


def everything() -> list[Attack]:
    """All of them, named after what they are of."""
    kinds = (zstd, lz4, deflate, brotli)
    return [(f"{kind.__name__}: {name}", value, outcome) for kind in kinds for name, value, outcome in kind()]
