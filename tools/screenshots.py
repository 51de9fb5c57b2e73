"""Take the pictures in docs/images: the tour, a diff, an open question, probes; light and dark.

The agent is the simulator. Run as ``python -m tools.screenshots``.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Browser

from tests.support.lab import PATIENCE, THEMES, Lab, Notebook, chromium

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1040, "height": 1060}
PLOT = """import numpy as np, pandas as pd

steps = np.random.default_rng(7).choice([-1, 1], size=(200, 5))
walks = pd.DataFrame(steps.cumsum(axis=0), columns=list("abcde"))
axes = walks.plot(figsize=(7, 2.6), title="Five random walks")"""
ASK = "%%agy --with walks.shape\nDescribe the plot of @walks"
PROBES = "probes/cancel.ipynb"
FIRST_PROBES = (1, 2, 4, 6)
HELLO, CREATE, EDIT, QUESTION = 1, 3, 4, 8


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    for theme in THEMES:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            _take(theme, Path(folder))
        print(f"{theme}: done")


def _take(theme: str, folder: Path) -> None:
    root = folder / "notebooks"
    root.mkdir()
    for name in ("tour.ipynb", PROBES):
        shutil.copy(ROOT / "notebooks" / name, root)
    with Lab(root, folder, {"AGY_AGENT": "simulator"}, theme) as lab, chromium() as browser:
        _walk(browser, lab, theme)
        _ask_in_python(browser, lab, theme)
        _probe(browser, lab, theme)


def _ask_in_python(browser: Browser, lab: Lab, theme: str) -> None:
    lab.write("walks.ipynb", ["%load_ext agy_kernel", PLOT, ASK], kernel="python3")
    page = browser.new_page(viewport={**SIZE, "height": 900}, device_scale_factor=1.5)  # type: ignore[arg-type]  # a dict literal
    notebook = Notebook(page, lab, "walks.ipynb").open()
    page.keyboard.press("Control+b")
    for index in range(3):
        notebook.run(index)
        notebook.expect_done(index, index + 1)
    page.mouse.move(0, 0)
    page.screenshot(path=IMAGES / f"magics-{theme}.png")
    page.close()


def _probe(browser: Browser, lab: Lab, theme: str) -> None:
    page = browser.new_page(viewport=SIZE, device_scale_factor=1.5)  # type: ignore[arg-type]  # a dict literal
    notebook = Notebook(page, lab, Path(PROBES).name).open()
    page.keyboard.press("Control+b")
    for count, index in enumerate(FIRST_PROBES, 1):
        notebook.run(index)
        notebook.expect_done(index, count)
    notebook.output(FIRST_PROBES[2]).locator("summary").first.click()
    notebook.cell(FIRST_PROBES[1]).evaluate("cell => cell.scrollIntoView({block: 'start'})")
    page.mouse.move(0, 0)
    page.screenshot(path=IMAGES / f"probe-{theme}.png")
    page.close()


def _walk(browser: Browser, lab: Lab, theme: str) -> None:
    page = browser.new_page(viewport=SIZE, device_scale_factor=1.5)  # type: ignore[arg-type]  # a dict literal
    notebook = Notebook(page, lab, "tour.ipynb").open()
    page.keyboard.press("Control+b")  # the file browser is not what this is about

    def picture(name: str, top: int) -> None:
        notebook.cell(top).evaluate("cell => cell.scrollIntoView({block: 'start'})")
        page.mouse.move(0, 0)
        page.screenshot(path=IMAGES / f"{name}-{theme}.png")

    notebook.run(HELLO)
    notebook.expect_done(HELLO, 1)
    notebook.run(CREATE)
    notebook.button(CREATE, "Allow").wait_for(timeout=PATIENCE)
    picture("tour", 0)
    notebook.button(CREATE, "Allow").click()
    notebook.expect_done(CREATE, 2)
    notebook.run(EDIT)
    notebook.button(EDIT, "Allow").click(timeout=PATIENCE)
    notebook.expect_done(EDIT, 3)
    picture("diff", EDIT)
    notebook.run(QUESTION)
    notebook.output(QUESTION).locator("button.jupyter-button").first.wait_for(timeout=PATIENCE)
    picture("question", QUESTION - 1)
    page.close()


if __name__ == "__main__":
    main()
