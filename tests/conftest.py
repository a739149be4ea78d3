"""What all tests share: hypothesis profiles, the makers of sessions, and where tests that need more time ask for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

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
