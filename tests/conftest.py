"""What all tests share: hypothesis profiles, the makers of sessions, and where tests that need more time ask for it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
LONG = os.environ.get("YPRESS_LONG") == "1"

# The generators of sessions belong to the benches and are not installed.
sys.path.append(str(ROOT / "benches"))

settings.register_profile("default", max_examples=60, deadline=None, derandomize=True, print_blob=True)
settings.register_profile(
    "long", max_examples=5000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("long" if LONG else "default")


@pytest.fixture(scope="session")
def long_rounds() -> bool:
    """Whether this is a long run (YPRESS_LONG=1): more rounds of what goes by chance."""
    return LONG


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Async tests run under both event loops."""
    return str(request.param)


@pytest.fixture(scope="session")
def yjs_folder() -> Path:
    """The folder of the scripts that run real Yjs, with Yjs installed."""
    folder = ROOT / "tests" / "yjs"
    if shutil.which("node") is None:
        pytest.skip("real Yjs needs node")
    if not (folder / "node_modules" / "yjs").exists():
        npm = shutil.which("npm")
        assert npm is not None, "run `npm ci` in tests/yjs"
        subprocess.run([npm, "ci", "--silent"], cwd=folder, check=True)
    return folder


@pytest.fixture
def yjs(yjs_folder: Path) -> Callable[..., dict[str, Any]]:
    """What real Yjs makes of a history: see ``tests/yjs/check_history.mjs`` for the answer's fields."""

    def check(history: Iterable[bytes], **roots: str) -> dict[str, Any]:
        request = {"updates": [base64.b64encode(update).decode() for update in history], "roots": roots}
        done = subprocess.run(
            ["node", "check_history.mjs"],
            cwd=yjs_folder,
            input=json.dumps(request) + "\n",
            check=True,
            capture_output=True,
            text=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return check
