"""How fast the row codec could be, with the libraries that it has in common with its peers.

``python benches/row_limits.py``. "at most" is by how much anyone can be faster than the peer:

* larger values: the peer's library does the same work for both; what can be saved is the peer's call, which is what
  its call on a value of one byte takes. In decompressing, the peer also reads the payloads that ypress wrote, since
  another choice of matches may be faster to read;
* values below 64 B: a call of a C function that takes one argument and does next to nothing (`callable`) is the floor.

Figures are processor time, the least of interleaved rounds, microseconds a value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import lz4.block
import zstandard

import ypress
from measuring import each, least, parser, save, say_versions
from values import value_sets

Entry = dict[str, Any]
# Other accelerations of lz4: what speed can be had for size.
ACCELERATIONS = (2, 4)


def payload(frame: bytes) -> bytes:
    """What a compressed frame holds between its length and its check."""
    at = 2
    while frame[at] & 0x80:
        at += 1
    return frame[at + 1 : -4]


def timed(calls: dict[str, Callable[[], object]], values: int, rounds: int) -> dict[str, float]:
    """Microseconds a value."""
    return {name: time / values for name, time in least(calls, rounds).items()}


def entry(what: tuple[str, str, str], peer: float, limit: float, own: float) -> Entry:
    """One row of the table."""
    found = dict(zip(("values", "codec", "what"), what, strict=True))
    return found | {"peer_us": peer, "limit_us": limit, "ypress_us": own, "at_most": peer / limit, "is": peer / own}


def small(values: list[bytes], rounds: int) -> list[Entry]:
    """Values that are not worth compressing, against contexts that are kept."""
    compress, decompress = ypress.callbacks("zstd")
    assert compress is not None
    assert decompress is not None
    pack, unpack = zstandard.ZstdCompressor(level=3).compress, zstandard.ZstdDecompressor().decompress
    packed, frames = [pack(value) for value in values], [compress(value) for value in values]
    floor = each(callable, values)  # type: ignore[arg-type]
    found = timed(
        {
            "floor": floor,
            "compress peer": each(pack, values),
            "compress own": each(compress, values),
            "decompress peer": each(unpack, packed),
            "decompress own": each(decompress, frames),
        },
        len(values),
        rounds,
    )
    return [
        entry(("below 64 B", "zstd", what), found[f"{what} peer"], found["floor"], found[f"{what} own"])
        for what in ("compress", "decompress")
    ]


def large(name: str, values: list[bytes], rounds: int) -> list[Entry]:
    """Values that are compressed, against contexts that are kept."""
    longest = max(map(len, values))
    magicless = zstandard.ZstdDecompressor(format=zstandard.FORMAT_ZSTD1_MAGICLESS)
    results = []
    for codec, pack, unpack, bare in (
        (
            "zstd",
            zstandard.ZstdCompressor(level=3).compress,
            zstandard.ZstdDecompressor().decompress,
            partial(magicless.decompress, max_output_size=longest),
        ),
        ("lz4", lz4.block.compress, lz4.block.decompress, partial(lz4.block.decompress, uncompressed_size=longest)),
    ):
        compress, decompress = ypress.callbacks(codec)
        assert compress is not None
        assert decompress is not None
        frames = [compress(value) for value in values]
        packed = [pack(value) for value in values]
        calls: dict[str, Callable[[], Any]] = {
            "pack": each(pack, values),
            "compress": each(compress, values),
            "unpack": each(unpack, packed),
            "bare": each(bare, [payload(frame) for frame in frames]),
            "decompress": each(decompress, frames),
        }
        found = timed(calls, len(values), rounds)
        empty = timed({"pack": each(pack, [b"x"] * 100), "unpack": each(unpack, [pack(b"x")] * 100)}, 100, rounds)
        limit = found["pack"] - empty["pack"]
        results.append(entry((name, codec, "compress"), found["pack"], limit, found["compress"]))
        limit = min(found["unpack"], found["bare"]) - empty["unpack"]
        results.append(entry((name, codec, "decompress"), found["unpack"], limit, found["decompress"]))
    return results


def accelerated(name: str, values: list[bytes], rounds: int) -> list[Entry]:
    """lz4 that looks at fewer places: how much faster, and how much larger."""
    packs: dict[str, Callable[[bytes], bytes]] = {"1": lz4.block.compress}
    for number in ACCELERATIONS:
        packs[str(number)] = partial(lz4.block.compress, mode="fast", acceleration=number)
    found = timed({kind: each(pack, values) for kind, pack in packs.items()}, len(values), rounds)
    sizes = {kind: sum(len(pack(value)) for value in values) for kind, pack in packs.items()}
    return [
        {
            "values": name,
            "acceleration": kind,
            "times_as_fast": found["1"] / found[kind],
            "size": sizes[kind] / sizes["1"],
        }
        for kind in packs
    ]


def main() -> None:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=25)
    arguments = options.parse_args()
    rounds = 5 if arguments.quick else arguments.rounds
    sets = value_sets()
    results = small(sets["below 64 B"], rounds)
    faster = []
    for name in ("17 KB", "1 MB"):
        results += large(name, sets[name], rounds)
        faster += accelerated(name, sets[name], rounds)
    save(arguments.json, {"limits": results, "accelerations": faster}, arguments.quick)
    say_versions()
    print("\n| values | method | | peer µs | limit µs | ypress µs | at most | is |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for row in results:
        print(
            f"| {row['values']} | {row['codec']} | {row['what']} | {row['peer_us']:.3f} | {row['limit_us']:.3f} | "
            f"{row['ypress_us']:.3f} | {row['at_most']:.2f} | {row['is']:.2f} |"
        )
    print("\n| values | lz4 acceleration | times as fast | size |\n|---|---|---:|---:|")
    for row in faster:
        print(f"| {row['values']} | {row['acceleration']} | {row['times_as_fast']:.2f} | {row['size']:.3f} |")


if __name__ == "__main__":
    main()
