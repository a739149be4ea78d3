"""Write the histories in a stock store to a folder, for `cargo bench --bench segment -- FOLDER`.

Usage: segment_records.py STORE FOLDER. One file for each document, in the form of the golden records.
"""

from __future__ import annotations

import sqlite3
import struct
import sys
from contextlib import closing
from pathlib import Path


def main() -> None:
    store, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(f"{store.resolve().as_uri()}?mode=ro", uri=True)) as db:
        paths = [path for (path,) in db.execute("SELECT path FROM yupdates GROUP BY path ORDER BY min(rowid)")]
        for number, path in enumerate(paths):
            rows = db.execute(
                "SELECT yupdate, metadata, timestamp FROM yupdates WHERE path = ? ORDER BY rowid", (path,)
            )
            with (folder / f"{store.stem}-{number:04}.records").open("wb") as out:
                for update, metadata, timestamp in rows:
                    length = -1 if metadata is None else len(metadata)
                    out.write(struct.pack("<iid", len(update), length, timestamp) + update + (metadata or b""))


if __name__ == "__main__":
    main()
