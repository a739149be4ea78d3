"""The group of commands. A command's module is imported when it is used, so that each starts quickly."""

from __future__ import annotations

import importlib
import sqlite3
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

import ypress

from ..maintenance.errors import Refused
from ..sqlite.errors import StoreUnavailable
from .output import printable

__all__ = ["FAILED", "FOUND", "REFUSED", "cli"]

# Exit codes, beside 0 (done) and 2 (wrong usage, which click gives).
FOUND = 1  # something is wrong in the store: damage, gaps
REFUSED = 3  # it was not begun, and nothing was changed
FAILED = 4  # it was begun and stopped; the store is intact
INTERRUPTED = 130

# Every command is the attribute `command` of the module of its name in this package.
COMMANDS: dict[str, str] = {
    "enable": "Have Jupyter's server store history with ypress.",
    "disable": "Have Jupyter's server store history as it did before `enable`.",
    "status": "Which store class, file and codec Jupyter's server uses, and what does not fit.",
    "info": "What is in a store, what takes the space, what compressing would save.",
    "bench": "Compare codecs on the updates of a store.",
    "compress": "Make a store smaller in place, while servers go on writing to it.",
    "restore": "Make a store what pycrdt-store would have written, exactly.",
    "verify": "Read everything, list damage and gaps; repair.",
    "history": "When a document was edited.",
    "export": "A document as it is or was, as a file; or all with their history.",
    "delete": "Remove a document from a store for good.",
}


class _Commands(click.Group):
    """Finds commands by name, and turns their errors into one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".{cmd_name}", __package__)
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(  # type: ignore[override]  # it ends the process, whatever `standalone_mode` says
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        try:
            code = super().main(args, prog_name, standalone_mode=False, **extra)
        except click.ClickException as error:
            error.show()
            _end(error.exit_code)
        except (click.Abort, KeyboardInterrupt):
            _say("interrupted")
            _end(INTERRUPTED)
        except Refused as error:
            _say(str(error))
            _end(REFUSED)
        except BrokenPipeError:
            sys.stderr.close()
            _end(FAILED)
        except (ypress.Error, sqlite3.Error, OSError) as error:
            _say(str(error) or type(error).__name__)
            _end(REFUSED if isinstance(error, StoreUnavailable) else FAILED)
        # What a command gives to `Context.exit`.
        _end(code if isinstance(code, int) else 0)


def _say(text: str) -> None:
    print(f"error: {printable(text)}", file=sys.stderr)


def _end(code: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except OSError:  # whoever read our output has gone
        sys.stdout = None
    sys.exit(code)


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog="Example: jupyter ypress info"
)
@click.version_option(ypress.__version__, prog_name="ypress")
def cli() -> None:
    """Look after the history of Jupyter's documents: what is in a store, smaller, checked, exported, restored.

    STORE is the file, such as .jupyter_ystore.db. Without it, the one that Jupyter's configuration names is meant, and
    if it names none, .jupyter_ystore.db in this folder.

    Exit codes: 0 done; 1 something in the store is damaged or missing; 2 wrong usage; 3 refused, nothing was changed;
    4 begun and stopped, the store is intact; 130 interrupted, the store is intact.
    """
