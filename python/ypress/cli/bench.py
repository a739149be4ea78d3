"""``bench``."""

from __future__ import annotations

from pathlib import Path

import click

from ..maintenance.bench import Result, compare, compare_packed
from ..maintenance.codecs import available_codecs
from ..maintenance.opening import opened
from ..maintenance.plot import bench_plot
from ..maintenance.sample import read_sample
from ..words import counted
from .arguments import json_option, store_argument
from .output import console, count, note, printable, progress, say, show_json, table

__all__ = ["command"]


@click.command("bench", epilog="Example: jupyter ypress bench .jupyter_ystore.db --plot codecs.svg")
@store_argument
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="Rounds over the store.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Write a chart (SVG) there.")
@json_option
def command(store: Path, rounds: int, plot: Path | None, as_json: bool) -> None:
    """Compare codecs on the updates of a store: sizes and times.

    Those of ypress, of the standard library, and of other packages that are installed; and packed history, which is
    what `compress` makes. The store is only read; of a large one, a part.
    """
    with opened(store):
        pass  # what is not a store is refused in the same words everywhere
    sample = read_sample(store)
    values = [record.update for record in sample.records]
    raw = sum(map(len, values))
    codecs = available_codecs()
    steps = len(codecs) * rounds + 1
    with progress("comparing", steps) as show:
        done = iter(range(1, steps + 1))
        results = compare(
            values, codecs, rounds=rounds, deadline=60.0, progress=lambda text: show(next(done, steps), text[:40])
        )
        show(steps, "packing")
        packed = compare_packed(sample.histories().values(), rounds=rounds)
    all_results = [*([packed[0]] if packed else []), *results]
    if plot is not None:
        plot.write_text(bench_plot(raw, all_results), encoding="utf-8")
        note(f"wrote {plot}")
    if as_json:
        show_json(
            {
                "updates": len(values),
                "raw_bytes": raw,
                "whole": sample.whole,
                "damaged": sample.damaged,
                "results": [{name: getattr(result, name) for name in Result.__slots__} for result in all_results],
            }
        )
        return
    part = "" if sample.whole else f" (a part of {count(sample.updates)})"
    say(f"{printable(str(store))}: {counted(len(values), 'update')}{part}, {count(raw)} bytes")
    rows = table("<method", ">level", "<library", ">bytes", ">saved", ">compress", ">decompress")
    for result in all_results:
        rows.add_row(
            result.name,
            "" if result.level is None else str(result.level),
            result.library,
            f"{'~' if result.estimated else ''}{count(result.size)}",
            f"{100 * (1 - result.size / max(1, raw)):.1f} %",
            _time(result.compress),
            _time(result.decompress),
        )
    console().print(rows)
    if any(result.estimated for result in results):
        say("~ too slow for all of them: an even share of each size, scaled up")


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
