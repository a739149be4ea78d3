"""Printing: tables for people in the width of the terminal, JSON for programs, nothing but text into a pipe."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

__all__ = ["console", "count", "note", "printable", "progress", "show_json", "shown", "size", "table", "when"]


def printable(text: str) -> str:
    """Text in which everything that could disturb a terminal, such as a newline in a path key, is escaped."""
    return "".join(
        character
        if unicodedata.category(character)[0] != "C"
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in text
    )


def shown(name: str, width: int = 200) -> str:
    """A name for a table: printable, and not longer than `width`."""
    text = printable(name)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def console(**options: Any) -> Console:
    """Where to print. Colours go where there is a terminal that wants them."""
    plain = {} if sys.stdout.isatty() or options.get("stderr") else {"width": 80}
    options = {**plain, **options}
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=False, **options)


def note(text: str) -> None:
    """Say something beside the result."""
    print(printable(text), file=sys.stderr)


def say(text: str) -> None:
    """Print a line of the result."""
    print(text)


def size(number: float) -> str:
    """Bytes in a unit that suits them."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(number) < 999.5 or unit == "GB":
            return f"{number:.0f} B" if unit == "B" else f"{number:.3g} {unit}"
        number /= 1000
    raise AssertionError


def count(number: int) -> str:
    """A number with separators."""
    return f"{number:,}"


def when(timestamp: float | None) -> str:
    """Seconds since the epoch as local time."""
    if timestamp is None:
        return ""
    try:
        return datetime.fromtimestamp(timestamp).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return f"{timestamp:g}"


def show_json(value: object) -> None:
    """Print for programs."""
    print(json.dumps(value, indent=2, default=str))


def table(*columns: str) -> Table:
    """A table. Columns that begin with ``>`` align right, with ``<`` left; the others give way and fold."""
    made = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        if column.startswith(">"):
            made.add_column(column[1:], justify="right", no_wrap=True)
        elif column.startswith("<"):
            made.add_column(column[1:], no_wrap=True)
        else:
            made.add_column(column, overflow="fold", ratio=1)
    return made


@contextmanager
def progress(what: str, total: float) -> Iterator[Callable[[float, str], None]]:
    """A bar on the terminal, with rate and remaining time; nothing where stderr goes elsewhere.

    Yields:
        To be called with how much is done and what to say beside it.
    """
    if not sys.stderr.isatty():
        yield lambda done, text: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:>3.0f}% {task.fields[text]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=max(1.0, total), text="")
        yield lambda done, text: bar.update(task, completed=done, text=text)
