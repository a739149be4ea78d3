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
    """Have Jupyter's server store history as before.

    Takes away what `enable` wrote, and puts back the store class that it replaced, if there was one. The store is not
    changed: run `jupyter ypress restore` on it, so that the stock class can read all of it.
    """
    done = disable(at)  # type: ignore[arg-type]
    for file in done.files:
        click.echo(f"changed {file}" if file.exists() else f"removed {file}")
    if not done.files:
        click.echo(f"ypress is not enabled at this level ({at}).")
        return
    click.echo(f"Jupyter's server will use {done.left or 'its own store class'} when it is started again.")
    try:
        store = default_store()
        found = summarize(store)
    except (Refused, sqlite3.Error, OSError):
        return
    if found is None:
        note(f"That class does not read what ypress compressed, and there is no {store} here: where the server runs, "
             "run `jupyter ypress restore` before that.")  # fmt: skip
    elif found.updates:
        note(f"That class does not read what ypress compressed: run `jupyter ypress restore {store}` before that.")
