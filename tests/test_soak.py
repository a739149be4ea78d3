"""The soak test itself, as far as it can be looked at in seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent / "long" / "soak.py"


def test_a_run_that_is_too_short_says_so() -> None:
    command = [sys.executable, "-P", str(SCRIPT), "--minutes", "0.02"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "all read back equal" in done.stdout
    assert done.stderr.startswith("error: too short to tell whether it grows")
    assert "--minutes" in done.stderr
