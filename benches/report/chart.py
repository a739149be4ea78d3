"""The file's size by the length of the history, as SVG."""

from __future__ import annotations

from html import escape
from math import log10

# The lines that are drawn, of those that were measured: the others lie upon them.
LINES = {
    "stock": "#8a8f98",
    "stock, zstandard callbacks": "#9a6b2f",
    "ypress zstd, rows only": "#5a9e6f",
    "ypress zstd": "#0b6e99",
}
_WIDTH, _HEIGHT = 760, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 500, 60, 370
_LINE = 17.0


def growth_chart(sizes: dict[str, dict[str, int]]) -> str:
    """Both axes are logarithmic.

    Args:
        sizes: bytes of the file, by store and by updates.
    """
    drawn = {name: {int(n): size for n, size in sizes[name].items()} for name in LINES if name in sizes}
    lengths = sorted({n for line in drawn.values() for n in line})
    heights = [size for line in drawn.values() for size in line.values()]
    x = _Scale(lengths[0], lengths[-1], _LEFT, _RIGHT)
    y = _Scale(min(heights), max(heights), _BOTTOM, _TOP)
    parts = [f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>']
    parts += [_text(x(n), _BOTTOM + 20, f"{n:,}", "middle") for n in lengths]
    parts.append(_text((_LEFT + _RIGHT) / 2, _BOTTOM + 40, "updates of the document", "middle"))
    power = 10 ** int(log10(min(heights)))
    while power <= max(heights):
        if power >= min(heights):
            parts.append(_text(_LEFT - 8, y(power) + 4, _bytes(power), "end"))
            parts.append(f'<path d="M{_LEFT} {y(power):.1f}H{_RIGHT}" stroke="#ddd"/>')
        power *= 10
    parts.append(f'<path d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}" fill="none" stroke="#8a8f98"/>')
    taken = float("inf")
    for name, line in sorted(drawn.items(), key=lambda item: item[1][lengths[-1]]):
        points = " ".join(f"{x(n):.1f},{y(size):.1f}" for n, size in sorted(line.items()))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{LINES[name]}" stroke-width="2"/>')
        # From below upwards, each label above the one before.
        taken = min(y(line[lengths[-1]]) + 4, taken - _LINE)
        label = f"{name}, {_bytes(line[lengths[-1]])}"
        parts.append(_text(_RIGHT + 8, taken, label, colour=LINES[name]))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="12">'
        f"<title>Bytes of the file by updates</title>{''.join(parts)}</svg>\n"
    )


class _Scale:
    """From figures to places, logarithmically."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self._low, self._span = log10(low), (log10(high) - log10(low)) or 1.0
        self._start, self._length = start, end - start

    def __call__(self, value: float) -> float:
        return self._start + self._length * (log10(value) - self._low) / self._span


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = "#1b1f24") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def _bytes(size: float) -> str:
    return f"{size / 1e6:.3g} MB" if size >= 1e6 else f"{size / 1e3:.3g} kB"
