"""The options that say whose configuration is meant, named as those of ``jupyter server extension enable``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["level_options"]

F = TypeVar("F", bound=Callable[..., Any])


def level_options(function: F) -> F:
    """``--user``, ``--sys-prefix``, ``--system``; the function gets ``at``."""
    for name, text in (
        ("system", "The configuration of the whole system."),
        ("sys-prefix", "The configuration of this Python environment (the default)."),
        ("user", "The configuration of this user."),
    ):
        function = click.option(f"--{name}", "at", flag_value=name, default="sys-prefix", help=text)(function)
    return function
