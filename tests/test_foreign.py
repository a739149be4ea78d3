"""Values that other programs wrote: golden files, one table of all kinds, and raw updates that look like containers."""

from __future__ import annotations

import gzip
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import frame_reader
import lz4.frame
import pytest
import zstandard
from pycrdt import Array, Doc, Text

import ypress

ROWS = Path(__file__).parent / "golden" / "rows"
GOLDEN = sorted(path for path in ROWS.iterdir() if path.suffix not in {".raw", ".json"})


def content_of(path: Path) -> bytes:
    content = path.with_name(path.name.split(".")[0] + ".raw").read_bytes()
    return b"\x82\0" + content[:100] if path.name.endswith("verbatim") else content


def kind_of(path: Path) -> str:
    content, writer = path.name.split(".", 1)
    if writer.startswith("ypress-") and content in {"keystroke", "empty-update"} and writer != "ypress-verbatim":
        return "raw"  # nothing to gain
    for kind in ("verbatim", "zstd", "lz4", "brotli"):
        if writer.startswith(f"ypress-{kind}"):
            return kind
    return next(kind for kind in ("zstd-frame", "lz4-frame", "gzip", "zlib") if writer.startswith(kind))


def test_there_are_golden_files() -> None:
    assert len(GOLDEN) >= 60
    kinds = {"raw", "verbatim", "zstd", "lz4", "brotli", "zstd-frame", "lz4-frame", "gzip", "zlib"}
    assert {kind_of(path) for path in GOLDEN} == kinds


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_golden_files_are_read(path: Path) -> None:
    value = path.read_bytes()
    content = content_of(path)
    assert ypress.decompress(value) == content
    info = ypress.row_info(value)
    assert (info.raw_size, info.stored_size) == (len(content), len(value))
    assert info.kind == kind_of(path)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_a_reader_written_from_the_format_page_reads_the_golden_files(path: Path) -> None:
    content = frame_reader.read(path.read_bytes())
    if kind_of(path) in {"verbatim", "zstd", "lz4", "brotli"}:
        assert content == content_of(path)
    else:
        assert content is None


def test_one_table_of_all_kinds(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "mixed.db")) as connection:
        connection.execute("CREATE TABLE yupdates (path TEXT, yupdate BLOB)")
        for path in GOLDEN:
            rows = [(path.name, path.read_bytes()), (path.name, content_of(path))]
            if rows[1][1].startswith(b"\x82"):
                rows.pop()
            connection.executemany("INSERT INTO yupdates VALUES (?, ?)", rows)
        for name, value in connection.execute("SELECT path, yupdate FROM yupdates"):
            assert ypress.decompress(value) == content_of(ROWS / name), name


def writers(content: bytes) -> list[tuple[str, bytes]]:
    return [
        ("zlib", zlib.compress(content)),
        ("gzip", gzip.compress(content)),
        ("lz4", lz4.frame.compress(content)),
        ("lz4 checked", lz4.frame.compress(content, content_checksum=True, block_checksum=True)),
        ("zstd", zstandard.ZstdCompressor().compress(content)),
        ("zstd unsized", zstandard.ZstdCompressor(write_content_size=False, write_checksum=True).compress(content)),
    ]


@pytest.mark.parametrize("content", [b"", b"a", b"many words and many words " * 30, bytes(200_000)])
def test_only_whole_containers_are_opened(content: bytes) -> None:
    for name, value in writers(content):
        assert ypress.decompress(value) == content, name
        for end in range(len(value)):
            assert ypress.decompress(value[:end]) == value[:end], f"{name} cut at {end}"
        for extra in (b"\0", b"\0\0\0\0", b"rubbish"):
            assert ypress.decompress(value + extra) == value + extra, f"{name} and {extra!r}"


def test_a_long_window_is_read() -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(1, window_log=29)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    value = writer.compress(b"wide " * 2000) + writer.flush()
    assert ypress.decompress(value) == b"wide " * 2000


def squashed(clients: dict[int, int]) -> Doc[Array[str]]:
    """A document with so many structs of each client: inserting at the front keeps them from being joined."""
    merged: Doc[Array[str]] = Doc()
    for client, structs in clients.items():
        doc: Doc[Array[str]] = Doc(client_id=client)
        doc["array"] = array = Array()
        with doc.transaction():
            for number in range(structs):
                array.insert(0, f"{number}")
        merged.apply_update(doc.get_update())
    return merged


# How many clients, and of the first: its structs, its id and the clock its structs begin with. These are the first
# numbers of an update, so they choose its first bytes.
LOOKALIKES = {
    b"\x78\x01": (120, 1, 900, 0),
    b"\x1f\x8b\x08": (31, 11 + 8 * 128, 900, 0),
    b"\x28\xb5\x2f\xfd": (40, 0x35 + 0x2F * 128, 0x7D + 5 * 128, 0),
    b"\x04\x22\x4d\x18": (4, 34, 77, 24),
}


@pytest.mark.parametrize("magic", LOOKALIKES, ids=bytes.hex)
def test_raw_updates_that_begin_like_containers_stay_as_they_are(magic: bytes) -> None:
    count, structs, first, clock = LOOKALIKES[magic]
    doc = squashed({first: structs + clock} | {1 + client: 1 for client in range(count - 1)})
    # What comes after that clock of the first client, and everything of the others.
    update = doc.get_update(bytes([1, first, clock])) if clock else doc.get_update()
    assert update.startswith(magic)
    assert ypress.decompress(update) is update
    assert ypress.decompress(update, max_size=1) is update
    assert ypress.row_info(update).kind == "raw"
    for codec in ("zstd", "lz4", "brotli", None):
        assert ypress.decompress(ypress.compress(update, codec)) == update
    for end in range(2, 200):
        assert ypress.decompress(update[:end]) == update[:end]


def test_texts_are_raw() -> None:
    doc: Doc[Text] = Doc()
    doc["text"] = Text("hello")
    update = doc.get_update()
    assert ypress.decompress(update) is update
