"""Long turns in JupyterLab in chromium: the longest task of the page, and how often it draws."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from tests.support.lab import Lab, Notebook, chromium
from tests.support.smoothness import Meter, Smoothness

from .kernels import SIMULATOR
from .table import Figure

LINE = "x = 'some code of a very long file'  # with <b> and $money$\n"
FLOOR = """%%py
from IPython.display import display, Markdown
h = display(Markdown("word"), display_id=True)
import time
for n in range(100):
    time.sleep(.05); h.update(Markdown("word " * n))
"""
GOAL = "no freeze"


def figures() -> Iterator[Figure]:
    """The figures of long turns, beside a bare cell that changes a small output at 20 Hz."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, chromium() as browser:
        folder = Path(name)
        (folder / "notebooks").mkdir()
        agent = {"AGY_AGENT": " ".join(SIMULATOR)}
        with Lab(folder / "notebooks", folder, agent) as lab:
            floor = smoothness(lab, browser, "floor", FLOOR)
            for what, steps in turns().items():
                measured = smoothness(lab, browser, what, f"SIM:{json.dumps(steps)}")
                yield Figure(f"in chromium: {what}", str(measured), GOAL, str(floor))


def turns() -> dict[str, list[dict[str, Any]]]:
    """The long turns."""
    calls: list[dict[str, Any]] = []
    for n in range(500):
        call = {"toolCallId": f"c{n}", "title": f"Read {n}.txt", "kind": "read"}
        calls += [{"text": f"Step {n}. "}, {"tool": {**call, "status": "completed"}}]
    code: list[dict[str, Any]] = [{"text": "```python\n"}]
    for _ in range(20):
        code += [{"chunks": [50, LINE * 84]}, {"wait": 0.1}]
    return {
        "100,000 chunks of prose": [{"chunks": [99, "word "]}, {"text": "\n\n"}] * 1_000,
        "500 tool calls between words": calls,
        "one code fence of 5 MB": code,
    }


def smoothness(lab: Lab, browser: Browser, what: str, source: str) -> Smoothness:
    """How smoothly the page runs while a cell does, and until all is drawn."""
    name = f"{''.join(filter(str.isalnum, what))}.ipynb"
    lab.write(name, [source])
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    try:
        notebook = Notebook(page, lab, name).open()
        with Meter(page) as meter:
            notebook.run(0)
            prompt = notebook.cell(0).locator(".jp-InputPrompt", has_text="[1]:")
            prompt.wait_for(timeout=300_000)
        return meter.result
    finally:
        page.close()
