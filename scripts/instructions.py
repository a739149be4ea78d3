"""Count instructions and compare: see ``scripts/instructions.sh``, which builds the program that is counted."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BASELINE = Path(__file__).resolve().parent.parent / "benches" / "instructions.json"
GROWTH = 1.10


def first_line(*command: str) -> str:
    """What a program says of its version."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[0]


def tools() -> dict[str, str]:
    """What the counts depend on beside our code."""
    return {
        "rustc": first_line("rustc", "--version").split(" (")[0],
        "cc": first_line(os.environ.get("CC", "cc"), "--version"),
        "libc": " ".join(platform.libc_ver()),
        "valgrind": first_line("valgrind", "--version"),
    }


def count(binary: str, case: str) -> int:
    """The instructions of one case.

    Callgrind counts only inside of ``ypress_measured``. The processor that valgrind shows to a program is always the
    same one if the real one has AVX2, so what zstd and XXH3 choose by it does not vary. The C library's choice is fixed
    to the plainest: with string instructions, each byte would count as one.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = ["valgrind", "--tool=callgrind", "--toggle-collect=ypress_measured", f"--callgrind-out-file={out}"]
        environment = os.environ | {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-ERMS"}
        done = subprocess.run([*command, binary, case], capture_output=True, text=True, check=False, env=environment)
        if done.returncode:
            sys.exit(f"error: {case}: {done.stderr}")
        found = re.search(r"^(?:totals|summary): (\d+)", out.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None or int(found[1]) == 0:
        sys.exit(f"error: {case}: nothing was counted")
    return int(found[1])


def compare(counts: dict[str, int], known: dict[str, int]) -> list[str]:
    """Print each case beside what is known of it; return those that fail."""
    failed = []
    for case, instructions in counts.items():
        before = known.get(case)
        ratio = instructions / before if before else None
        bad = ratio is None or ratio > GROWTH
        failed += [case] if bad else []
        change = "not in the baseline" if ratio is None else f"{100 * (ratio - 1):+6.1f} %"
        print(f"{case:40} {instructions:12,}  {change}{'  TOO MUCH' if bad else ''}")
    return failed + [f"{case} (gone)" for case in known if case not in counts]


def main() -> None:
    """Count, and compare or update."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--update", action="store_true", help="write the counts as those to compare with")
    arguments = parser.parse_args()
    cases = subprocess.run([arguments.binary], capture_output=True, text=True, check=True).stdout.splitlines()
    counts = {case: count(arguments.binary, case) for case in cases}
    if arguments.update:
        BASELINE.write_text(json.dumps({"tools": tools(), "instructions": counts}, indent=2) + "\n", encoding="utf-8")
        return
    baseline = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else {}
    failed = compare(counts, baseline.get("instructions", {}))
    for tool, version in tools().items():
        if version != baseline.get("tools", {}).get(tool):
            print(f"note: {tool} is {version}; the baseline is of {baseline.get('tools', {}).get(tool)}")
    if failed:
        sys.exit(
            f"error: more instructions than before, or other cases: {'; '.join(failed)}. If that has to be, run"
            " scripts/instructions.sh --update and say why in the commit."
        )


if __name__ == "__main__":
    main()
