"""Comparing codecs on the updates of a store: sizes and times, as data.

Every codec gets the same values in the same process, in several rounds that take turns, and its median counts. One
that would need too long for all values gets an even share of those of each size, and its result is an estimate.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ypress

from .codecs import Codec
from .packing import Entry, packing
from .sample import Record

__all__ = ["Result", "compare", "compare_one", "compare_packed"]

# Updates of one document that are packed together; segments of a store are about as long.
_SEGMENT = 4000


@dataclass(frozen=True, slots=True)
class Result:
    """What one codec did."""

    name: str
    level: int | None
    library: str
    size: int
    """bytes of all values, compressed."""
    compress: float
    """seconds for all values; for one value, per call."""
    decompress: float
    """seconds."""
    estimated: bool = False
    """whether size and times are drawn from a part of the values."""
    rounds: int = 1


@dataclass(slots=True)
class _Runner:
    codec: Codec
    groups: list[_Group]
    compress: list[float] = field(default_factory=list)
    decompress: list[float] = field(default_factory=list)
    size: float = 0.0

    @property
    def estimated(self) -> bool:
        return any(group.scale > 1 for group in self.groups)


@dataclass(slots=True)
class _Group:
    """Values of like size, and by how much all of that size outweigh them."""

    values: list[bytes]
    scale: float
    """all bytes of that size by the bytes of these values; times grow with it."""
    size_scale: float
    """the same for what zstd makes of them: how well these few compress says little about all, how much better or
    worse than zstd a codec does on them says a lot."""


def compare(
    values: Sequence[bytes],
    codecs: Iterable[Codec],
    *,
    rounds: int = 3,
    seconds: float = 1.5,
    deadline: float | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Result]:
    """Compress and decompress values one by one with each codec.

    Args:
        values: the updates.
        codecs: what to compare.
        rounds: how often each codec goes over the values.
        seconds: about how long a codec may compress in one round before it gets only a part of the values.
        deadline: seconds after which no further round is begun; the first is always done.
        progress: told in a few words what is being done.

    Returns:
        one result for each codec, in their order.

    Raises:
        RuntimeError: a codec did not give back what it was given.
    """
    begun = time.monotonic()
    by_size: dict[int, list[bytes]] = {}
    for value in values:
        by_size.setdefault(len(value).bit_length(), []).append(value)
    runners = [_Runner(codec, _groups(codec, by_size, seconds)) for codec in codecs]
    for number in range(rounds):
        if number and deadline is not None and time.monotonic() - begun > deadline:
            break
        for runner in runners:
            level = "" if runner.codec.level is None else f" {runner.codec.level}"
            progress(f"round {number + 1} of {rounds}: {runner.codec.name}{level} ({runner.codec.library})")
            _run(runner, check=number == 0)
    return [
        Result(
            runner.codec.name,
            runner.codec.level,
            runner.codec.library,
            round(runner.size),
            statistics.median(runner.compress),
            statistics.median(runner.decompress),
            runner.estimated,
            len(runner.compress),
        )
        for runner in runners
    ]


def _groups(codec: Codec, by_size: dict[int, list[bytes]], seconds: float) -> list[_Group]:
    """All values, or of each size as many as fit into the time."""
    expected = 0.0
    for values in by_size.values():
        tried = [values[0], values[len(values) // 2], values[-1]]
        expected += _timed(codec.compress, tried)[0] / len(tried) * len(values)
    groups = []
    for values in by_size.values():
        wanted = max(1, round(len(values) * min(1.0, seconds / max(expected, 1e-9))))
        chosen = [values[i * len(values) // wanted] for i in range(wanted)]
        if wanted == len(values):
            groups.append(_Group(chosen, 1.0, 1.0))
        else:
            groups.append(_Group(chosen, _outweigh(values, chosen, len), _outweigh(values, chosen, _compressed_size)))
    return groups


def _outweigh(values: Sequence[bytes], chosen: Sequence[bytes], measure: Callable[[bytes], int]) -> float:
    few = sum(map(measure, chosen))
    return sum(map(measure, values)) / few if few else len(values) / len(chosen)


def _compressed_size(value: bytes) -> int:
    return len(ypress.compress(value, "zstd", 1))


def _timed(function: Callable[[Any], Any], values: Sequence[Any]) -> tuple[float, list[Any]]:
    begun = time.perf_counter()
    results = [function(value) for value in values]
    return time.perf_counter() - begun, results


def _run(runner: _Runner, *, check: bool) -> None:
    compress = decompress = size = 0.0
    for group in runner.groups:
        spent, compressed = _timed(runner.codec.compress, group.values)
        compress += spent * group.scale
        size += sum(map(len, compressed)) * group.size_scale
        spent, back = _timed(runner.codec.decompress, compressed)
        decompress += spent * group.scale
        if check and any(a != b for a, b in zip(group.values, back, strict=True)):
            raise RuntimeError(f"{runner.codec.library} {runner.codec.name} did not give back what it was given")
    runner.size = size
    runner.compress.append(compress)
    runner.decompress.append(decompress)


def compare_one(value: bytes, codecs: Iterable[Codec], *, rounds: int = 5, seconds: float = 0.01) -> list[Result]:
    """Compress and decompress one value again and again with each codec.

    Args:
        value: the update.
        codecs: what to compare.
        rounds: how many measurements to take the median of; the codecs take turns.
        seconds: about how long a measurement takes.

    Returns:
        one result for each codec, in their order; the times are seconds per call.
    """
    done: list[tuple[Codec, Any, list[int], tuple[list[float], list[float]]]] = []
    for codec in codecs:
        spent, (compressed,) = _timed(codec.compress, [value])
        back_spent, _ = _timed(codec.decompress, [compressed])
        times = [max(1, min(20_000, int(seconds / max(one, 1e-7)))) for one in (spent, back_spent)]
        done.append((codec, compressed, times, ([], [])))
    for _ in range(rounds):
        for codec, compressed, (many, many_back), (compress, decompress) in done:
            compress.append(_timed(codec.compress, [value] * many)[0] / many)
            decompress.append(_timed(codec.decompress, [compressed] * many_back)[0] / many_back)
    return [
        Result(
            codec.name,
            codec.level,
            codec.library,
            len(compressed),
            statistics.median(compress),
            statistics.median(decompress),
            rounds=rounds,
        )
        for codec, compressed, _, (compress, decompress) in done
    ]


def compare_packed(histories: Iterable[Sequence[Record]], *, rounds: int = 3) -> tuple[Result, int] | None:
    """Pack the history of each document, with metadata and timestamps, and unpack it again.

    Args:
        histories: consecutive updates of a document, for each document.
        rounds: how often to do it; the median counts.

    Returns:
        the result and the number of segments; None in a version of ypress that does not pack.

    Raises:
        RuntimeError: what was unpacked is not what was packed.
    """
    functions = packing()
    if functions is None:
        return None
    pack, unpack = functions
    parts: list[list[Entry]] = [
        [(r.update, r.metadata, r.timestamp) for r in history[start : start + _SEGMENT]]
        for history in histories
        for start in range(0, len(history), _SEGMENT)
    ]
    packed, unpacked = [], []
    segments: list[Any] = []
    for number in range(rounds):
        spent, segments = _timed(pack, parts)
        packed.append(spent)
        spent, back = _timed(lambda segment: list(unpack(segment)), segments)
        unpacked.append(spent)
        if not number and any(a != b for a, b in zip(parts, back, strict=True)):
            raise RuntimeError("what was unpacked is not what was packed")
    size = sum(map(len, segments))
    result = Result(
        "packed", None, "ypress", size, statistics.median(packed), statistics.median(unpacked), rounds=rounds
    )
    return result, len(parts)
