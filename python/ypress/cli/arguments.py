"""What commands have in common: the argument STORE and the option --json."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..maintenance.locate import default_store

__all__ = ["document_argument", "json_option", "store_argument", "store_option"]

F = TypeVar("F", bound=Callable[..., Any])


def _store(ctx: click.Context, parameter: click.Parameter, value: str | None) -> Path:
    return Path(value) if value is not None else default_store()


def store_argument(function: F) -> F:
    """The optional argument STORE, as a path."""
    return click.argument("store", required=False, callback=_store)(function)


def json_option(function: F) -> F:
    """``--json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")(function)


def store_option(function: F) -> F:
    """``--store``, for commands whose argument is a document."""
    return click.option("--store", "-s", callback=_store, metavar="STORE", help="The store; see `ypress -h`.")(function)


def document_argument(function: F) -> F:
    """The argument DOC."""
    return click.argument("document", metavar="DOC")(function)
