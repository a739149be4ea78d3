"""``verify``."""

from __future__ import annotations

from pathlib import Path

import click

from ..maintenance.reading import values_for
from ..maintenance.repair import repair_store
from ..maintenance.verify import Verified, verify_store
from ..words import counted
from .arguments import json_option, store_argument
from .output import console, count, printable, progress, say, show_json, shown, table

__all__ = ["command"]


@click.command("verify", epilog="Example: jupyter ypress verify .jupyter_ystore.db --deep")
@store_argument
@click.option("--deep", is_flag=True, help="Replay every document, and compare its checkpoint with its history.")
@click.option("--repair", is_flag=True, help="Move damaged records aside, and make checkpoints anew.")
@click.option("--ignore-gaps", is_flag=True, help="Let gaps in clocks, which stock servers leave, not count.")
@click.option("--was", metavar="CODEC", help="What wrote rows that say nothing of themselves; see `compress`.")
@json_option
@click.pass_context
def command(
    ctx: click.Context, store: Path, deep: bool, repair: bool, ignore_gaps: bool, was: str | None, as_json: bool
) -> None:
    """Read everything in a store, and list what is damaged or missing.

    The exit code is 1 if there is anything. Gaps are updates of a client that were never stored; browsers hold back
    what follows them.
    """
    values = values_for(None, None, was)
    with progress("verifying", 1.0) as show:
        found = verify_store(
            store,
            values,
            deep=deep,
            progress=lambda done, total: show(done / max(1, total), f"{count(done)} of {counted(total, 'document')}"),
        )
    if repair and found.damage:
        repair_store(store, found, values)
    if as_json:
        show_json(found.as_json())
    else:
        _show(store, found, ignore_gaps)
    if found.damage or (found.gaps and not ignore_gaps):
        ctx.exit(1)


def _show(store: Path, found: Verified, ignore_gaps: bool) -> None:
    how = "read and replayed" if found.deep else "read"
    say(f"{printable(str(store))}: {counted(found.updates, 'update')} of {counted(found.documents, 'document')} {how}")
    out = console()
    if found.damage:
        rows = table("document", "<place", "what is wrong")
        for damage in found.damage:
            rows.add_row(shown(damage.path or ""), damage.place, shown(damage.reason))
        out.print(rows)
    if found.gaps and not ignore_gaps:
        rows = table("document", ">client", "<clocks that are missing", "<awaited")
        for gap in found.gaps:
            clocks = f"{gap.first} to {gap.end - 1}" if gap.end - gap.first > 1 else str(gap.first)
            rows.add_row(shown(gap.path), str(gap.client), clocks, "yes" if gap.awaited else "no")
        out.print(rows)
    for line in found.repaired:
        say(f"repaired: {printable(line)}")
    total = counted(len(found.damage), "damaged record") if found.damage else "no damage"
    gaps = "" if ignore_gaps else f", {counted(len(found.gaps), 'gap')}" if found.gaps else ", no gaps"
    say(total + gaps)
    if found.damage and not found.repaired:
        say("`jupyter ypress verify --repair` moves it aside; nothing is deleted.")
    if found.gaps and not ignore_gaps:
        say("A gap that nothing awaits is closed when ypress next opens the document, once\n"
            "nobody has edited it for an hour. `--ignore-gaps` has gaps not count.")  # fmt: skip
