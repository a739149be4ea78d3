"""Stores of the packing tests, and children that are killed while they pack."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

CHILD = Path(__file__).with_name("child.py")


@pytest.fixture
def db() -> Iterator[Path]:
    """The path of a store that does not exist yet, in memory where there is such a place."""
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="ypress-", dir=place, ignore_cleanup_errors=True) as name:
        yield Path(name).resolve() / "store.db"


def start(*arguments: object) -> subprocess.Popen[str]:
    """A child process running `child.py`."""
    command = [sys.executable, str(CHILD), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
