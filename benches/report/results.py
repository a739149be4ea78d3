"""What the benches found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Results:
    """The results of the benches, by name; a bench that was not run is missing.

    Args:
        found: what each bench wrote.
    """

    def __init__(self, found: dict[str, dict[str, Any]]) -> None:
        self._found = found

    @classmethod
    def read(cls, folder: Path) -> Results:
        """The results in a folder: the file ``rows.json`` has those of ``rows``."""
        return cls({file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))})

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def __getitem__(self, name: str) -> Any:
        """The figures of one bench."""
        return self._found[name]["results"]

    def command(self, name: str) -> str:
        """What was run."""
        return str(self._found[name]["command"])

    @property
    def quick(self) -> bool:
        """Whether any of it is a first look only."""
        return any(one["quick"] for one in self._found.values())

    def facts(self, kind: str) -> dict[str, str]:
        """The ``machine`` or the ``versions``; those of the benches that were run later count."""
        merged: dict[str, str] = {}
        for one in self._found.values():
            merged |= one[kind]
        return merged

    def row(self, values: str, codec: str, name: str) -> dict[str, Any]:
        """One entry of the rows bench.

        Raises:
            KeyError: there is no such entry.
        """
        for row in self["rows"]["rows"]:
            if (row["values"], row["codec"], row["name"]) == (values, codec, name):
                return dict(row)
        raise KeyError(f"{name} on {values}")
