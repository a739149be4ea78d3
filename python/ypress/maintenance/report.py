"""A page about a store: one file, with everything in it, that loads nothing."""

from __future__ import annotations

import sqlite3
from collections import Counter
from datetime import datetime
from html import escape
from os import PathLike
from pathlib import Path

import ypress

from ..sqlite.statistics import DocumentStatistics
from ..words import counted
from .inspect import StoreReport
from .plot import area, bars, columns
from .sample import NotAStore, read_sample

__all__ = ["make_report", "write_report"]

_STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;
background:#fff}h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}svg{max-width:100%;height:auto}
table{border-collapse:collapse;width:100%}td,th{padding:.2rem .5rem;border-bottom:1px solid #8884;text-align:right}
.wide{overflow-x:auto}td{white-space:nowrap}
td:first-child,th:first-child{white-space:normal;min-width:12rem;text-align:left;overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){body{color:#e6e8eb;background:#16181c}}"""
_DOCUMENTS = 15


def write_report(report: StoreReport, file: str | PathLike[str]) -> None:
    """Write the page into a file."""
    Path(file).write_text(make_report(report), encoding="utf-8")


def make_report(report: StoreReport) -> str:
    """The page as text.

    Args:
        report: what is in the store.
    """
    facts = report.facts
    documents = sorted(report.documents, key=lambda document: -document.statistics.size)
    shown = [(d.label, float(d.statistics.size), _size(d.statistics.size)) for d in documents[:_DOCUMENTS]]
    rest = sum(document.statistics.size for document in documents[_DOCUMENTS:])
    if rest:
        shown.append((counted(len(documents) - _DOCUMENTS, "other"), float(rest), _size(rest)))
    kinds = [(kind, float(size), f"{count:,}, {_size(size)}") for kind, (count, size) in report.kinds().items()]
    sections = [
        ("Size by document", bars(shown, "Size by document")),
        ("Size over time", _over_time(report)),
        ("How values are stored", bars(kinds, "How values are stored")),
        ("Sizes of updates", _histogram(report.file)),
    ]
    saving = f"{facts.size / max(1, report.estimated):.1f} times smaller, about {_size(report.estimated)}"
    body = "".join(f"<h2>{escape(title)}</h2>{chart}" for title, chart in sections)
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(report.file.name)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(str(report.file))}</h1>"
        f"<p>{_size(facts.size)}: {counted(report.total('updates'), 'update')} of "
        f"{counted(len(documents), 'document')}. Of that, {_size(report.total('raw'))} are the updates themselves. "
        f"<code>jupyter ypress compress</code> would make it {saving}.</p>{body}<h2>Documents</h2>{_table(report)}"
        f"<p>ypress {escape(ypress.__version__)}</p></body></html>\n"
    )
    return page.encode("utf-8", "replace").decode()


def _size(number: float) -> str:
    for unit in ("B", "kB", "MB"):
        if number < 999.5:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} GB"


def _over_time(report: StoreReport) -> str:
    hours: Counter[int] = Counter()
    for document in report.documents:
        hours.update(document.statistics.hours)
    points, total = [], 0
    # Times before 1980 and after 2200 are no times, but they would be the whole chart.
    for hour in sorted(hour for hour in hours if 87_000 < hour < 2_016_000) or sorted(hours):
        total += hours[hour]
        points.append((float(hour), float(total)))
    step = max(1, len(points) // 700)
    thinned = [*points[::step], *points[-1:]] if points else []
    ends = (_day(points[0][0]), _day(points[-1][0])) if points else ("", "")
    return area(thinned, "Bytes of updates over time", ends, f"{_size(total)} of updates, without compression")


def _day(hour: float) -> str:
    try:
        return datetime.fromtimestamp(hour * 3600).strftime("%Y-%m-%d %H h")
    except (OverflowError, OSError, ValueError):
        return f"hour {hour:g}"


def _histogram(file: Path) -> str:
    """How many updates of which size, from a sample of a large store."""
    try:
        records = read_sample(file).records
    except (NotAStore, sqlite3.Error):
        records = []
    sizes = Counter(len(record.update).bit_length() for record in records)
    if not sizes:
        return "<p>nothing yet</p>"
    values = [
        (_size(1 << exponent).replace(" ", ""), float(sizes[exponent]))
        for exponent in range(min(sizes), max(sizes) + 1)
    ]
    return f"<p>Below each column: what its updates are smaller than.</p>{columns(values, 'Sizes of updates')}"


def _table(report: StoreReport) -> str:
    rows = "".join(
        f"<tr><td>{escape(d.label)}</td><td>{d.statistics.updates:,}</td>"
        f"<td>{_minute(d.statistics.first)}</td><td>{_minute(d.statistics.last)}</td><td>{_size(d.statistics.raw)}</td>"
        + "".join(f"<td>{_size(part) if part else ''}</td>" for part in _parts(d.statistics))
        + f"<td>{_size(d.statistics.size)}</td><td>{_size(d.after)}</td></tr>"
        for d in report.documents
    )
    heads = "".join(f"<th>{head}</th>" for head in _HEADS)
    return f'<div class="wide"><table><tr>{heads}</tr>{rows}</table></div>'


_HEADS = (
    "document", "updates", "first edit", "last edit", "raw", "in rows", "in segments", "checkpoint", "moved aside",
    "paths, index", "in file", "after compress",
)  # fmt: skip


def _parts(entry: DocumentStatistics) -> tuple[int, ...]:
    """What of a document takes how many bytes in the file."""
    return entry.row_bytes, entry.segment_bytes, entry.checkpoint_bytes, entry.aside_bytes, entry.overhead


def _minute(timestamp: float | None) -> str:
    if timestamp is None:
        return ""
    try:
        return datetime.fromtimestamp(timestamp).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return f"{timestamp:g}"
