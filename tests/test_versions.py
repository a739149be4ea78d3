"""The wheel that is installed here is loaded by the other Pythons, too: one stable ABI from 3.11 on."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ypress

USE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import ypress
data = b"the same words in every version of Python " * 50
for codec, level in [("zstd", 3), ("lz4", None), ("brotli", 4)]:
    stored = ypress.compress(memoryview(data), codec, level)
    assert ypress.decompress(bytearray(stored)) == data and len(stored) < len(data)
    assert stored == bytes.fromhex(sys.argv[2]) or codec != "zstd"
try:
    ypress.decompress(b"\\x82\\0")
except ypress.CorruptData as error:
    assert error.offset == 2
else:
    raise AssertionError("not refused")
assert ypress.callbacks("lz4")[0](data) == ypress.compress(data, "lz4")
print(sys.version_info[1])
"""


def interpreter(minor: int) -> str | None:
    """A CPython of this minor version: on PATH, beside this one, or where pyenv or uv put theirs."""
    names = (f"python3.{minor}.exe", "python.exe") if os.name == "nt" else (f"python3.{minor}",)
    found = [shutil.which(name) for name in names]
    roots = [
        os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv",
        os.environ.get("UV_PYTHON_INSTALL_DIR") or Path.home() / ".local" / "share" / "uv" / "python",
    ]
    for root in roots:
        for name in names:
            found += glob.glob(f"{root}/versions/3.{minor}.*/bin/{name}") + glob.glob(
                f"{root}/cpython-3.{minor}.*/bin/{name}"
            )
    question = "import sys; print(sys.implementation.name, sys.version_info[1])"
    for path in filter(None, found):
        # A pyenv shim may stand for a version that is not there.
        done = subprocess.run([path, "-c", question], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.split() == ["cpython", str(minor)]:
            return path
    return None


@pytest.mark.parametrize("minor", [11, 12, 13, 14])
def test_another_python_loads_the_same_module(minor: int) -> None:
    python = sys.executable if sys.version_info[1] == minor else interpreter(minor)
    if python is None:
        pytest.skip(f"there is no Python 3.{minor} here")
    folder = Path(ypress.__file__).parent.parent
    frame = ypress.compress(b"the same words in every version of Python " * 50)
    # -S -E: nothing but the standard library and this package.
    command = [python, "-S", "-E", "-B", "-c", USE, str(folder), frame.hex()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(minor)
