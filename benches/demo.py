"""What compression does to the updates of a store: the comparison behind ``make demo``.

Without a store, one is made by replaying the typing and running of notebooks through pycrdt and jupyter-ydoc.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

import sessions
import ypress
from demo_table import duration, heading, table
from ypress.maintenance.bench import compare, compare_one, compare_packed
from ypress.maintenance.codecs import available_codecs
from ypress.maintenance.sample import NotAStore, Sample, read_sample

# Seconds after which no further round over the whole store is begun.
DEADLINE = 120.0
SINGLE = ((17_000, "17 KB"), (28, "28 bytes"))


def note(text: str) -> None:
    """Say on a terminal what is going on; nothing when the output goes elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text[:78]}", end="", file=sys.stderr, flush=True)


def made_store(folder: Path, cells: int) -> Path:
    note("replaying an editing session")
    rows = sessions.notebooks(seed=6, documents=3, cells=cells)
    return sessions.write_stock_store(folder / "session.db", rows)


def about(sample: Sample, made: bool) -> str:
    sizes = sorted(len(record.update) for record in sample.records)
    raw = sum(sizes)
    origin = "an editing session, typed and run twice, replayed for this demo" if made else str(sample.path)
    lines = [
        f"Store      {origin}",
        f"           file of {sample.file_size:,} bytes, opened read-only",
        f"Rows       {sample.updates:,} updates of {sample.documents:,} documents",
        f"Updates    median {statistics.median(sizes):g} bytes, largest {sizes[-1]:,}; {raw:,} bytes together",
    ]
    if not sample.whole:
        lines.append(f"Sample     {len(sizes):,} updates from all over this large file; all below is of these")
    if sample.damaged:
        lines.append(f"Damaged    {sample.damaged:,} values could not be decoded and are left out")
    if sample.whole and not made and sample.file_size > 2 * raw:
        lines.append("           most of it is not the updates but what SQLite keeps with them")
    return "\n".join(lines)


def compared(sample: Sample, rounds: int) -> str:
    values = [record.update for record in sample.records]
    raw = sum(map(len, values))
    results = compare(values, available_codecs(), rounds=rounds, deadline=DEADLINE, progress=note)
    note("packing histories")
    packed = compare_packed(sample.histories().values(), rounds=rounds)
    done = min(result.rounds for result in results)
    text = heading(f"All {len(values):,} updates, one by one (median of {done} rounds)")
    text += table(raw, results, packed[0] if packed else None)
    if any(result.estimated for result in results):
        text += "\n~  too slow for all of them; an even share of each size, scaled up"
    if packed:
        text += (
            f"\npacked: {packed[1]:,} segments, with metadata and timestamps; the other lines are values"
            "\nonly, to each of which SQLite adds the path (twice), the timestamp and more"
        )
    return text


def compared_one(sample: Sample, wanted: int, words: str) -> str:
    value = min((record.update for record in sample.records), key=lambda update: abs(len(update) - wanted))
    note(f"one update of {len(value):,} bytes")
    near = "" if 0.5 < len(value) / wanted < 2 else f" (none near {words})"
    text = heading(f"One update of {len(value):,} bytes{near}, time per call")
    return text + table(len(value), compare_one(value, available_codecs()))


def run(store: Path | None, rounds: int, cells: int) -> None:
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ypress-demo-") as folder:
        sample = read_sample(store or made_store(Path(folder), cells))
        print(f"ypress {ypress.__version__}, Python {platform.python_version()}, {platform.machine()}\n")
        print(about(sample, made=store is None), flush=True)
        for text in (
            lambda: compared(sample, rounds),
            *(lambda wanted=wanted, words=words: compared_one(sample, wanted, words) for wanted, words in SINGLE),
        ):
            section = text()
            note("")
            print("\n" + section, flush=True)
    print(f"\nNothing was written to the store. Took {duration(time.monotonic() - begun).strip()}.")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", nargs="?", type=Path, help="a .jupyter_ystore.db; it is only read")
    parser.add_argument("--rounds", type=int, default=3, help="rounds over the store (default 3)")
    parser.add_argument("--cells", type=int, default=50, help="cells of each notebook that is made (default 50)")
    arguments = parser.parse_args()
    try:
        run(arguments.store, max(1, arguments.rounds), max(1, arguments.cells))
    except NotAStore as error:
        note("")
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
