"""What all parts of the reader need: numbers of 64 bits, bytes that are read from the front, refusal."""

from __future__ import annotations

Record = tuple[bytes, bytes | None, float]

M64 = (1 << 64) - 1
M32 = (1 << 32) - 1
K = 0x9E3779B97F4A7C15


class NotReadable(Exception):
    """The segment is damaged, or of a newer format."""


def refuse_if(condition: bool, reason: str) -> None:
    if condition:
        raise NotReadable(reason)


def clamp(x: int, lowest: int, highest: int) -> int:
    return max(lowest, min(x, highest))


def log2_of_size(n: int, highest: int) -> int:
    return clamp(max(n, 1).bit_length() - 1, 6, highest)


def zigzag(n: int) -> int:
    """Of a number modulo 2^64, taken as a signed one."""
    n &= M64
    return (n << 1 ^ (M64 if n >> 63 else 0)) & M64


def unzigzag(n: int) -> int:
    return n >> 1 ^ -(n & 1)


def varint(n: int) -> bytes:
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


class Bytes:
    """Bytes that are read from the front: the segment, or a shape."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, n: int) -> bytes:
        refuse_if(n > len(self.data) - self.at, "cut off")
        self.at += n
        return self.data[self.at - n : self.at]

    def byte(self) -> int:
        return self.take(1)[0]

    def varint(self) -> int:
        n, shift = 0, 0
        while True:
            byte = self.byte()
            n |= (byte & 0x7F) << shift
            if byte < 0x80:
                refuse_if(byte == 0 and shift > 0, "a padded varint")
                refuse_if(n > M64, "a varint of more than 64 bits")
                return n
            shift += 7
            refuse_if(shift > 63, "a varint of more than 64 bits")

    def end(self) -> None:
        refuse_if(self.at != len(self.data), "bytes are left over")
