"""A person at JupyterLab, Notebook 7, and JupyterLab with collaboration: what all have to do."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.kernels import sim
from tests.support.lab import PATIENCE, Lab, Notebook, chromium, page_without_errors
from tests.support.other_labs import (
    COLLABORATION,
    CollaborativeLab,
    LabWithoutWidgets,
    Notebook7,
)
from tests.support.saved import check_plain, text

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

# Of Notebook 7.6.5 itself, in any notebook, before it has a kernel.
NOTEBOOK_7 = "Cannot read properties of undefined (reading 'schema')"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module", params=[Lab, Notebook7, CollaborativeLab])
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    if request.param is CollaborativeLab and not COLLABORATION.exists():
        pytest.skip("jupyter-collaboration is not in build/: `make test` brings it there")
    scratch = tmp_path_factory.mktemp("lab")
    (scratch / "notebooks").mkdir()
    with request.param(scratch / "notebooks", scratch, {"AGY_AGENT": "simulator"}) as lab:
        yield lab


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with page_without_errors(browser, {NOTEBOOK_7}) as page:
        yield page


def run_all(page: Page) -> None:
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def saved_with(notebook: Notebook, lab: Lab, count: int) -> Any:
    """The notebook as it lies on disk, once a cell that ran has this number."""
    notebook.page.keyboard.press("Escape")
    notebook.page.keyboard.press("Control+s")
    for _ in range(PATIENCE // 100):
        with contextlib.suppress(nbformat.reader.NotJSONError):  # the file is half written
            saved = nbformat.read(lab.root / notebook.name, as_version=4)
            if any(cell["execution_count"] == count for cell in saved["cells"]):
                return saved
        notebook.page.wait_for_timeout(100)
    raise AssertionError(f"{notebook.name} was not saved")


def test_run_all_waits_for_the_click_and_leaves_a_plain_notebook(lab: Lab, page: Page) -> None:
    lab.write("all.ipynb", ["Show a long answer", "Create all.py that greets", "%%py\n6 * 7"])
    notebook = Notebook(page, lab, "all.ipynb").open()
    run_all(page)
    notebook.button(1, "Allow").wait_for(timeout=PATIENCE)
    notebook.expect_done(0, 1)
    for waiting in (1, 2):
        expect(notebook.cell(waiting).locator(".jp-InputPrompt")).to_have_text("[*]:")
    assert not (lab.root / "all.py").exists()
    notebook.button(1, "Allow").click()
    for index in range(3):
        notebook.expect_done(index, index + 1)
    assert (lab.root / "all.py").exists()
    for rendered in ("h3, h2", "table", "li"):
        expect(notebook.output(0).locator(rendered).first).to_be_visible()

    saved = saved_with(notebook, lab, 3)
    check_plain(saved)
    assert [cell["execution_count"] for cell in saved["cells"]] == [1, 2, 3]
    assert "“Allow” by you" in text(saved["cells"][1])
    assert text(saved["cells"][2]) == "42"
    page.goto("about:blank")
    reopened = Notebook(page, lab, "all.ipynb").open()
    expect(reopened.output(1)).to_contain_text("“Allow” by you", timeout=PATIENCE)
    expect(reopened.output(1)).to_contain_text("+ def greet")


def test_stop_and_deny_in_a_python_notebook(lab: Lab, page: Page) -> None:
    waiting = f"%%agy\n{sim({'text': 'Before the silence. '}, {'wait': None})}"
    cells = ["%load_ext agy_kernel", waiting, "%agy Create stop.py that greets", "6 * 7"]
    lab.write("stop.ipynb", cells, kernel="python3")
    notebook = Notebook(page, lab, "stop.ipynb").open()
    run_all(page)
    expect(notebook.output(1)).to_contain_text("Before the silence.", timeout=PATIENCE)
    notebook.stop()
    notebook.expect_done(1, 2)
    expect(notebook.output(1)).to_contain_text("Interrupted: the turn was stopped.")
    for aborted in (2, 3):
        expect(notebook.cell(aborted).locator(".jp-InputPrompt")).to_have_text(
            re.compile(r"\[ \]:")
        )
    notebook.run(2)
    notebook.button(2, "Deny").click(timeout=PATIENCE)
    notebook.expect_done(2, 3)
    assert not (lab.root / "stop.py").exists()
    check_plain(saved_with(notebook, lab, 3))


@pytest.mark.parametrize("lab", [CollaborativeLab], indirect=True)
def test_a_second_person_sees_the_turn_and_its_end(lab: Lab, page: Page, browser: Browser) -> None:
    lab.write("two.ipynb", ["Create two.py that greets"])
    first = Notebook(page, lab, "two.ipynb").open()
    context = browser.new_context()
    second = Notebook(context.new_page(), lab, "two.ipynb").open()
    first.run(0)
    expect(second.output(0)).to_contain_text("I create two.py", timeout=PATIENCE)
    first.button(0, "Allow").click(timeout=PATIENCE)
    first.expect_done(0, 1)
    second.expect_done(0, 1)
    expect(second.output(0)).to_contain_text("“Allow” by you", timeout=PATIENCE)
    expect(second.output(0).locator("button.jupyter-button")).to_have_count(0)
    assert json.dumps(saved_with(first, lab, 1)).count("application/vnd.agy-kernel.turn+json") == 1
    context.close()


@pytest.mark.parametrize("lab", [LabWithoutWidgets], indirect=True)
def test_question_is_answered_in_a_line_where_there_are_no_widgets(lab: Lab, page: Page) -> None:
    lab.write("line.ipynb", ["Create line.py that greets", "Say hello"])
    notebook = Notebook(page, lab, "line.ipynb").open()
    notebook.run(0)
    line = notebook.output(0).locator("input.jp-Stdin-input")
    expect(notebook.output(0)).to_contain_text("+ def greet", timeout=PATIENCE)
    line.fill("Allow", timeout=PATIENCE)
    line.press("Enter")
    notebook.expect_done(0, 1)
    assert (lab.root / "line.py").exists()
    expect(notebook.output(0)).to_contain_text("“Allow” by you")
    notebook.run(1)
    notebook.expect_done(1, 2)
    check_plain(saved_with(notebook, lab, 2))
