"""The red team's notebook in chromium: nothing loads, nothing runs, and buttons say what they do.

See tests/red_team/red_team.ipynb, which says in each cell's metadata what must be shown.
"""

from __future__ import annotations

import json
import re
import shlex
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from playwright.sync_api import Browser, Dialog, Page, Route, expect

from tests.agents import scripted
from tests.support.lab import PATIENCE, Lab, Notebook, chromium

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

SOURCE = Path(__file__).parent / "red_team" / "red_team.ipynb"
BEACON = "http://beacon.invalid"
EVIL_NAME = '<img src=x onerror="window.__pwned=1"> ![x](BEACON/agent.png) \u202eevil'

# Tells of what comes into the page, however short a time it stays there.
WATCH = """
window.__seen = [];
const odd = "script,iframe,object,embed,form,base,meta,link,style,video,template,svg image";
new MutationObserver(changes => {
  for (const change of changes) for (const node of change.addedNodes) {
    if (node.nodeType !== 1 || !node.parentElement?.closest(".jp-OutputArea")) continue;
    for (const e of [node, ...node.querySelectorAll("*")])
      if (e.matches(odd) || (e.localName === "img" && !e.src.startsWith("data:image/")))
        window.__seen.push(e.outerHTML.slice(0, 200));
  }
}).observe(document, {childList: true, subtree: true});
"""

# Whatever stands in an output and is more than formatted text, our pictures and harmless links.
HARM = """
() => {
  const found = [];
  const rendered = ".jp-RenderedMarkdown, .jp-RenderedHTMLCommon, .widget-html-content";
  const odd = ["script", "iframe", "frame", "object", "embed", "form", "style", "link", "base",
               "meta", "video", "source", "template", "dialog", "textarea", "button", "select"];
  for (const e of document.querySelectorAll(rendered.replaceAll(/[^,]+/g, "$& *"))) {
    const say = why => found.push(`${why}: ${e.outerHTML.slice(0, 200)}`);
    const isMath = e.closest("mjx-container") !== null;
    if (odd.includes(e.localName)) say("element");
    if (e.localName === "img" && !/^data:image\\//.test(e.src)) say("image");
    const leads = e.href && !/^(https?|mailto):/.test(e.href);
    if (leads && (e.protocol !== location.protocol || /^file:/i.test(e.getAttribute("href"))))
      say("link");
    for (const a of e.attributes) {
      if (/^on|^srcdoc$|^formaction$|commandlinker/.test(a.name)) say("attribute");
      if (/url\\(/i.test(a.value) && a.name === "style") say("style");
    }
    const position = getComputedStyle(e).position;
    if (!isMath && ["fixed", "sticky", "absolute"].includes(position)) say(position);
  }
  return found;
}
"""


class Watched:
    """A page in which whatever leaves the allowed origin is noted, and goes nowhere.

    Args:
        page: a fresh one.
        origin: what it may load from.
    """

    def __init__(self, page: Page, origin: str) -> None:
        self.page, self._origin = page, origin
        self.left: list[str] = []
        self.events: list[str] = []
        page.add_init_script(WATCH)
        page.context.route("**/*", self._route)
        page.context.on("page", lambda _: self.events.append("a window was opened"))
        page.on("dialog", self._dismiss)
        page.on("pageerror", lambda error: self.events.append(str(error)))
        page.on("download", lambda _: self.events.append("a download was started"))

    def _route(self, route: Route) -> None:
        if route.request.url.startswith(self._origin):
            route.continue_()
        else:
            self.left.append(route.request.url)
            route.abort()

    def _dismiss(self, dialog: Dialog) -> None:
        self.events.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def check(self, may_load: tuple[str, ...] = ()) -> None:
        """Nothing has loaded or run, and there is nothing that would."""
        assert [url for url in self.left if urlsplit(url).hostname not in may_load] == []
        assert self.events == []
        assert self.page.evaluate("window.__pwned") is None
        assert self.page.evaluate("window.__seen") == []
        assert self.page.evaluate(HARM) == []


@contextmanager
def watching(browser: Browser, origin: str) -> Iterator[Watched]:
    """A fresh page that may load from one origin only."""
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    yield Watched(context.new_page(), origin)
    context.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def beacon() -> Iterator[tuple[str, list[str]]]:
    """A server that notes what is asked of it: its address, and that."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    scratch = tmp_path_factory.mktemp("red_team")
    (scratch / "notebooks").mkdir()
    with Lab(scratch / "notebooks", scratch, {"AGY_AGENT": "simulator"}) as lab:
        yield lab


def loaded(beacon: str, folder: Path) -> Any:
    """The notebook, with the beacon's address, and with an agent that has an evil name."""
    info = {"name": EVIL_NAME, "title": EVIL_NAME, "version": EVIL_NAME}
    script = [*scripted.hello(agentInfo=info), *scripted.new_session(), *scripted.turn("Hello.")]
    command = scripted.command(*json.loads(json.dumps(script).replace("BEACON", beacon)))
    agent = folder / "evil-agent"
    agent.write_text(f"#!/bin/sh\nexec {shlex.join(command)}\n")
    agent.chmod(0o700)
    notebook = nbformat.read(SOURCE, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace(BEACON, beacon).replace("EVIL_AGENT", str(agent))
    return notebook


def run_cell(notebook: Notebook, index: int, count: int, want: dict[str, Any]) -> None:
    """Run a cell, look at its question if it has one, and at what it shows."""
    output = notebook.run(index)
    if buttons := want.get("buttons"):
        shown = output.locator("button.jupyter-button")
        expect(shown).to_have_count(len(buttons), timeout=PATIENCE)
        for button, label in zip(shown.all(), buttons, strict=True):
            text = button.inner_text()
            assert text == label or text.startswith(label), (text, label)
            assert button.bounding_box() is not None
        check_shown(notebook, index, want)
        shown.last.click()
    notebook.expect_done(index, count)
    check_shown(notebook, index, {} if buttons else want)


def check_shown(notebook: Notebook, index: int, want: dict[str, Any]) -> None:
    for text in want.get("shows", ()):
        expect(notebook.output(index)).to_contain_text(text, timeout=PATIENCE)


def test_nothing_loads_runs_or_misleads_live_and_saved(
    browser: Browser, lab: Lab, beacon: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, asked = beacon
    made = loaded(address, tmp_path)
    nbformat.write(made, lab.root / "red_team.ipynb")
    check_live(browser, lab, made)
    assert asked == []
    check_reopened(browser, lab, made)
    assert asked == []
    check_export(browser, lab.root / "red_team.ipynb", tmp_path)
    assert asked == []


def check_live(browser: Browser, lab: Lab, made: Any) -> None:
    """Run every cell, answer every question, and save."""
    with watching(browser, lab.url) as watched:
        notebook = Notebook(watched.page, lab, "red_team.ipynb").open()
        for count, index in enumerate(code_cells(made), 1):
            run_cell(notebook, index, count, made.cells[index].metadata.get("red_team", {}))
            watched.check()
        notebook.save()


def check_reopened(browser: Browser, lab: Lab, made: Any) -> None:
    """The saved notebook, which is trusted, is as harmless."""
    with watching(browser, lab.url) as watched:
        notebook = Notebook(watched.page, lab, "red_team.ipynb").open()
        trust = watched.page.locator(".jp-StatusItem-trust")
        expect(trust).to_have_attribute("title", re.compile("Notebook trusted"), timeout=PATIENCE)
        for index in code_cells(made):
            notebook.cell(index).scroll_into_view_if_needed()
        watched.check()


def check_export(browser: Browser, saved: Path, folder: Path) -> None:
    """What nbconvert makes of the saved notebook, opened as a file, is as harmless."""
    page = folder / "red_team.html"
    page.write_text(HTMLExporter().from_filename(str(saved))[0])
    with watching(browser, page.as_uri()) as watched:
        watched.page.goto(page.as_uri(), wait_until="load")
        # The page's own scripts: MathJax, RequireJS and Mermaid, which nbconvert's template names.
        watched.check(may_load=("cdnjs.cloudflare.com", "unpkg.com"))


def code_cells(made: Any) -> list[int]:
    return [i for i, cell in enumerate(made.cells) if cell.cell_type == "code"]
