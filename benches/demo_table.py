"""Plain-text tables that fit into 80 columns."""

from __future__ import annotations

from collections.abc import Iterable

from ypress.maintenance.bench import Result

COLUMNS = f"{'method':<10}{'level':>6}  {'library':<10}{'bytes':>14}{'saved':>9}{'compress':>13}{'decompress':>13}"


def heading(text: str) -> str:
    """A line, and one under it."""
    return f"{text}\n{'-' * min(len(text), 80)}\n"


def duration(seconds: float) -> str:
    """A time with three digits in the unit that suits it."""
    for unit, factor in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < factor * 999.5:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds:.3g} s " if seconds < 99.95 else f"{seconds:.0f} s "


def table(raw: int, results: Iterable[Result], packed: Result | None = None) -> str:
    """The results as lines of at most 80 characters, a blank line between libraries.

    Args:
        raw: bytes without compression.
        results: those of codecs.
        packed: that of packing, if there is one.
    """
    lines = [COLUMNS, f"{'none':<10}{'':>6}  {'':<10}{raw:>14,}{'':>9}"]
    before = ""
    for result in [*([packed] if packed else []), *results]:
        if result.library != before:
            lines.append("")
            before = result.library
        level = "" if result.level is None else str(result.level)
        mark = "~" if result.estimated else " "
        saved = f"{100 * (1 - result.size / raw):.1f} %" if raw else ""
        lines.append(
            f"{result.name:<10}{level:>6}  {result.library:<10}{mark + f'{result.size:,}':>14}{saved:>9}"
            f"{duration(result.compress):>13}{duration(result.decompress):>13}"
        )
    return "\n".join(line.rstrip() for line in lines)
