"""Write the three kinds of store, or take those in a folder: ``python -m sessions OUTPUT [--from FOLDER]``."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from . import KINDS, read_stock_rows, write_stock_store
from .describe import describe

# What a size of 1 stands for, by kind: about a minute to make all three.
SIZES = {
    "keystrokes": {"documents": 4, "edits": 24_000},
    "notebooks": {"documents": 4, "cells": 60},
    "streams": {"prints": 1500, "saves": 100},
}


def make(folder: Path, kinds: list[str], size: float = 1.0, seed: int = 1, source: Path | None = None) -> list[Path]:
    """Put the stores into a folder and return their paths.

    Args:
        folder: where to write; made if it is missing.
        kinds: of `KINDS`; without a source.
        size: a factor for the number of updates of a document.
        seed: for the generators.
        source: a folder of real stores (``*.db``) to copy instead.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if source is not None:
        return [Path(shutil.copy(file, folder)) for file in sorted(source.glob("*.db"))]
    made = []
    for kind in kinds:
        sizes = {k: v if k == "documents" else max(1, round(v * size)) for k, v in SIZES[kind].items()}
        made.append(write_stock_store(folder / f"{kind}.db", KINDS[kind](seed, **sizes)))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m sessions", description=__doc__)
    parser.add_argument("output", type=Path, help="folder for the stores")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only this kind (may be repeated)")
    parser.add_argument("--size", type=float, default=1.0, help="factor for the length of the histories (default 1)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="source", type=Path, metavar="FOLDER", help="copy the stores of this folder")
    arguments = parser.parse_args()
    kinds = arguments.kind or list(KINDS)
    for file in make(arguments.output, kinds, arguments.size, arguments.seed, arguments.source):
        print(describe(file.name, file.stat().st_size, read_stock_rows(file)))


if __name__ == "__main__":
    main()
