"""The command line: ``ypress`` and ``jupyter ypress``. It parses, calls `ypress.maintenance`, and prints."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; the entry point of ``ypress`` and ``jupyter-ypress``."""
    try:
        from .group import cli
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("click", "rich", "pycrdt", "anyio"):
            raise
        print(f"error: the command line needs {error.name}; pip install 'ypress[cli]'", file=sys.stderr)
        sys.exit(2)
    name = "jupyter ypress" if "jupyter-ypress" in sys.argv[0] else "ypress"
    cli.main(prog_name=name)
