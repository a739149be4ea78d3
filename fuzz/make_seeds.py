"""Make ``fuzz/seeds`` from the golden files: ``python3 fuzz/make_seeds.py``, needing nothing but Python.

The seeds are kept in the repository, small, and only say to the fuzzers what sound input looks like.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
SEEDS = ROOT / "fuzz" / "seeds"
LARGEST = 5000
# The order of the inputs in targets/agreement.rs.
LZ4_BLOCK, ZSTD, BROTLI, ZLIB, GZIP, ZSTD_FRAMES, LZ4_FRAMES = range(7)


def put(target: str, name: str, seed: bytes) -> None:
    """Write a seed that is not too large."""
    if len(seed) <= LARGEST:
        (SEEDS / target).mkdir(parents=True, exist_ok=True)
        (SEEDS / target / name).write_bytes(seed)


def variant(number: int) -> bytes:
    """What selects a variant of seven."""
    return struct.pack("<I", (number << 32) // 7 + 1)


def payload(frame: bytes) -> bytes:
    """What is in a frame of ours between its length and its check."""
    at = 2
    while frame[at] & 0x80:
        at += 1
    return frame[at + 1 : -4]


def main() -> None:
    """Make all seeds."""
    limit = struct.pack("<H", 0x2000)
    for path in sorted(GOLDEN.joinpath("rows").iterdir()):
        content, _, writer = path.name.partition(".")
        value = path.read_bytes()
        if content not in {"notebook", "zeros"} or writer in {"kinds.json", "raw"}:
            continue
        put("values", path.name, limit + value)
        if value[1] == 0 and value[0] & 0x7F in {1, 2, 3}:
            put("agreement", path.name, variant({1: LZ4_BLOCK, 2: ZSTD, 3: BROTLI}[value[0] & 0x7F]) + payload(value))
        elif writer.startswith("zstd-frame"):
            put("agreement", path.name, variant(ZSTD_FRAMES) + value[4:])
        elif writer.startswith("lz4-frame"):
            put("agreement", path.name, variant(LZ4_FRAMES) + value[4:])
    for path in sorted(GOLDEN.glob("*.segment")):
        put("unpack", path.name, limit + path.read_bytes())
    notebook = GOLDEN.joinpath("rows", "notebook.raw").read_bytes()
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    stream = deflater.compress(notebook) + deflater.flush()
    put("agreement", "notebook.zlib", variant(ZLIB) + b"\x80" + stream)
    put("agreement", "notebook.gzip", variant(GZIP) + b"\0\1" + stream)
    put("rows", "notebook", b"\4\3\2\0\0\0" + notebook)
    put("rows", "words", b"\1\0\100\0\101\0" + b"words and words ")
    keystroke = GOLDEN.joinpath("rows", "keystroke.raw").read_bytes()
    put("yjs", "updates", b"".join(struct.pack("<H", len(update)) + update for update in (keystroke, notebook)))


if __name__ == "__main__":
    main()
