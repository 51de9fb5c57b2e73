"""A long turn in JupyterLab: the page stays usable while it streams, and shows everything."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.lab import PATIENCE, Lab, Notebook, chromium
from tests.support.smoothness import Meter

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

LINE = "x = 'some code of a very long file'  # with <b> and $money$\n"
LINES, CHUNKS = 84, 1_000


@pytest.fixture
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    scratch = tmp_path_factory.mktemp("lab")
    (scratch / "notebooks").mkdir()
    with Lab(scratch / "notebooks", scratch, {"AGY_AGENT": "simulator"}) as lab:
        yield lab


@pytest.fixture
def page() -> Iterator[Page]:
    with chromium() as browser:
        yield browser.new_page(viewport={"width": 1200, "height": 1000})


def test_a_menu_works_while_five_megabytes_of_code_stream_and_all_is_shown(
    lab: Lab, page: Page
) -> None:
    steps: list[dict[str, object]] = [{"text": "Here it is.\n\n```python\n"}]
    for _ in range(20):
        steps += [{"chunks": [CHUNKS // 20, LINE * LINES]}, {"wait": 0.1}]
    steps += [{"wait": 600}]
    lab.write("long.ipynb", ["SIM:" + json.dumps(steps)])
    notebook = Notebook(page, lab, "long.ipynb").open()
    with Meter(page) as meter:
        output = notebook.run(0)
        expect(output).to_contain_text("some code", timeout=PATIENCE)
        page.get_by_role("menuitem", name="View", exact=True).click()
        expect(page.locator(".lm-Menu-item", has_text="Show Line Numbers")).to_be_visible()
        page.keyboard.press("Escape")
        page.wait_for_function(
            "([wanted, size]) => document.querySelector('.jp-OutputArea')"
            ".textContent.split(wanted).length > size",
            arg=[LINE, LINES * CHUNKS],
            polling=1000,  # looking at megabytes in each frame would slow down what is looked at
            timeout=240_000,
        )
    print(f"five megabytes of code: {meter.result}")
    notebook.stop()
    notebook.expect_done(0, 1)
    saved = notebook.save()["cells"][0]["outputs"]
    said = "".join("".join(o["data"]["text/plain"]) for o in saved if "data" in o)
    assert said.startswith("Here it is.\n\n```python\n" + LINE * LINES * CHUNKS)
