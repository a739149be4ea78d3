"""The check of instruction counts fails when it should."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "scripts"))

import instructions  # noqa: E402

KNOWN = {"pack": 1_000_000, "unpack": 500_000}


@pytest.mark.parametrize(
    ("counts", "failed"),
    [
        (KNOWN, []),
        ({"pack": 1_099_000, "unpack": 100}, []),
        ({"pack": 1_101_000, "unpack": 500_000}, ["pack"]),
        ({"pack": 1_000_000, "unpack": 500_000, "new": 5}, ["new"]),
        ({"pack": 1_000_000}, ["unpack (gone)"]),
    ],
)
def test_what_fails(counts: dict[str, int], failed: list[str]) -> None:
    assert instructions.compare(counts, KNOWN) == failed


def test_the_baseline_covers_rows_and_segments() -> None:
    counts = json.loads(instructions.BASELINE.read_text(encoding="utf-8"))["instructions"]
    for part in ("zstd", "lz4", "brotli", "pack", "unpack", "compress", "read"):
        assert any(part in case for case in counts), part
    assert min(counts.values()) > 0
