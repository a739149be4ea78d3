"""Runs the command line in a terminal of its own. POSIX alone has such terminals."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[[0-9;]*\b(3[0-8]|9[0-7]|4[0-8])\b[0-9;]*m")


def in_terminal(folder: Path, *arguments: object, columns: int = 80, **environment: str) -> str:
    """Everything that a command prints into a terminal, with the control sequences; it must succeed.

    Args:
        folder: where it runs.
        arguments: of the command line.
        columns: of the terminal.
        environment: more of it; an empty value takes a variable away.
    """
    pty = pytest.importorskip("pty")
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    known = {**os.environ, "JUPYTER_NO_CONFIG": "1", "TERM": "xterm-256color"}
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
        known.pop(name, None)
    known.update(environment)
    command = [sys.executable, "-m", "ypress.cli", *map(str, arguments)]
    output = b""
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=known, cwd=folder) as process:
        os.close(theirs)
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # that is how the end looks on Linux
                break
            if not part:
                break
            output += part
        assert process.wait() == 0, output
    os.close(ours)
    return output.decode()


def lines(output: str) -> list[str]:
    """The lines that were on the screen at some time, without control sequences."""
    return [line.rstrip() for line in re.split(r"[\r\n]+", ESCAPE.sub("", output))]
