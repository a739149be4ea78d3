"""Tables and numbers in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], text: int = 1) -> str:
    """A table; the first `text` columns are words, the others numbers."""
    aligned = ["---" if index < text else "---:" for index in range(len(heads))]
    lines = ["| " + " | ".join(heads) + " |", "|" + "|".join(aligned) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def number(value: float | None) -> str:
    """Three digits, more only where it is a large number; a dash for None."""
    if value is None:
        return "-"
    if abs(value) >= 99.95:
        return f"{value:,.0f}"
    digits = 1 if abs(value) >= 9.995 else 2
    if 0 < abs(value) < 0.0995:
        digits = 3
    return f"{value:.{digits}f}"


def times(ratio: float) -> str:
    """How many times."""
    if ratio >= 99.5:
        return f"{ratio:,.0f}x"
    return f"{ratio:.0f}x" if ratio >= 19.5 else f"{ratio:.1f}x" if ratio >= 9.95 else f"{ratio:.2f}x"


def smaller(ratio: float) -> str:
    """How many times smaller: with one digit behind the point where that says something."""
    return f"{ratio:.0f}x" if ratio >= 19.5 else f"{ratio:.1f}x"


def megabytes(size: float | None) -> str:
    """Bytes in MB."""
    return "-" if size is None else f"{number(size / 1e6)} MB"
