"""Charts as SVG, without any library."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from .bench import Result

__all__ = ["area", "bars", "bench_plot", "columns"]

_COLOURS = {"ypress": "#0b6e99", "Python": "#9a6b2f"}
_OTHER = "#8a8f98"
_FONT = 'font-family="system-ui, sans-serif" font-size="12"'


def _svg(width: int, height: int, parts: Iterable[str], title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" {_FONT}><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor">{escape(text)}</text>'


def bars(rows: Sequence[tuple[str, float, str]], title: str, colours: Sequence[str] = ()) -> str:
    """Horizontal bars.

    Args:
        rows: label, value, and the value in words.
        title: for those who cannot see it.
        colours: of the bars.
    """
    most = max((value for _, value, _ in rows), default=0.0) or 1.0
    parts = []
    for index, (label, value, words) in enumerate(rows):
        y = 8 + 22 * index
        colour = colours[index] if index < len(colours) else "#0b6e99"
        short = label if len(label) <= 34 else f"{label[:33]}…"
        parts.append(_text(232, y + 13, short, "end"))
        length = max(1.0, 360 * value / most)
        parts.append(f'<rect x="240" y="{y}" width="{length:.1f}" height="16" rx="2" fill="{colour}"/>')
        parts.append(_text(246 + length, y + 13, words))
    return _svg(740, 22 * len(rows) + 16, parts, title)


def columns(values: Sequence[tuple[str, float]], title: str) -> str:
    """Vertical columns, one for each label."""
    most = max((value for _, value in values), default=0.0) or 1.0
    width = min(60.0, 680 / max(1, len(values)))
    parts = []
    for index, (label, value) in enumerate(values):
        height = 160 * value / most
        x = 20 + width * index
        parts.append(
            f'<rect x="{x + 1:.1f}" y="{180 - height:.1f}" width="{width - 2:.1f}" height="{height:.1f}" '
            f'fill="#0b6e99"><title>{escape(label)}: {value:,.0f}</title></rect>'
        )
        parts.append(_text(x + width / 2, 196, label, "middle"))
    return _svg(740, 206, parts, title)


def area(points: Sequence[tuple[float, float]], title: str, ends: tuple[str, str], top: str) -> str:
    """A line that only rises, and the area under it."""
    if not points:
        return _svg(740, 40, [_text(20, 24, "nothing yet")], title)
    first, last = points[0][0], points[-1][0]
    most = max(value for _, value in points) or 1.0
    span = (last - first) or 1.0
    line = " ".join(f"{20 + 690 * (x - first) / span:.1f},{180 - 160 * y / most:.1f}" for x, y in points)
    parts = [
        f'<polygon points="20,180 {line} 710,180" fill="#0b6e99" fill-opacity="0.2"/>',
        f'<polyline points="{line}" fill="none" stroke="#0b6e99" stroke-width="2"/>',
        _text(20, 198, ends[0]),
        _text(710, 198, ends[1], "end"),
        _text(20, 14, top),
    ]
    return _svg(740, 206, parts, title)


def bench_plot(raw: int, results: Sequence[Result]) -> str:
    """Size against time of compressing, one dot for each codec; below and to the left is better.

    Args:
        raw: bytes without compression.
        results: of `ypress.maintenance.bench`.
    """
    times = [max(result.compress, 1e-6) for result in results]
    low, high = math.log10(min(times, default=1e-6)), math.log10(max(times, default=1.0))
    span = (high - low) or 1.0
    parts = [
        _text(20, 20, "bytes after compression, of those before", "start"),
        '<path d="M60 30V420H720" fill="none" stroke="#8a8f98"/>',
        _text(390, 450, "time to compress, each step ten times longer", "middle"),
    ]
    for percent in (0, 25, 50, 75, 100):
        y = 420 - 3.8 * percent
        parts.append(_text(54, y + 4, f"{percent} %", "end"))
        parts.append(f'<line x1="60" y1="{y:.1f}" x2="720" y2="{y:.1f}" stroke="#8a8f98" stroke-opacity="0.2"/>')
    for power in range(math.ceil(low), math.floor(high) + 1):
        x = 80 + 560 * (power - low) / span
        parts.append(_text(x, 436, f"{10.0**power:g} s", "middle"))
    for result, time in zip(results, times, strict=True):
        x = 80 + 560 * (math.log10(time) - low) / span
        y = 420 - 380 * min(1.0, result.size / max(1, raw))
        level = "" if result.level is None else f" {result.level}"
        label = f"{result.name}{level}"
        colour = _COLOURS.get(result.library, _OTHER)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"><title>{escape(label)} '
            f"({escape(result.library)}): {result.size:,} bytes, {time:.3g} s</title></circle>"
        )
        if result.library == "ypress":
            parts.append(_text(x + 8, y + 4, label))
    return _svg(740, 460, parts, "Size and time of codecs")
