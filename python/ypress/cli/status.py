"""``jupyter ypress status``."""

from __future__ import annotations

import dataclasses
import sys

import click

from ..maintenance.status import Status, status
from ..words import counted
from .arguments import json_option
from .group import FOUND
from .output import printable, show_json, size


@click.command(epilog="Example: jupyter ypress status")
@json_option
def command(as_json: bool) -> None:
    """Which store class, file and codec Jupyter's server uses when it is started in this folder, and what does not fit.

    The exit code is 1 if something does not fit.
    """
    found = status()
    if as_json:
        show_json(dataclasses.asdict(found))
    else:
        _show(found)
    if found.problems:
        sys.exit(FOUND)


def _show(found: Status) -> None:
    lines = [
        ("store class", found.used or "none"),
        ("configured in", ", ".join(found.files) or "no file"),
        ("codec", found.codec),
        ("file", "" if found.store is None else str(found.store)),
        ("", _contents(found)),
        ("versions", ", ".join(f"{name} {version}" for name, version in found.versions.items() if version)),
    ]
    for name, text in lines:
        if text:
            click.echo(f"{name:13} {printable(text)}")
    for problem in found.problems:
        click.echo(f"! {printable(problem)}")
    if not found.problems:
        click.echo("Everything fits together.")


def _contents(found: Status) -> str:
    summary = found.summary
    if summary is None:
        return "" if found.store is None or found.store.exists() else "not there yet"
    return (
        f"{size(summary.size)}, {counted(summary.documents, 'document')}, {counted(summary.updates, 'update')}, "
        f"{100 * summary.packed_share:.0f} % of them packed"
    )
