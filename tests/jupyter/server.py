"""A real Jupyter server in a process of its own, and clients that edit its documents over WebSockets."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import websockets
from jupyter_ydoc import YNotebook, YUnicode
from pycrdt import Channel, Doc, Provider

T = TypeVar("T")

STOCK = "jupyter_server_ydoc.stores.SQLiteYStore"
OURS = "ypress.jupyter.SQLiteYStore"


class Site:
    """A folder with documents and its own Jupyter configuration, in which servers are started one after another.

    Args:
        folder: an empty one.
        lab: whether JupyterLab itself is needed; without it, the server starts faster.
    """

    def __init__(self, folder: Path, *, lab: bool = False) -> None:
        self.folder = folder
        self.root = folder / "work"
        self.config = folder / "config"
        self.log = folder / "server.log"
        self.root.mkdir()
        self.config.mkdir()
        (folder / "data").mkdir()
        self.environment = {
            **os.environ,
            "HOME": str(folder),
            "JUPYTER_CONFIG_DIR": str(self.config),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "IPYTHONDIR": str(folder / "ipython"),
            "JUPYTER_PREFER_ENV_PATH": "0",
        }
        if not lab:
            unneeded = dict.fromkeys(("jupyterlab", "jupyter_lsp", "jupyter_server_terminals", "notebook_shim"), False)
            self._set_extensions("unneeded", unneeded)

    @property
    def store(self) -> Path:
        """The file with the history."""
        return self.root / ".jupyter_ystore.db"

    def text(self, name: str, content: str = "") -> str:
        """Make a text file; returns its path for the server."""
        (self.root / name).write_text(content, newline="\n")
        return name

    def notebook(self, name: str, *sources: str) -> str:
        """Make a notebook with these code cells; returns its path for the server."""
        cells = [
            {
                "cell_type": "code",
                "id": f"cell-{i}",
                "source": s,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for i, s in enumerate(sources)
        ]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
        content = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
        (self.root / name).write_text(json.dumps(content), newline="\n")
        return name

    async def saved(self, path: str, words: str) -> None:
        """Wait until a document has been saved with these words in it."""

        def has_them() -> bool:
            file = self.root / path
            return file.exists() and words in file.read_text()

        await eventually(has_them, f"{path} is saved with {words!r}")

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a Python module's command line in the folder, with this site's configuration."""
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def configure(self, **options: object) -> None:
        """Write the server's configuration: `ystore_class`, and options of the store."""
        config: dict[str, dict[str, object]] = {"SQLiteYStore": options}
        if "ystore_class" in options:
            config["YDocExtension"] = {"ystore_class": options.pop("ystore_class")}
            self._set_extensions("ypress.jupyter", {"ypress.jupyter": config["YDocExtension"]["ystore_class"] == OURS})
        (self.config / "jupyter_server_config.json").write_text(json.dumps(config))

    def _set_extensions(self, name: str, enabled: dict[str, bool]) -> None:
        folder = self.config / "jupyter_server_config.d"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps({"ServerApp": {"jpserver_extensions": enabled}}))

    @contextmanager
    def server(self, *arguments: str, cleanup_delay: float = 1.0, save_delay: float = 0.2) -> Iterator[Server]:
        """A running server; it is told to stop at the end if it still runs.

        Args:
            arguments: more of the command line.
            cleanup_delay: seconds after which a document without clients is closed.
            save_delay: seconds after which an edited document is saved to its file.
        """
        delays = {"document_cleanup_delay": cleanup_delay, "document_save_delay": save_delay}
        server = Server(self, [*(f"--YDocExtension.{name}={delay}" for name, delay in delays.items()), *arguments])
        try:
            server.wait_ready()
            yield server
        finally:
            server.stop()


class Server:
    """A running server."""

    def __init__(self, site: Site, arguments: list[str]) -> None:
        self.site = site
        self.token = secrets.token_hex(16)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._log_begin = site.log.stat().st_size if site.log.exists() else 0
        with site.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "jupyter_server", "--no-browser", "--ServerApp.ip=127.0.0.1"),
                    *(
                        f"--ServerApp.port={self.port}",
                        "--ServerApp.port_retries=0",
                        f"--IdentityProvider.token={self.token}",
                    ),
                    *("--allow-root", "--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={site.root}"),
                    "--YDocExtension.file_poll_interval=0.2",
                    *arguments,
                ],
                cwd=site.root,
                env=site.environment,
                stdout=log,
                stderr=log,
            )

    @property
    def log(self) -> str:
        """What this server has logged so far."""
        with self.site.log.open("rb") as log:
            log.seek(self._log_begin)
            return log.read().decode(errors="replace")

    def wait_ready(self) -> None:
        """Wait until it answers."""

        def answers() -> bool:
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended at its start:\n{self.log}")
            try:
                self.get("/api/status")
            except (urllib.error.URLError, ConnectionError):
                return False
            return True

        wait_for(answers, "the server answers", 100)

    def wait_logged(self, text: str, times: int = 1) -> None:
        """Wait until it has logged this."""
        wait_for(lambda: self.log.count(text) >= times, f"{text!r} in the log", log=lambda: self.log)

    def wait_closed(self, times: int = 1) -> None:
        """Wait until it has closed so many documents, and their stores have written what they were handed."""
        closed = re.compile(r"Room \S+ deleted")
        what = f"{times} documents closed"
        wait_for(lambda: len(closed.findall(self.log)) >= times, what, log=lambda: self.log)
        # A room that is closed does not wait for its store; the stock class does not tell how much it has left.
        wait_for(lambda: not self.metrics().get("ypress_queued_updates"), "all is on disk")

    def kill(self) -> None:
        """End it without warning."""
        self.process.kill()
        self.process.wait(60)

    def terminate(self) -> None:
        """Ask it to end, and do not wait long: real ones sometimes hang at their very end."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.kill()

    def stop(self) -> None:
        """End it if it still runs."""
        if self.process.poll() is None:
            self.terminate()

    def request(self, method: str, path: str, body: object = None) -> Any:
        """A request to its REST API; returns the parsed answer, or its text."""
        request = urllib.request.Request(
            self.url + urllib.parse.quote(path, safe="/?&=:%"),
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read().decode()
            return json.loads(text) if text.startswith(("{", "[")) else text

    def get(self, path: str) -> Any:
        """A GET request."""
        return self.request("GET", path)

    def metrics(self) -> dict[str, float]:
        """What it says on ``/metrics`` about ypress."""
        lines = [line.split() for line in self.get("/metrics").splitlines() if line.startswith("ypress_")]
        return {name: float(value) for name, value in lines}

    def session(self, path: str) -> dict[str, str]:
        """Ask for a document's session; ``fileId`` is in the answer."""
        format, kind = ("json", "notebook") if path.endswith(".ipynb") else ("text", "file")
        answer: dict[str, str] = self.request(
            "PUT", f"/api/collaboration/session/{path}", {"format": format, "type": kind}
        )
        return answer

    def timeline(self, path: str) -> dict[str, Any]:
        """A document's timeline; the document has to be open."""
        format, kind = ("json", "notebook") if path.endswith(".ipynb") else ("text", "file")
        answer: dict[str, Any] = self.get(f"/api/collaboration/timeline/{path}?format={format}&type={kind}")
        return answer

    @asynccontextmanager
    async def open(self, path: str, *, document: YNotebook | YUnicode | None = None) -> AsyncIterator[Any]:
        """A client that has a document open: yields the shared document once it is in sync.

        Args:
            path: of the notebook or text file.
            document: of an earlier connection, to connect it again.
        """
        session = self.session(path)
        room = f"{session['format']}:{session['type']}:{session['fileId']}"
        async with self.join(room, session["sessionId"], document) as shared:
            yield shared

    @asynccontextmanager
    async def join(self, room: str, session: str, document: YNotebook | YUnicode | None = None) -> AsyncIterator[Any]:
        """A client of a room: yields the shared document once it is in sync."""
        shared = document or (YNotebook(Doc()) if room.startswith("json") else YUnicode(Doc()))
        url = f"ws://127.0.0.1:{self.port}/api/collaboration/room/{room}?sessionId={session}&token={self.token}"
        async with websockets.connect(url, max_size=None, open_timeout=60, ping_interval=None) as socket:
            provider = Provider(shared.ydoc, _Socket(socket, room))
            task = asyncio.create_task(provider.start())
            synced = getattr(provider, "synced", None)  # older ones do not tell
            await (asyncio.sleep(2) if synced is None else asyncio.wait_for(synced.wait(), 90))
            try:
                yield shared
            finally:
                task.cancel()
                await asyncio.wait([task])
                if not task.cancelled():
                    task.exception()  # that the server was killed is known


class _Socket(Channel):
    """A WebSocket as pycrdt's provider wants it."""

    def __init__(self, socket: Any, path: str) -> None:
        self._socket = socket
        self._path = path

    @property
    def path(self) -> str:
        return self._path

    async def __anext__(self) -> bytes:
        return await self.recv()

    async def send(self, message: bytes) -> None:
        await self._socket.send(message)

    async def recv(self) -> bytes:
        try:
            message = await self._socket.recv()
        except websockets.ConnectionClosed:
            raise StopAsyncIteration from None
        return message if isinstance(message, bytes) else message.encode()


def wait_for(
    condition: Callable[[], object], what: str, seconds: float = 90, log: Callable[[], str] | None = None
) -> None:
    """Wait until a condition holds; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}\n{log()[-6000:] if log else ''}")
        time.sleep(0.05)


async def eventually(condition: Callable[[], object], what: str, seconds: float = 90) -> None:
    """As `wait_for`, with the event loop running."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        await asyncio.sleep(0.02)


async def steady(read: Callable[[], T]) -> T:
    """What something is once it has not changed for a second."""
    value = read()
    while True:
        await asyncio.sleep(1)
        now = read()
        if now == value:
            return value
        value = now
