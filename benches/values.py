"""The values of the row benches: updates of typing, states of notebooks, and a stream as a store sees it."""

from __future__ import annotations

import random
from typing import Any

from pycrdt import Array, Doc, Map, Text

import sessions

WORDS = "the of and to in is for on that with import numpy print return def class self data frame plot value".split()  # noqa: SIM905


def keystrokes(count: int, seed: int = 1) -> list[bytes]:
    """Updates of somebody typing: about 26 to 40 bytes each."""
    numbers = random.Random(seed)
    doc: Doc[Any] = Doc(client_id=numbers.getrandbits(53) | 1 << 52)
    doc["source"] = text = Text()
    updates: list[bytes] = []
    doc.observe(lambda event: updates.append(event.update))
    while len(updates) < count:
        for letter in numbers.choice(WORDS) + " ":
            text.insert(len(text), letter)
    return updates[:count]


def notebook(size: int, seed: int = 1) -> bytes:
    """The state of a notebook with outputs, of about this many bytes."""
    numbers = random.Random(seed)
    doc: Doc[Any] = Doc(client_id=numbers.randrange(1 << 31))
    doc["cells"] = cells = Array()
    written = 0
    while written < size:
        lines = [
            f"x{numbers.randrange(50)} = {numbers.choice(WORDS)}({numbers.randrange(1000)}, '{numbers.choice(WORDS)}')"
            for _ in range(8)
        ]
        table = "\n".join(f"{row:4} {numbers.random():.6f} {numbers.choice(WORDS)}" for row in range(30))
        output = Map({"output_type": "stream", "name": "stdout", "text": table})
        cell = {"id": f"{numbers.getrandbits(32):08x}", "cell_type": "code", "source": Text("\n".join(lines))}
        cells.append(Map({**cell, "outputs": Array([output]), "metadata": Map({})}))
        written += len(table) + sum(map(len, lines)) + 150
    return doc.get_update()


def mixed() -> list[bytes]:
    """A tenth of the updates of a notebook that is typed and run, and some of a print loop."""
    rows = [*sessions.notebooks(1, documents=1, cells=60, largest_output=100_000)][::10]
    rows += [*sessions.streams(1, prints=150, saves=2, lines=80)][::20]
    return [row[1] for row in rows]


def value_sets() -> dict[str, list[bytes]]:
    """The values by size; the last set is a stream as a store sees it."""
    return {
        "below 64 B": [update for update in keystrokes(1200) if len(update) < 64],
        "64 B to 1 KB": [notebook(200, seed)[: 80 + 19 * seed] for seed in range(48)],
        "17 KB": [notebook(16_000, seed) for seed in range(6)],
        "1 MB": [notebook(1_000_000)],
        "mixed stream": mixed(),
    }
