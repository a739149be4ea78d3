# Stub of the native module, written by hand and checked against it by mypy.stubtest.
from collections.abc import Iterable, Iterator
from typing import Final, Literal, Self, final

from typing_extensions import Buffer

_Codec = Literal["zstd", "lz4", "brotli"]

__all__ = [
    "DEFAULT_MAX_SIZE",
    "Clocks",
    "Compressor",
    "RowInfo",
    "SegmentInfo",
    "SegmentIterator",
    "__version__",
    "clock_ranges",
    "compress",
    "decompress",
    "keep_forever",
    "pack",
    "row_info",
    "segment_info",
    "unpack",
]

__version__: Final[str]
DEFAULT_MAX_SIZE: Final[int]

def compress(data: Buffer, /, codec: _Codec | str | None = "zstd", level: int | None = None) -> bytes:
    """Compress one value, if that makes it smaller.

    Args:
        data: any object with the buffer protocol; its bytes in C order are what counts.
        codec: ``"zstd"``, ``"lz4"`` or ``"brotli"``; None only marks what could be mistaken for a compressed value.
        level: zstd -7 to 19 (default 3), brotli 0 to 11 (default 4); lz4 has none.

    Returns:
        A value that `decompress` turns back into the same bytes. It is never longer than the data, except by two
        bytes where the data could be mistaken for a compressed value. Where nothing is gained, ``bytes`` come back
        as the very object that was passed in.

    Raises:
        TypeError: data has no buffer, or codec or level is of the wrong type.
        ValueError: no such codec, a level outside of its range, or a level without a codec.
    """

def decompress(data: Buffer, /, *, max_size: int = ...) -> bytes:
    """The update in a stored value, whoever wrote it.

    Values that `compress` made are recognised by their first two bytes and verified. Without those, zstd frames, LZ4
    frames, gzip and zlib are recognised, if the whole value is one (or several) and sound. Everything else is a raw
    update and returned as it is.

    Args:
        data: any object with the buffer protocol.
        max_size: the most bytes that may be unfolded (default: `DEFAULT_MAX_SIZE`).

    Raises:
        CorruptData: the value was written by ypress and is damaged.
        TooLarge: it unfolds to more than ``max_size`` bytes.
        UnsupportedFormat: it was written by a newer ypress.
        TypeError: data has no buffer, or max_size is not an int.
        ValueError: max_size is below 0.
    """

def row_info(data: Buffer, /) -> RowInfo:
    """What a stored value is, without decompressing those of ypress.

    Raises:
        CorruptData: it begins as a value of ypress does, but its header is damaged.
        TooLarge: it is another program's container of more than `DEFAULT_MAX_SIZE` bytes.
        UnsupportedFormat: it was written by a newer ypress.
        TypeError: data has no buffer.
    """

@final
class Compressor:
    """`compress` with its codec and level fixed: what `callbacks` returns. Compressors of the same codec and level are
    equal, and they pickle."""

    def __new__(cls, codec: _Codec | str = "zstd", level: int | None = None, /) -> Self: ...
    def __call__(self, data: Buffer, /) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class RowInfo:
    """What a stored value is."""

    @property
    def kind(self) -> str:
        """``raw``, ``verbatim``, ``zstd``, ``lz4``, ``brotli``, or another program's ``zstd-frame``, ``lz4-frame``,
        ``gzip``, ``zlib``."""

    @property
    def stored_size(self) -> int:
        """Bytes in the store."""

    @property
    def raw_size(self) -> int:
        """Bytes of the update; for values of ypress, as the header claims."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

_Ranges = list[tuple[int, list[tuple[int, int]]]]

def clock_ranges(update: Buffer, /) -> _Ranges:
    """The structs that a Yjs update (encoding version 1) holds.

    Returns:
        For each client, in ascending order, the ranges of its clocks as (first, behind the last); what the update
        skips is left out, neighbours are joined.

    Raises:
        CorruptData: these bytes are no update, are cut off, or hold contents that are not known.
        TypeError: update has no buffer.
    """

def keep_forever(kept: object, /) -> None:
    """Keep an object until the process is gone, also when the interpreter finalises everything at its end.

    For what a forked process inherits and must not touch: finalising an SQLite connection may roll back a transaction
    that its parent is in the middle of.
    """

@final
class Clocks:
    """What the updates of a history hold together, by client and clock, and what they lack.

    May be used from several threads.
    """

    def __new__(cls) -> Clocks: ...
    def add(self, update: Buffer, /) -> bool:
        """Add an update.

        Returns:
            Whether it fits on what is here: it leaves no gap before its structs, and the structs that those need, and
            that it deletes, are here. What did not fit is here from then on, and not complained of again.

        Raises:
            CorruptData: as for `clock_ranges`; nothing was added.
            TypeError: update has no buffer.
        """

    def missing(self, update: Buffer, /) -> bytes | None:
        """The part of an update that is not here: an update with the clients that have a struct which is missing, and
        with the deletions that are missing. None if nothing is.

        Raises:
            CorruptData: as for `clock_ranges`.
            TypeError: update has no buffer.
        """

    def state_vector(self) -> bytes:
        """How far the clocks of each client go from 0 without a gap, in the form that `pycrdt.Doc.get_update` takes."""

    def ranges(self) -> _Ranges:
        """The clocks that are here, in the form of `clock_ranges`."""

    def gaps(self) -> _Ranges:
        """The clocks that are missing below the highest of their client. Yjs holds back what lies behind them."""

    def awaited(self) -> _Ranges:
        """The missing clocks that structs which are here need as their neighbour, their parent or a link's target.
        They lie in gaps or behind the highest clock."""

    def closing(self) -> bytes | None:
        """An update that closes the gaps which nothing awaits, so that Yjs holds back nothing on their account; None
        if there is no such gap. It puts collected structs in their place, so what they held is gone for good, should
        it turn up later."""

def pack(records: Iterable[tuple[Buffer, Buffer | None, float]], /, *, level: int | None = None) -> bytes:
    """Pack consecutive updates of one document into one blob, a segment.

    Args:
        records: tuples of update, metadata and timestamp in seconds. Any bytes and any timestamps come back as they
            were, in order; metadata of None and of no bytes differ.
        level: 1 to 19, how hard new content of long strings is compressed. The default suits a live session; 19
            suits history that is written once.

    Returns:
        A blob for `unpack`.

    Raises:
        TypeError: a record is not such a tuple.
        ValueError: a level outside of its range.
        TooLarge: more than 1,048,576 records or more than 2 GiB.
    """

def unpack(blob: Buffer, /, *, max_size: int = ...) -> SegmentIterator:
    """The records in a segment, in order. All of it is decoded and verified before the first is returned.

    Args:
        blob: what `pack` returned.
        max_size: the most bytes of updates and metadata that may be unfolded (default: `DEFAULT_MAX_SIZE`).

    Raises:
        CorruptData: the blob is damaged.
        TooLarge: it holds more than ``max_size`` bytes.
        UnsupportedFormat: it was written by a newer ypress.
        TypeError: blob has no buffer.
    """

def segment_info(blob: Buffer, /) -> SegmentInfo:
    """What a segment holds, by its header; the content is not verified.

    Raises:
        CorruptData: the header is damaged.
        UnsupportedFormat: it was written by a newer ypress.
        TypeError: blob has no buffer.
    """

@final
class SegmentIterator(Iterator[tuple[bytes, bytes | None, float]]):
    """The records of an unpacked segment."""

    def __iter__(self) -> SegmentIterator: ...
    def __next__(self) -> tuple[bytes, bytes | None, float]: ...
    def __length_hint__(self) -> int: ...

@final
class SegmentInfo:
    """What a segment holds, and what its parts take."""

    @property
    def version(self) -> int:
        """The version of the format."""

    @property
    def updates(self) -> int:
        """The number of updates."""

    @property
    def raw_bytes(self) -> int:
        """Bytes of updates and metadata."""

    @property
    def first_timestamp(self) -> float:
        """The first timestamp; 0.0 without updates."""

    @property
    def last_timestamp(self) -> float:
        """The last timestamp."""

    @property
    def stored_size(self) -> int:
        """Bytes of the blob: the sum of the sizes that follow, except the last."""

    @property
    def header_size(self) -> int:
        """Bytes of header and check."""

    @property
    def structure_size(self) -> int:
        """Bytes for what updates are made of: their shapes and numbers."""

    @property
    def text_size(self) -> int:
        """Bytes for short strings, such as typed text."""

    @property
    def timestamps_size(self) -> int:
        """Bytes for timestamps."""

    @property
    def literals_size(self) -> int:
        """Bytes for what is new in long strings, compressed."""

    @property
    def literals_raw_size(self) -> int:
        """The same before compression."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
