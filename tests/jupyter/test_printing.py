"""Cells that print, run by a real kernel: what makes a store grow."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from typing import Any

import pytest
import stored
import websockets
from pycrdt import Map, Text
from server import OURS, STOCK, Server, Site, wait_for

# Minutes of real time: left to continuous integration and to long runs.
pytestmark = pytest.mark.skipif(
    not (os.environ.get("CI") or os.environ.get("YPRESS_LONG")), reason="takes minutes; set YPRESS_LONG=1 (make long)"
)


async def _execute(server: Server, document: Any, code: str) -> int:
    """Run the first cell in a kernel, and add its output as JupyterLab does; returns the number of messages."""
    cell = document.ycells[0]
    with document.ydoc.transaction():
        cell["source"].clear()
        cell["source"] += code
    kernel = server.request("POST", "/api/kernels", {"name": "python3"})
    url = f"ws://127.0.0.1:{server.port}/api/kernels/{kernel['id']}/channels?token={server.token}"
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": "", "session": uuid.uuid4().hex}
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    request = {"channel": "shell", "header": header | {"version": "5.3"}, "parent_header": {}, "metadata": {}}
    count = 0
    text: Text | None = None
    async with websockets.connect(url, max_size=None, open_timeout=60) as socket:
        await socket.send(json.dumps(request | {"content": content, "buffers": []}))
        while True:
            message = json.loads(await asyncio.wait_for(socket.recv(), 120))
            if message["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            kind, said = message["header"]["msg_type"], message["content"]
            assert kind != "error", said
            if kind == "stream":
                count += 1
                if text is None:
                    text = Text(said["text"])
                    cell["outputs"].append(Map({"output_type": "stream", "name": said["name"], "text": text}))
                else:
                    text += said["text"]
            elif kind == "status" and said["execution_state"] == "idle":
                break
    server.request("DELETE", f"/api/kernels/{kernel['id']}")
    return count


async def _settled(site: Site) -> None:
    """Until nothing is added for a while: the stock class loses what is still to be written when the room closes."""
    rows, since = -1, 0
    while since < 5:
        await asyncio.sleep(1)
        now = stored.count(site.store, "SELECT count(*) FROM yupdates") if site.store.exists() else 0
        rows, since = (now, since + 1) if now == rows else (now, 0)


def _size_after(site: Site, options: dict[str, object], code: str) -> tuple[int, int]:
    """The size of a fresh store after a cell was run and the notebook closed, and the number of messages."""
    site.store.unlink(missing_ok=True)
    site.configure(**options)
    path = site.notebook("printing.ipynb", "")

    async def session(server: Server) -> int:
        async with server.open(path) as document:
            count = await _execute(server, document, code)
            await _settled(site)
            return count

    with site.server() as server:
        count = asyncio.run(session(server))
        server.wait_closed()
        if options["ystore_class"] == OURS:
            # Packing is a matter of milliseconds from here on; nothing is waiting when it is done.
            wait_for(lambda: server.metrics()["ypress_queued_updates"] == 0, "everything is stored")
            asyncio.run(asyncio.sleep(1))
        return site.store.stat().st_size, count


@pytest.mark.timeout(900)
def test_a_loop_that_prints(bare: Site, long_rounds: bool) -> None:
    seconds = 60 if long_rounds else 20  # below that, a file of a few pages is all there is
    code = (
        "import time\nend = time.monotonic() + " + str(seconds) + "\ni = 0\n"
        "while time.monotonic() < end:\n    print(i, flush=True)\n    time.sleep(0.005)\n    i += 1\n"
    )
    stock, messages = _size_after(bare, {"ystore_class": STOCK}, code)
    ours, as_many = _size_after(bare, {"ystore_class": OURS, "compression": "zstd"}, code)
    print(f"{seconds} s of printing: {messages} and {as_many} messages, stock {stock} bytes, ypress {ours} bytes")
    assert min(messages, as_many) > 20 * seconds
    assert ours * 5 <= stock


@pytest.mark.timeout(900)
def test_a_burst_of_prints(bare: Site) -> None:
    """The kernel joins them into few messages; then there is little to save, and nothing to add."""
    code = "for i in range(20_000): print(i)"
    stock, _ = _size_after(bare, {"ystore_class": STOCK}, code)
    ours, _ = _size_after(bare, {"ystore_class": OURS, "compression": "zstd"}, code)
    print(f"a burst: stock {stock} bytes, ypress {ours} bytes")
    assert ours <= stock + 16 * 1024
