"""Tests with a real Jupyter server. They need jupyter-collaboration, and are left out where it is not installed."""

from __future__ import annotations

import importlib.util
from importlib.metadata import version
from pathlib import Path

import pytest

_OLD_PYCRDT = importlib.util.find_spec("pycrdt") is not None and version("pycrdt").startswith(("0.12.", "0.13."))
_NEEDED = ("jupyter_server_ydoc", "websockets", "ipykernel")
_MISSING = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
if _MISSING:
    collect_ignore_glob = ["test_*.py"]
else:
    from server import OURS, Site


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.jupyter)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(400))  # several servers, on a busy machine
            if _OLD_PYCRDT:
                # Its events complain where the garbage collector finds them in another thread than the client's.
                item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture
def bare(tmp_path: Path) -> Site:
    """A folder to run servers in, with nothing configured."""
    return Site(tmp_path)


@pytest.fixture
def site(bare: Site) -> Site:
    """A folder to run servers in, that store history with ypress and zstd."""
    bare.configure(ystore_class=OURS, compression="zstd")
    return bare
