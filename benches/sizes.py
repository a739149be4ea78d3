"""How large the same history is: the stock file, stock with row callbacks, ypress while in use, ypress rewritten.

``python benches/sizes.py [--from FOLDER] [--size FACTOR]``: of generated stores, or of those in a folder.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import sessions
import ypress
from filling import write_rows
from measuring import parser, save
from sessions.__main__ import make
from ypress.maintenance.rewrite import compress_store
from ypress.sqlite.options import Options
from ypress.sqlite.values import Values

CODECS = ("zstd", "lz4", "brotli")
# Sizes in a segment's description that are not those of a part of it.
NOT_PARTS = {"stored_size", "literals_raw_size"}


def stock_with_callbacks(source: Path, target: Path, codec: str) -> Path:
    """The stock schema with every row compressed for itself, as the store's callbacks do it."""
    rows = ((path, ypress.compress(update, codec), *rest) for path, update, *rest in sessions.read_stock_rows(source))
    return sessions.write_stock_store(target, rows)


def in_use(source: Path, target: Path) -> Path:
    """The file after all has been written through the store, room by room, and each room has closed."""
    options = Options(values=Values(compression="zstd"), pack=True)
    for _, rows in by_document(source):
        write_rows(target, rows, options)
    return target


def by_document(source: Path) -> Iterator[tuple[str, list[sessions.Row]]]:
    """The rows of one document after the other."""
    rows: dict[str, list[sessions.Row]] = {}
    for row in sessions.read_stock_rows(source):
        rows.setdefault(row[0], []).append(row)
    yield from rows.items()


def rewritten(source: Path, target: Path) -> Path:
    """The file after ``jupyter ypress compress``."""
    target.write_bytes(source.read_bytes())
    compress_store(target, Values(compression="zstd"))
    return target


def parts(file: Path) -> dict[str, int]:
    """What a packed file is made of, in bytes: the parts of its segments, and all else."""
    made: Counter[str] = Counter()
    database = sqlite3.connect(file)
    for (blob,) in database.execute("SELECT data FROM ysegments"):
        info = ypress.segment_info(blob)
        names = (name for name in dir(info) if name.endswith("_size") and name not in NOT_PARTS)
        made.update({name.removesuffix("_size"): getattr(info, name) for name in names})
    loose = database.execute("SELECT total(length(yupdate)) FROM yupdates").fetchone()[0]
    checkpoints = database.execute("SELECT total(length(checkpoint)) FROM ycheckpoints").fetchone()[0]
    database.close()
    made.update({"loose rows": int(loose), "checkpoints": int(checkpoints)})
    made["the rest of the file"] = file.stat().st_size - sum(made.values())
    return dict(made)


def measure(source: Path, folder: Path) -> dict[str, int]:
    """The sizes of a store in all its forms."""
    sizes = {"stock": source.stat().st_size}
    for codec in CODECS:
        sizes[f"stock, {codec} callbacks"] = stock_with_callbacks(source, folder / "rows.db", codec).stat().st_size
    sizes["ypress, in use"] = in_use(source, folder / "used.db").stat().st_size
    sizes["ypress, rewritten"] = rewritten(source, folder / "rewritten.db").stat().st_size
    return sizes


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--from", dest="source", type=Path, metavar="FOLDER", help="measure the stores of this folder")
    options.add_argument("--size", type=float, default=1.0, help="factor for the length of generated histories")
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    size = arguments.size * (0.2 if arguments.quick else 1)
    result = {}
    with tempfile.TemporaryDirectory() as name:
        stores = make(Path(name) / "stores", list(sessions.KINDS), size, arguments.seed, arguments.source)
        for source in stores:
            folder = Path(name) / source.stem
            folder.mkdir()
            sizes = measure(source, folder)
            updates = sum(1 for _ in sessions.read_stock_rows(source))
            made = parts(folder / "rewritten.db")
            result[source.stem] = {"updates": updates, "sizes": sizes, "rewritten": made}
            print(f"{source.stem}: {updates:,} updates")
            print(f"  {'store':<24}{'file, bytes':>14}{'per update':>14}{'smaller':>11}")
            for form, length in sizes.items():
                smaller = f"{sizes['stock'] / length:.1f}x"
                print(f"  {form:<24}{length:>14,}{length / updates:>14.2f}{smaller:>11}")
            shares = (f"{part} {length / updates:.2f}" for part, length in made.items() if length)
            print(f"  bytes per update, rewritten: {', '.join(shares)}\n", flush=True)
    save(arguments.json, {"stores": result}, arguments.quick)


if __name__ == "__main__":
    main()
