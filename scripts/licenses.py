"""Write ``THIRD_PARTY_LICENSES``: whose code is compiled into the wheel, and on which terms.

``python scripts/licenses.py`` writes the file, ``--check`` fails where it is not up to date; both do for a licence that
``deny.toml`` does not allow. Cargo tells what is compiled in; it asks the network only for what it has not got yet.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "THIRD_PARTY_LICENSES"
# The C libraries that crates bring along: name, licence, and where the text lies in the crate. Of brotli it is left out
# there and kept here.
BUNDLED = {
    "zstd-sys": ("libzstd (zstd)", "BSD-3-Clause", "zstd/LICENSE"),
    "lz4-sys": ("liblz4 (LZ4)", "BSD-2-Clause", "liblz4/lib/LICENSE"),
    "compu-brotli-sys": ("libbrotli (brotli)", "MIT", ROOT / "scripts" / "licenses" / "brotli.txt"),
}
# Crates that are published without their licence's text: the one of the same authors that has it.
SAME_AS = {"alloc-stdlib": "alloc-no-stdlib"}
HEADER = """\
ypress itself is under the BSD-3-Clause licence: see LICENSE.

Its binary module holds the following, too. Where a licence can be chosen, it is the first one of the text given.
It also holds parts of the standard library of Rust, which is under MIT or Apache-2.0
(https://www.rust-lang.org/policies/licenses).
"""


def allows(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression can be met with these licences; a slash is the old way to say OR."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def alternatives() -> bool:
        met = all_of()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met = all_of() or met
        return met

    def all_of() -> bool:
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met = one() and met
        return met

    def one() -> bool:
        token = tokens.pop(0) if tokens else ""
        if token != "(":
            return token in allowed
        met = alternatives()
        tokens.pop(0)
        return met

    return alternatives()


def compiled_in() -> list[dict[str, Any]]:
    """The packages whose code is in the binary module; what only helps to build it is not."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--features", "python"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    metadata = json.loads(done.stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = metadata["resolve"]["root"]
    found, waiting = set(), [root]
    while waiting:
        one = waiting.pop()
        if one in found or any("proc-macro" in target["kind"] for target in packages[one]["targets"]):
            continue
        found.add(one)
        for dependency in nodes[one]["deps"]:
            # No kind is an ordinary dependency; the others are for building and for tests.
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    return sorted((packages[one] for one in found - {root}), key=lambda package: str(package["name"]))


def texts(folder: Path) -> list[Path]:
    """The texts of a crate's licence: of several to choose from, MIT."""
    files = sorted(path for path in folder.iterdir() if re.match(r"(?i)licen[cs]e|copying", path.name))
    mit = [path for path in files if "MIT" in path.name]
    return mit if mit else files


def document() -> str:
    """What the file should hold."""
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))["licenses"]["allow"])
    packages = compiled_in()
    folders = {package["name"]: Path(package["manifest_path"]).parent for package in packages}
    parts: list[tuple[str, str, list[Path]]] = []
    for package in packages:
        name, licence = package["name"], package["license"] or ""
        parts.append((f"{name} {package['version']}", licence, texts(folders[SAME_AS.get(name, name)])))
        if name in BUNDLED:
            library, of_library, text = BUNDLED[name]
            parts.append((f"{library}, as it comes with {name}", of_library, [folders[name] / text]))
    refused = [f"{name}: {licence or 'none'}" for name, licence, _ in parts if not allows(licence, allowed)]
    if refused:
        sys.exit(f"error: licences that deny.toml does not allow: {'; '.join(refused)}")
    # One text stands for all that share it.
    by_text: dict[str, list[str]] = {}
    for name, licence, files in parts:
        if not files:
            sys.exit(f"error: {name} comes without a licence's text")
        lines = [line.rstrip() for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        by_text.setdefault("\n".join(lines).strip(), []).append(f"{name} ({licence})")
    line = "=" * 80
    return HEADER + "".join(f"\n{line}\n{chr(10).join(names)}\n{line}\n\n{text}\n" for text, names in by_text.items())


def main() -> None:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    if parser.parse_args().check:
        if not OUTPUT.exists() or OUTPUT.read_text(encoding="utf-8") != document():
            sys.exit("error: THIRD_PARTY_LICENSES is not up to date; run python scripts/licenses.py")
    else:
        OUTPUT.write_text(document(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
