"""Values made to take memory or to crash: each is refused, in bounded memory, without a panic."""

from __future__ import annotations

import gzip
import random
import subprocess
import sys
import zlib

import lz4.frame
import pytest
import zstandard
from segment_reader.basics import varint

import ypress

MIB = 1 << 20


def measured(code: str, *arguments: str) -> tuple[str, int]:
    """What ``code`` prints in a process of its own, and by how many bytes its memory grew at most."""
    resource = pytest.importorskip("resource")
    del resource
    prelude = (
        "import resource, sys, ypress\n"
        "def peak():\n"
        "    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "    return size if sys.platform == 'darwin' else size * 1024\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", prelude + code, *arguments], capture_output=True, text=True, check=True, timeout=100
    )
    *said, grown = done.stdout.split("\n")[:-1]
    return "\n".join(said), int(grown)


TRY = """
value = open(sys.argv[1], "rb").read()
before = peak()
try:
    print(len(ypress.decompress(value)))
except ypress.Error as error:
    print(type(error).__name__)
print(peak() - before)
"""


ESCAPE = """
value = open(sys.argv[1], "rb").read()
before = peak()
print(len(ypress.compress(value, None)) - len(value))
print(peak() - before)
"""


def outcome(value: bytes, tmp_path: object) -> tuple[str, int]:
    path = f"{tmp_path}/value"
    with open(path, "wb") as file:
        file.write(value)
    return measured(TRY, path)


def forged(method: int, length: int, payload: bytes) -> bytes:
    return bytes([0x80 | method, 0]) + varint(length) + payload + bytes(4)


@pytest.mark.parametrize("method", [1, 2, 3])
@pytest.mark.parametrize("claim", [1 << 40, ypress.DEFAULT_MAX_SIZE])
def test_thirteen_bytes_that_claim_the_world(method: int, claim: int, tmp_path: object) -> None:
    value = forged(method, claim, b"\x0b")
    assert len(value) <= 13
    said, grown = outcome(value, tmp_path)
    assert said in {"CorruptData", "TooLarge"}
    assert grown < 8 * MIB


def brotli_bomb() -> bytes:
    """4 GiB in a few KB. Flushed meta-blocks end at byte boundaries, so the same one can stand there 255 times."""
    brotli = pytest.importorskip("brotli")
    compressor = brotli.Compressor(quality=9, lgwin=22)
    first, again, third = (compressor.process(bytes(16 * MIB)) + compressor.flush() for _ in range(3))
    assert again == third
    assert brotli.decompress(first + again * 2 + b"\x03") == bytes(48 * MIB)
    bomb: bytes = first + again * 255 + b"\x03"
    return bomb


def bombs() -> dict[str, bytes]:
    """Small values that unfold to 320 MiB, more than the limit."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, 31)
    zipped = b"".join(deflate.compress(bytes(MIB)) for _ in range(320)) + deflate.flush()
    flat = zlib.compressobj(9)
    zlibbed = b"".join(flat.compress(bytes(MIB)) for _ in range(320)) + flat.flush()
    writer = zstandard.ZstdCompressor(level=1).compressobj()
    zstd = b"".join(writer.compress(bytes(MIB)) for _ in range(320)) + writer.flush()
    sized = zstandard.ZstdCompressor(level=1).compress(bytes(MIB)) * 320
    block = lz4.frame.compress(bytes(64 * MIB), block_size=lz4.frame.BLOCKSIZE_MAX4MB)
    return {"gzip": zipped, "zlib": zlibbed, "zstd": zstd, "zstd frames": sized, "lz4 frames": block * 5}


def test_containers_that_unfold_beyond_the_limit(tmp_path: object) -> None:
    for name, value in bombs().items():
        said, grown = outcome(value, tmp_path)
        assert said == "TooLarge", name
        # What is kept, twice while it is moved, and the decoder's own.
        assert grown < 2 * ypress.DEFAULT_MAX_SIZE + 32 * MIB, name
        # To write it takes no more than the value itself.
        said, grown = measured(ESCAPE, f"{tmp_path}/value")
        assert said == "2", name
        assert grown < 4 * len(value) + 32 * MIB, name


def test_brotli_that_unfolds_to_four_gigabytes(tmp_path: object) -> None:
    stream = brotli_bomb()
    assert len(stream) < 10_000
    for claim in (1 << 32, ypress.DEFAULT_MAX_SIZE, 100):
        said, grown = outcome(forged(3, claim, stream), tmp_path)
        assert said == ("TooLarge" if claim == 1 << 32 else "CorruptData")
        assert grown < min(claim, ypress.DEFAULT_MAX_SIZE) + 48 * MIB


def test_frames_within_frames_are_opened_once(tmp_path: object) -> None:
    value = bytes(100 * MIB)
    for _ in range(4):
        value = ypress.compress(value)
    inner = ypress.decompress(value)
    assert len(inner) < MIB
    doubled = gzip.compress(gzip.compress(bytes(10 * MIB)))
    assert len(ypress.decompress(doubled)) < MIB


@pytest.mark.parametrize("codec", ["zstd", "lz4", "brotli", "gzip", "zlib", "lz4 frame", "zstd frame"])
def test_random_damage_never_crashes(codec: str, long_rounds: bool) -> None:
    numbers = random.Random(codec)
    raw = bytes(numbers.choices(b"abcdefgh \n", k=3000)) + bytes(500) + numbers.randbytes(200)
    makers = {
        "gzip": gzip.compress,
        "zlib": zlib.compress,
        "lz4 frame": lz4.frame.compress,
        "zstd frame": zstandard.ZstdCompressor().compress,
    }
    whole = makers[codec](raw) if codec in makers else ypress.compress(raw, codec)
    refused = 0
    for _ in range(200_000 if long_rounds else 3000):
        value = bytearray(whole)
        for _ in range(numbers.randint(1, 4)):
            at = numbers.randrange(2, len(value))
            match numbers.randrange(4):
                case 0:
                    value[at] ^= 1 << numbers.randrange(8)
                case 1:
                    value[at] = numbers.choice((0, 1, 0x7F, 0x80, 0xFF))
                case 2:
                    del value[at : at + numbers.randint(1, 9)]
                    value += bytes(max(0, 3 - len(value)))
                case _:
                    value[at:at] = numbers.randbytes(numbers.randint(1, 9))
        # Whatever is no ypress.Error fails here, a PanicException too.
        try:
            content = ypress.decompress(bytes(value), max_size=MIB)
        except ypress.Error:
            refused += 1
            continue
        if codec not in makers:
            assert content == raw
    assert refused > 0 or codec in makers
