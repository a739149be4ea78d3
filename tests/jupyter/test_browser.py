"""JupyterLab in a real browser: `make test-browser`. Screenshots are kept in ``artefacts/``.

Runs where playwright is installed and YPRESS_CHROMIUM names a Chromium, or one is on the path.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import stored
from server import OURS, Server, Site, wait_for

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("YPRESS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARTEFACTS = Path(__file__).resolve().parent.parent.parent / "artefacts"
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
# What the page's own Yjs holds back of the document in front.
PENDING = "window.jupyterapp.shell.currentWidget.context.model.sharedModel.ydoc.store.pendingStructs"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(420),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; YPRESS_CHROMIUM may name one"),
    pytest.mark.skipif(os.environ.get("YPRESS_BROWSER") != "1", reason="make test-browser runs these"),
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def lab(tmp_path: Path) -> Site:
    site = Site(tmp_path, lab=True)
    site.configure(ystore_class=OURS, compression="zstd", pack_every=100)
    return site


@contextmanager
def running(lab: Site) -> Iterator[Server]:
    with lab.server("--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None") as server:
        yield server


class Page:
    """A page with a document in JupyterLab."""

    def __init__(self, chromium: Any, server: Server, path: str, name: str) -> None:
        self.name = name
        self.context = chromium.new_context(viewport={"width": 1280, "height": 800})
        self.page = self.context.new_page()
        self.page.set_default_timeout(90_000)
        self.page.goto(f"{server.url}/lab/tree/{path}?token={server.token}&reset")
        self.page.wait_for_selector(".jp-Notebook .cm-content, .jp-FileEditor .cm-content")

    def __enter__(self) -> Page:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.picture("end" if kind is None else "failed")
        self.context.close()

    def picture(self, what: str) -> None:
        """Keep a picture of the page."""
        ARTEFACTS.mkdir(exist_ok=True)
        self.page.screenshot(path=ARTEFACTS / f"{self.name}-{what}.png")

    def cells(self) -> list[str]:
        """The sources of the cells, as the page shows them."""
        found: list[str] = self.page.locator(".jp-Notebook .jp-Cell .cm-content").all_inner_texts()
        return [text.replace("\xa0", " ").strip() for text in found]

    def outputs(self) -> list[str]:
        """The outputs of the cells, as the page shows them."""
        found: list[str] = self.page.locator(".jp-Notebook .jp-OutputArea-output pre").all_inner_texts()
        return [text.strip() for text in found]

    def text(self) -> str:
        """The text of a file, as the page shows it."""
        found: str = self.page.locator(".jp-FileEditor .cm-content").inner_text()
        return found.strip()

    def type(self, selector: str, text: str, delay: float = 20) -> None:
        """Type at the end of an editor, so many milliseconds a key."""
        self.page.locator(selector).first.click()
        self.page.keyboard.press("Control+End")
        self.page.keyboard.type(text, delay=delay)

    def wait(self, condition: Callable[[], object], what: str) -> None:
        """Wait until something shows."""

        def holds() -> object:
            self.page.wait_for_timeout(100)
            return condition()

        wait_for(holds, what, 60)


def test_a_notebook(chromium: Any, lab: Site, yjs: Callable[..., dict[str, Any]]) -> None:
    """Typed into, run, seen by a second page, there once after a restart, and stepped back in its timeline."""
    path = lab.notebook("notebook.ipynb", "")
    source = "print(6 * 7)"
    with running(lab) as server:
        with Page(chromium, server, path, "first") as one, Page(chromium, server, path, "second") as two:
            one.type(".jp-Notebook .cm-content", source)
            two.wait(lambda: two.cells() == [source], "the second page shows what was typed")
            one.page.wait_for_selector("text=Python 3 (ipykernel)")
            one.page.keyboard.press("Shift+Enter")
            one.wait(lambda: one.outputs() == ["42"], "the output")
            two.wait(lambda: two.outputs() == ["42"], "the output in the second page")
            assert two.cells()[0] == source
            # Something later, for the timeline.
            two.page.wait_for_timeout(1000)
            two.type(".jp-Notebook .cm-content", "  # the answer")
            one.wait(lambda: one.cells()[0] == f"{source}  # the answer", "the first page shows it")
            one.page.wait_for_timeout(1500)  # until it is saved
            cells = one.cells()
        key = stored.key(server.session(path))
        server.wait_closed()
    before = stored.history(lab.store, key)

    with running(lab) as server, Page(chromium, server, path, "restarted") as page:
        page.wait(lambda: page.outputs() == ["42"], "the output, from the store")
        server.wait_logged("loaded from the ystore SQLiteYStore")
        assert page.cells() == cells
        assert page.page.evaluate(PENDING) is None
        page.picture("reopened")
        page.page.get_by_title("Document Timeline").click()
        slider = page.page.locator(".jp-Slider input, .jp-timestampSlider, input[type=range]").first
        slider.wait_for()
        last = int(slider.get_attribute("max") or 0)
        assert last >= 1
        page.picture("timeline")
        slider.focus()
        page.page.keyboard.press("Home")
        page.wait(lambda: page.cells() == [""], "the first state")
        page.picture("first-state")
    assert stored.history(lab.store, key)[: len(before)] == before


def test_three_sessions(chromium: Any, lab: Site) -> None:
    """In the third, the page shows all that was typed, and its Yjs holds nothing back."""
    path = lab.text("sessions.txt")
    wanted = ""
    for number, word in enumerate(("one, ", "two, ", "three."), 1):
        with running(lab) as server:
            with Page(chromium, server, path, f"session-{number}") as page:
                page.wait(lambda wanted=wanted: page.text() == wanted.strip(), f"all that was typed before: {wanted}")
                page.type(".jp-FileEditor .cm-content", word, delay=60)
                wanted += word
                page.wait(lambda wanted=wanted: page.text() == wanted.strip(), "what was typed")
                assert page.page.evaluate(PENDING) is None
                page.page.wait_for_timeout(1500)  # until it is saved
            server.wait_closed()
            key = stored.key(server.session(path))
    assert stored.text(lab.store, key) == wanted


def test_typing_while_the_server_is_killed(chromium: Any, lab: Site) -> None:
    """The store has what reached it; when the server is back, the page and the server agree."""
    path = lab.text("killed.txt")
    with lab.server(save_delay=60, cleanup_delay=60) as server, Page(chromium, server, path, "killed") as page:
        page.type(".jp-FileEditor .cm-content", "0123456789" * 10, delay=15)
        wait_for(lambda: server.metrics()["ypress_updates_written_total"] >= 100, "the store has them")
        page.page.keyboard.type("abcdefghij" * 3, delay=15)
        server.kill()
        page.page.keyboard.type("klmnopqrst", delay=15)
    assert (lab.root / path).read_text() == ""  # it was never saved
    with running(lab) as server:
        key = stored.key(server.session(path))
    typed = stored.text(lab.store, key)
    assert typed.startswith("0123456789" * 10)
    assert ("0123456789" * 10 + "abcdefghij" * 3).startswith(typed)
