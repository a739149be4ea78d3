"""Notebooks that are typed cell by cell and run, with the outputs that notebooks have."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from random import Random

from jupyter_ydoc import YNotebook
from pycrdt import Map, Text

from .keystrokes import Typist
from .room import Room, Row
from .text import Writer

# The server keeps a JSON object in whatever order its hash table has in that run. So that the same seed gives the same
# bytes, an object of several keys is written as a nested map, which has an order.
Output = dict[str, object]


def _mime(**data: object) -> Map:
    return Map({kind.replace("_", "/"): content for kind, content in data.items()})


def _outputs(writer: Writer, rnd: Random, largest: int) -> list[Output]:
    """What a cell leaves when it is run; mostly little or nothing, sometimes a picture or a page of HTML."""
    size = int(10_000 * (largest / 10_000) ** (rnd.random() ** 2.5))
    kinds: list[tuple[int, Callable[[], list[Output]]]] = [
        (30, list),
        (22, lambda: [_stream("stdout", _printed(writer, rnd))]),
        (18, lambda: [_result("execute_result", text_plain=f"{rnd.gauss(0, 100):.6f}")]),
        (13, lambda: [_table(writer, rnd)]),
        (7, lambda: [_result("display_data", text_plain="<Figure with 1 Axes>", image_png=writer.image(size))]),
        (3, lambda: [_result("display_data", text_html=_plot(rnd, size))]),
        (3, lambda: [_error(writer)]),
        (4, lambda: [_stream("stderr", writer.warning()), _result("execute_result", text_plain=writer.number())]),
    ]
    return rnd.choices([make for _, make in kinds], [weight for weight, _ in kinds])[0]()


def _printed(writer: Writer, rnd: Random) -> str:
    return "".join(f"{writer.word()} {rnd.gauss(0, 10):.4f}\n" for _ in range(rnd.choice((1, 2, 3, 8, 40))))


def _plot(rnd: Random, size: int) -> str:
    points = "".join(f"[{i},{rnd.gauss(0, 1):.5f}]," for i in range(size // 14))
    return f"<div id='p'></div><script>plot('#p', [{points}])</script>"


def _table(writer: Writer, rnd: Random) -> Output:
    text, html = writer.table(rnd.choice((5, 5, 10, 10, 60)))
    return _result("execute_result", text_plain=text, text_html=html)


def _error(writer: Writer) -> Output:
    return {"output_type": "error", "ename": "ValueError", "evalue": writer.sentence(), "traceback": writer.traceback()}


def _stream(name: str, text: str) -> Output:
    return {"output_type": "stream", "name": name, "text": text}


def _result(kind: str, **data: object) -> Output:
    return {"output_type": kind, "data": data, "metadata": {}}


def _place(output: Output) -> Map:
    """The shared form of an output; made anew each time, as a shared value can be placed only once."""
    data = output.get("data")
    shared = dict(output)
    if isinstance(data, dict):
        shared["data"] = _mime(**data)
    if output["output_type"] == "stream":
        shared["text"] = Text(str(output["text"]))
    return Map(shared)


def _run(room: Room, document: YNotebook, index: int, outputs: list[Output], count: int) -> None:
    cell = document.ycells[index]
    with document.ydoc.transaction():
        if len(cell["outputs"]):
            cell["outputs"].clear()
        cell["execution_state"] = "running"
    room.wait(0.1)
    for output in outputs:
        cell["outputs"].append(_place(output))
        room.wait(0.3)
    with document.ydoc.transaction():
        cell["execution_count"] = float(count)
        cell["execution_state"] = "idle"
    room.wait(0.1)


def notebooks(
    seed: int = 1, documents: int = 4, cells: int = 60, runs: int = 2, largest_output: int = 1_000_000
) -> Iterator[Row]:
    """The rows of notebooks that were typed and run.

    Args:
        seed: another seed is another session.
        documents: how many notebooks; they follow each other in the rows.
        cells: how many cells each of them has (about 200 updates a cell).
        runs: how often all cells are run; a cell's output is the same each time, except every fourth.
        largest_output: bytes of the largest picture or page, at least 10,000.
    """
    for number in range(documents):
        rnd = Random(f"notebooks {seed} {number}")
        writer = Writer(rnd)
        room = Room("notebook", rnd)
        document = room.join(YNotebook)
        metadata = {"kernelspec": {"name": "python3"}}
        empty = {
            "cell_type": "code",
            "source": "",
            "metadata": {},
            "id": "empty",
            "outputs": [],
            "execution_count": None,
        }
        document.set({"cells": [empty], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
        room.wait(0.1)
        while len(document.ycells):
            del document.ycells[0]
        kinds = [rnd.random() < 0.7 for _ in range(cells)]
        for index, code in enumerate(kinds):
            new = {"cell_type": "code" if code else "markdown", "source": "", "metadata": {}}
            new["id"] = str(uuid.UUID(int=rnd.getrandbits(128), version=4))
            if code:
                new |= {"outputs": [], "execution_count": None}
            document.append_cell(new)
            room.wait(0.5)
            typist = Typist(room, rnd, document.ycells[index]["source"], writer)
            typist.type(writer.code() if code else writer.paragraph(), 0, mistakes=0.01)
        outputs = [_outputs(writer, rnd, largest_output) for _ in kinds]
        for run in range(runs):
            for index, code in enumerate(kinds):
                if code:
                    if run and rnd.random() < 0.25:
                        outputs[index] = _outputs(writer, rnd, largest_output)
                    _run(room, document, index, outputs[index], run * cells + index + 1)
        yield from room.rows
