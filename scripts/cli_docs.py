"""Write docs/cli.md: what it says here, with what the commands print on a store that is made for it.

Run from the root of the repository, where ypress is installed with its command line: ``python scripts/cli_docs.py``.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "benches"))

INTRODUCTION = """# The command line

`pip install 'ypress[cli]'` brings `jupyter ypress` (and the same as `ypress`). Three commands make a store smaller and
say what became of it:

    jupyter ypress info
    jupyter ypress compress
    jupyter ypress info

Without an argument, the store is the one that Jupyter's configuration names (`c.SQLiteYStore.db_path`), and if it names
none, `.jupyter_ystore.db` in this folder. Nothing has to be stopped: servers may go on writing. All that follows was
printed by the commands; `python scripts/cli_docs.py` prints it anew.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | `verify`: something is damaged or missing; `status`: something does not fit |
| 2 | wrong usage |
| 3 | refused: it was not begun, and nothing was changed; the message says why and what to do |
| 4 | begun and stopped (disk full, file locked, damage); the store is intact, and what was done stays |
| 130 | interrupted; the store is intact |

Where there is something to read by program, `--json` prints it. Into a pipe go plain lines of 80 columns; `NO_COLOR`
is heeded.

## enable, disable, status

These are for the server of jupyter-collaboration, and run in its environment. `enable` writes its configuration: the
class, `--codec` (zstd) and `--level`, and the server extension. `disable` takes that away again and puts back the
store class that `enable` replaced, if there was one; neither changes the store. Both are for this Python environment,
or with `--user` or `--system` for the user or the whole system, and take effect when the server is started anew.
`status` says which class, file and codec a server that is started in this folder uses, and lists what does not fit;
then the exit code is 1.

The way back to the stock class: stop the server, `disable`, then [restore](#restore). More is on the page
[in Jupyter](jupyter.md).
"""

SECTIONS: list[tuple[str, list[str], str]] = [
    (
        "info",
        ["info"],
        """\
What is in a store, what takes the space, and what compressing would save, which is estimated by packing a
sample. `raw` are the updates alone; `in file` is a document's share of the file, with paths, index and
half-empty pages; `after` is what it would be. A terminal of 150 columns shows more: the first edit, and how
much of the share are updates in rows, segments, the checkpoint, and paths and index. In a narrower one, and in
a pipe, `--long` does; `--json` has all of it in bytes. Names come from the database of jupyter-server-fileid,
where there is one. `--html report.html` writes a page with charts: size by document, size over time, how values
are stored, sizes of updates. The store is only read.""",
    ),
    ("", ["info", "--long", "--limit", "1"], ""),
    (
        "bench",
        ["bench", "--rounds", "1"],
        """\
Codecs on the updates of this store: those of ypress, of the standard library, and of packages that are
installed. `packed` is history as `compress` packs it, with metadata and timestamps. `--plot codecs.svg` draws
it.""",
    ),
    (
        "compress",
        ["compress", "--dry-run"],
        """\
Moves the history of every document into segments, in place; every update stays as it is, byte for byte, with
its metadata and timestamp. Each segment is unpacked and compared before it replaces anything. Transactions are
short where others write. It may be interrupted at any moment and run again; a run with nothing to do changes
nothing.

- `--codec`, `--level`: how single values are written, which are checkpoints, and with `--no-pack` rows.
  `--level` of zstd is that of segments, too.
- `--was`: what wrote rows that say nothing of themselves: `zlib`, `gzip`, `bz2`, `lzma`, `brotli`, `lz4`,
  `lz4-block`, `zstd`, `numcodecs:<id>`, or the dotted path of a function from bytes to bytes.
- A file whose `auto_vacuum` is off (those of pycrdt-store 0.1.2 and before) is rebuilt at the end, if the disk
  has room.

It refuses, and says what to do: what is not a store, another schema version, a file that may only be read or
stays locked, a disk that is nearly full, and a Jupyter configuration whose class could not read the result
(`--force` for other servers).""",
    ),
    ("", ["compress", "--force"], ""),
    ("", ["info"], ""),
    (
        "verify",
        ["verify", "--deep"],
        """\
Decodes every value; lists damage by document and place, and gaps in clients' clocks. `--deep` also checks the
file as such, replays every document, and compares its checkpoint with its history. `--repair` moves damaged
records into the table `yaside` (nothing is deleted), adds to the history what only a checkpoint has, and makes
checkpoints anew. Stock servers leave a gap in each session after the first, see [faults](faults.md):
`--ignore-gaps` has them not count.""",
    ),
    (
        "history",
        ["history", "DOC"],
        """\
When a document was edited. DOC is a file's name, its id, a path key, or the beginning of one; where it could be
several, they are listed. `--gap` says how many minutes without an edit end a session.""",
    ),
    (
        "export",
        ["export", "DOC", "--at", "TIME", "-o", "before.ipynb"],
        """\
The notebook or text as it is, or as it was at a time. `--all -o history.zip` writes every document and its
history into an archive: `index.json` says which is where, and `ypress.unpack` reads the segments.""",
    ),
    ("", ["export", "--all", "-o", "history.zip"], ""),
    (
        "delete",
        ["delete", "DOC", "--yes"],
        """\
Removes a document's history, segments, checkpoint and moved-aside records for good: what is removed is
overwritten, and the file is rebuilt. It asks first. Close the document before, since a server writes again what
it has open.""",
    ),
    (
        "restore",
        ["restore"],
        """\
Back to the store that pycrdt-store would have written: the same updates, metadata, timestamps and order. What
ypress added to the file goes; a checkpoint of which it is not known what it covers goes, too, and is made anew
by whoever opens the document. Set `compression` to `None` first where servers are running, or they pack it
again.""",
    ),
]


def main() -> None:
    """Write the page."""
    import sessions

    parts = [INTRODUCTION]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = list(sessions.notebooks(3, documents=3, cells=40))
        sessions.write_stock_store(folder / ".jupyter_ystore.db", rows)
        path, at = rows[0][0], rows[len(rows) // 9][3]
        environment = {**os.environ, "JUPYTER_NO_CONFIG": "1", "JUPYTER_DATA_DIR": name, "TZ": "UTC"}
        for title, arguments, prose in SECTIONS:
            told = [{"DOC": path.split(":")[1][:8], "TIME": f"{at:.0f}"}.get(word, word) for word in arguments]
            done = subprocess.run(
                [sys.executable, "-m", "ypress.cli", *told],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode not in (0, 1):
                raise SystemExit(f"{told}: {done.stderr}")
            if title:
                parts.append(f"## {title}\n\n{prose}\n")
            lines = (done.stderr + done.stdout).rstrip().splitlines()
            output = "\n".join(line.rstrip() for line in lines)
            parts.append(f"```console\n$ jupyter ypress {shlex.join(told)}\n{output}\n```\n")
    (ROOT / "docs" / "cli.md").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
