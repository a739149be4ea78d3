"""Where the stores of these tests lie."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: these tests commit often."""
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="ypress-", dir=place, ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


@pytest.fixture
def db(folder: Path) -> Path:
    """The path of a store that does not exist yet."""
    return folder / "store.db"
