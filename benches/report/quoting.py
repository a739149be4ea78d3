"""Tables between marks, which are replaced where a page quotes them."""

from __future__ import annotations

import re

_MARKED = re.compile(r"<!-- table: (?P<name>[^\n]+?) -->\n(?P<table>.*?)\n<!-- end of table -->", re.DOTALL)


def marked(name: str, table: str) -> str:
    """A table with the marks around it."""
    return f"<!-- table: {name} -->\n{table}\n<!-- end of table -->"


def tables_in(page: str) -> dict[str, str]:
    """The tables between marks, by name."""
    return {match["name"]: match["table"] for match in _MARKED.finditer(page)}


def quote(page: str, tables: dict[str, str]) -> str:
    """A page with the tables that it quotes as they are now.

    Args:
        page: its text.
        tables: by name; a table that is not among them stays as it is.
    """

    def replaced(match: re.Match[str]) -> str:
        return marked(match["name"], tables.get(match["name"], match["table"]))

    return _MARKED.sub(replaced, page)
