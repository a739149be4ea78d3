"""The recipe of ``tests/golden/rows``: the same content as ypress and as other programs write it.

Run it to add kinds. Files that are there already stay as they are: a later version must read them for ever.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import zstandard
from pycrdt import Array, Doc, Map, Text

import ypress

ROWS = Path(__file__).parent / "rows"


def notebook() -> bytes:
    """The state of a small notebook, as one update."""
    numbers = random.Random(7)
    doc: Doc[object] = Doc(client_id=7)
    doc["cells"] = cells = Array()
    for index in range(12):
        source = "\n".join(f"x{numbers.randrange(9)} = load({numbers.randrange(99)})  # Größe" for _ in range(5))
        cells.append(Map({"id": f"cell-{index}", "cell_type": "code", "source": Text(source), "outputs": Array()}))
    return doc.get_update()


CONTENTS: dict[str, Callable[[], bytes]] = {
    "notebook": notebook,
    "keystroke": lambda: bytes.fromhex("0101a3d5c19a0d2a84a3d5c19a0d29016100"),
    "empty-update": lambda: bytes(2),
    "zeros": lambda: bytes(70_000),
}


def frames(content: bytes) -> bytes:
    """Three zstd frames behind each other, of different kinds."""
    third = len(content) // 3
    parts = content[:third], content[third : 2 * third], content[2 * third :]
    return b"".join(
        zstandard.ZstdCompressor(write_content_size=size, write_checksum=check).compress(part)
        for part, size, check in zip(parts, (True, False, True), (False, True, True), strict=True)
    )


def streamed(content: bytes) -> bytes:
    """A zstd frame whose writer did not know how much would come."""
    writer = zstandard.ZstdCompressor().compressobj()
    return writer.compress(content) + writer.flush()


def named(content: bytes) -> bytes:
    """A gzip file that carries its name."""
    file = io.BytesIO()
    with gzip.GzipFile("update.bin", "wb", fileobj=file, mtime=0) as writer:
        writer.write(content)
    return file.getvalue()


WRITERS: dict[str, Callable[[bytes], bytes]] = {
    "ypress-zstd": lambda content: ypress.compress(content, "zstd"),
    "ypress-zstd-19": lambda content: ypress.compress(content, "zstd", 19),
    "ypress-zstd--7": lambda content: ypress.compress(content, "zstd", -7),
    "ypress-lz4": lambda content: ypress.compress(content, "lz4"),
    "ypress-brotli": lambda content: ypress.compress(content, "brotli"),
    "ypress-brotli-11": lambda content: ypress.compress(content, "brotli", 11),
    "ypress-verbatim": lambda content: ypress.compress(b"\x82\x00" + content[:100], None),
    "zlib": zlib.compress,
    "zlib-1": lambda content: zlib.compress(content, 1),
    "gzip": lambda content: gzip.compress(content, mtime=0),
    "gzip-named": named,
    "lz4-frame": lz4.frame.compress,
    "lz4-frame-linked-checked": lambda content: lz4.frame.compress(
        content, block_linked=True, block_checksum=True, content_checksum=True, store_size=False
    ),
    "zstd-frame": lambda content: zstandard.ZstdCompressor().compress(content),
    "zstd-frame-checked": lambda content: zstandard.ZstdCompressor(write_checksum=True).compress(content),
    "zstd-frame-streamed": streamed,
    "zstd-frames": frames,
}


def main() -> None:
    """Write what is missing."""
    ROWS.mkdir(exist_ok=True)
    expected = {}
    for content_name, make in CONTENTS.items():
        path = ROWS / f"{content_name}.raw"
        if not path.exists():
            path.write_bytes(make())
        content = path.read_bytes()
        for writer_name, write in WRITERS.items():
            path = ROWS / f"{content_name}.{writer_name}"
            if not path.exists():
                path.write_bytes(write(content))
            expected[path.name] = ypress.row_info(path.read_bytes()).kind
    (ROWS / "kinds.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
