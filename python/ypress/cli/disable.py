"""``jupyter ypress disable``."""

from __future__ import annotations

import sqlite3

import click

from ..maintenance.enabling import disable
from ..maintenance.errors import Refused
from ..maintenance.locate import default_store
from ..sqlite.summary import summarize
from .level import level_options
from .output import note


@click.command(epilog="Example: jupyter ypress disable --user")
@level_options
def command(at: str) -> None:
    """Have Jupyter's server store history with its own class again.

    Takes away what `enable` wrote. The store is not changed: run `jupyter ypress restore` on it, so that the stock
    class can read all of it.
    """
    done = disable(at)  # type: ignore[arg-type]
    for file in done.files:
        click.echo(f"changed {file}" if file.exists() else f"removed {file}")
    if not done.files:
        click.echo(f"ypress is not enabled at this level ({at}).")
        return
    try:
        store = default_store()
        found = summarize(store)
    except (Refused, sqlite3.Error, OSError):
        return
    if found is not None and found.updates:
        note(f"The stock class does not read what ypress compressed. Run `jupyter ypress restore {store}` next.")
