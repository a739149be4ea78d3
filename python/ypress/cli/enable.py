"""``jupyter ypress enable``."""

from __future__ import annotations

import click

from ..maintenance.enabling import STORE_CLASS, enable
from .level import level_options
from .output import note


@click.command(epilog="Example: jupyter ypress enable --codec zstd --user")
@click.option(
    "--codec",
    type=click.Choice(["zstd", "lz4", "brotli", "none"]),
    default="zstd",
    show_default=True,
    help="How new history is compressed.",
)
@click.option("--level", type=int, help="The codec's level, instead of its default.")
@level_options
def command(codec: str, level: int | None, at: str) -> None:
    """Have Jupyter's server store history with ypress.

    Writes the server's configuration; start the server anew for it to take effect. What is stored already stays as it
    is and is read as before; `jupyter ypress compress` makes it smaller.
    """
    done = enable(None if codec == "none" else codec, level, at)  # type: ignore[arg-type]
    for file in done.files:
        click.echo(f"wrote {file}")
    if done.replaced:
        note(f"It takes the place of {done.replaced}, which `jupyter ypress disable` puts back.")
    click.echo(f"Jupyter's server will use {STORE_CLASS} with {codec} when it is started again.")
    click.echo("See `jupyter ypress status`.")
