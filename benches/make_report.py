"""Make ``docs/benchmarks.md``, the plot beside it and the tables that other pages quote of what the benches wrote.

``python benches/make_report.py FOLDER [--output FOLDER]``: FOLDER has the JSON files of the benches. With `--output`
the page and the plot go there, and other pages stay as they are.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from report import Results, make_page, quote
from report.chart import growth_chart
from report.page import all_tables

ROOT = Path(__file__).resolve().parent.parent
# The pages that quote tables.
PAGES = ("README.md", "docs/design-rows.md")


def make(results: Results, output: Path, pages: list[Path]) -> list[Path]:
    """Write it all.

    Args:
        results: of the benches.
        output: the folder for the page and the plot.
        pages: that quote tables; they are changed in place.

    Returns:
        The files that were written.
    """
    written = [output / "benchmarks.md"]
    written[0].write_text(make_page(results), encoding="utf-8")
    if "history" in results:
        written.append(output / "growth.svg")
        written[1].write_text(growth_chart(results["history"]["sizes"]), encoding="utf-8")
    tables = all_tables(results)
    for page in pages:
        page.write_text(quote(page.read_text(encoding="utf-8"), tables), encoding="utf-8")
    return written + pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, metavar="FOLDER")
    parser.add_argument("--output", type=Path, metavar="FOLDER")
    arguments = parser.parse_args()
    results = Results.read(arguments.results)
    pages = [] if arguments.output else [ROOT / page for page in PAGES]
    for file in make(results, arguments.output or ROOT / "docs", pages):
        print(f"wrote {file}")


if __name__ == "__main__":
    main()
