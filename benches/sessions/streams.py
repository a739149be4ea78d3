"""What makes a store grow fastest: output that is replaced as a whole at every print, files that are saved whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from jupyter_ydoc import YNotebook, YUnicode
from pycrdt import Map

from .room import Room, Row
from .text import Writer


def _printing(rnd: Random, prints: int, shown: Callable[[str, int], str]) -> list[Row]:
    """A cell that prints. ``shown`` gives the whole output after one more print."""
    room = Room("notebook", rnd)
    document = room.join(YNotebook)
    cell = {"cell_type": "code", "source": "for step in run: print(step)", "metadata": {}, "id": "loop"}
    cell |= {"outputs": [], "execution_count": None}
    metadata = {"kernelspec": {"name": "python3"}}
    document.set({"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
    text = ""
    for i in range(prints):
        text = shown(text, i)
        outputs = document.ycells[0]["outputs"]
        with document.ydoc.transaction():
            outputs.clear()
            outputs.append(Map({"output_type": "stream", "name": "stdout", "text": text}))
        room.wait(0.05)
    return room.rows


def _resaved(rnd: Random, saves: int, lines: int) -> list[Row]:
    """A file that another program changes: its new content is set, then the whole state stored."""
    room = Room("text:file", rnd)
    document = room.join(YUnicode)
    writer = Writer(rnd)
    content = [writer.statement() for _ in range(lines)]
    for i in range(saves):
        content[rnd.randrange(lines)] += f"  # edit {i}"
        document.set("\n".join(content))
        room.wait(60)
        room.save_whole_state()
    return room.rows


def streams(seed: int = 1, prints: int = 1500, saves: int = 100, lines: int = 600) -> Iterator[Row]:
    """The rows of three print loops, a progress bar that overwrites itself, and two files that are saved whole.

    Args:
        seed: another seed is another session.
        prints: how often each loop prints; the bytes grow with its square.
        saves: how often each file is saved.
        lines: how long the files are.
    """
    noise = Random(f"streams {seed}")
    shown: list[Callable[[str, int], str]] = [
        lambda text, i: f"{text}{i}, ",
        lambda text, i: f"{text}Epoch {i // 50} step {i}: loss={noise.random():.5f}\n",
        lambda text, i: f"{text}\r{i / 15:.1f}%|{'#' * (i // 30)}",
        lambda text, i: (
            f"\r{100 * i // prints:3}%|{'#' * (40 * i // prints):<40}| {i}/{prints} [{noise.random():.2f}s]"
        ),
    ]
    for number, one in enumerate(shown):
        yield from _printing(Random(f"streams {seed} {number}"), prints, one)
    for number in range(2):
        yield from _resaved(Random(f"streams {seed} saved {number}"), saves, lines)
