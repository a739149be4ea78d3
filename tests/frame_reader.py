"""A reader of ypress values written from docs/format.md alone, without ypress: what another program would do."""

from __future__ import annotations

import brotli
import lz4.block
import zstandard

_MASK = (1 << 64) - 1


class NotReadable(Exception):
    """The value is damaged, or of a newer format."""


def read(value: bytes) -> bytes | None:
    """The content of a value with a tag; None for one without, which is raw or another program's container."""
    if len(value) < 2 or value[0] < 0x80 or value[1] != 0:
        return None
    method, body = value[0] & 0x7F, value[2:]
    if method == 0:
        return body
    length, at = 0, 0
    while True:
        if at == len(body):
            raise NotReadable("the length is cut off")
        byte = body[at]
        length |= (byte & 0x7F) << (7 * at)
        at += 1
        if byte < 0x80:
            break
    if byte == 0 and at > 1:
        raise NotReadable("the length is padded")
    if len(body) < at + 4:
        raise NotReadable("the check is cut off")
    payload, check = body[at:-4], int.from_bytes(body[-4:], "little")
    if method == 1:
        content = lz4.block.decompress(payload, uncompressed_size=length)
    elif method == 2:
        parameters = zstandard.FORMAT_ZSTD1_MAGICLESS
        content = zstandard.ZstdDecompressor(format=parameters).decompress(payload, max_output_size=length)
    elif method == 3:
        content = brotli.decompress(payload)
    else:
        raise NotReadable(f"method {method} is of a newer format")
    if len(content) != length or xxh3_64(content) & 0xFFFFFFFF != check:
        raise NotReadable("the content is damaged")
    return content


# XXH3-64 without a seed, as its public specification describes it.

_P32_1, _P32_2, _P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
_MX1, _MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def _u(data: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _fold(a: int, b: int) -> int:
    product = a * b
    return (product ^ (product >> 64)) & _MASK


def _avalanche(h: int) -> int:
    h ^= h >> 37
    h = h * _MX1 & _MASK
    return h ^ h >> 32


def _avalanche64(h: int) -> int:
    h ^= h >> 33
    h = h * _P64[1] & _MASK
    h ^= h >> 29
    h = h * _P64[2] & _MASK
    return h ^ h >> 32


def _mix16(data: bytes, at: int, secret: int) -> int:
    return _fold(_u(data, at) ^ _u(_SECRET, secret), _u(data, at + 8) ^ _u(_SECRET, secret + 8))


def _swap64(value: int) -> int:
    return int.from_bytes(value.to_bytes(8, "little"), "big")


def xxh3_64(data: bytes) -> int:  # noqa: PLR0911 - one formula for each range of lengths
    """XXH3-64 with seed 0."""
    n = len(data)
    if n == 0:
        return _avalanche64(_u(_SECRET, 56) ^ _u(_SECRET, 64))
    if n <= 3:
        combined = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        return _avalanche64(combined ^ (_u(_SECRET, 0, 4) ^ _u(_SECRET, 4, 4)))
    if n <= 8:
        flip = _u(_SECRET, 8) ^ _u(_SECRET, 16)
        h = (_u(data, n - 4, 4) + (_u(data, 0, 4) << 32)) ^ flip
        h ^= ((h << 49 | h >> 15) ^ (h << 24 | h >> 40)) & _MASK
        h = h * _MX2 & _MASK
        h ^= (h >> 35) + n
        h = h * _MX2 & _MASK
        return h ^ h >> 28
    if n <= 16:
        low = (_u(_SECRET, 24) ^ _u(_SECRET, 32)) ^ _u(data, 0)
        high = (_u(_SECRET, 40) ^ _u(_SECRET, 48)) ^ _u(data, n - 8)
        return _avalanche((n + _swap64(low) + high + _fold(low, high)) & _MASK)
    if n <= 128:
        acc = n * _P64[0]
        for i in range((n - 1) // 32, -1, -1):
            acc += _mix16(data, 16 * i, 32 * i) + _mix16(data, n - 16 * (i + 1), 32 * i + 16)
        return _avalanche(acc & _MASK)
    if n <= 240:
        acc = n * _P64[0]
        for i in range(8):
            acc += _mix16(data, 16 * i, 16 * i)
        acc = _avalanche(acc & _MASK)
        for i in range(8, n // 16):
            acc += _mix16(data, 16 * i, 16 * (i - 8) + 3)
        acc += _mix16(data, n - 16, 136 - 17)
        return _avalanche(acc & _MASK)
    return _long(data)


def _stripe(acc: list[int], data: bytes, at: int, secret: int) -> None:
    for i in range(8):
        value = _u(data, at + 8 * i)
        key = value ^ _u(_SECRET, secret + 8 * i)
        acc[i ^ 1] = (acc[i ^ 1] + value) & _MASK
        acc[i] = (acc[i] + (key & 0xFFFFFFFF) * (key >> 32)) & _MASK


def _long(data: bytes) -> int:
    acc = [_P32_3, _P64[0], _P64[1], _P64[2], _P64[3], _P32_2, _P64[4], _P32_1]
    stripes = (192 - 64) // 8
    block = 64 * stripes
    n = len(data)
    blocks = (n - 1) // block
    for b in range(blocks):
        for s in range(stripes):
            _stripe(acc, data, b * block + 64 * s, 8 * s)
        for i in range(8):
            h = acc[i]
            h ^= h >> 47
            h ^= _u(_SECRET, 192 - 64 + 8 * i)
            acc[i] = h * _P32_1 & _MASK
    for s in range((n - 1 - block * blocks) // 64):
        _stripe(acc, data, blocks * block + 64 * s, 8 * s)
    _stripe(acc, data, n - 64, 192 - 64 - 7)
    h = n * _P64[0]
    for i in range(4):
        secret = 11 + 16 * i
        h += _fold(acc[2 * i] ^ _u(_SECRET, secret), acc[2 * i + 1] ^ _u(_SECRET, secret + 8))
    return _avalanche(h & _MASK)
