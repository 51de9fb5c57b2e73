"""A person at JupyterLab signs in: the link, the field for the address, and what is saved."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.agents import oauth
from tests.support.lab import PATIENCE, Lab, Notebook, chromium
from tests.test_signin_kernel import callback

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]


@pytest.mark.report(51)
def test_a_pasted_address_signs_in_and_is_not_saved(tmp_path: Path) -> None:
    root, state = tmp_path / "notebooks", oauth.State(tmp_path)
    root.mkdir()
    state.begin(when="session")
    with (
        Lab(root, tmp_path, {"AGY_AGENT": oauth.command(tmp_path)}) as lab,
        chromium() as browser,
    ):
        lab.write("signin.ipynb", ["hello"])
        notebook = Notebook(browser.new_page(), lab, "signin.ipynb").open()
        output = notebook.run(0)
        link = output.get_by_role("link", name="Sign in")
        link.wait_for(timeout=PATIENCE)
        url = str(link.get_attribute("href"))
        assert urlsplit(url).hostname == "accounts.example.org"
        assert link.get_attribute("rel") == "noopener noreferrer"
        expect(output).to_contain_text("The agent waits for 4:", timeout=PATIENCE)
        field = output.locator("input[type=text]")
        field.fill(callback(url, state="another"))
        notebook.button(0, "Send").click()
        expect(output).to_contain_text("it belongs to another sign-in", timeout=PATIENCE)
        field.fill(callback(url))
        notebook.button(0, "Send").click()
        expect(output).to_contain_text("You said: hello", timeout=PATIENCE)
        expect(output).to_contain_text("address handed over by you")
        notebook.expect_done(0, 1)
        saved = json.dumps(notebook.save())
    assert oauth.STATE not in saved
    assert "g00d" not in saved
    assert len([line for line in state.lines if line.startswith("GET")]) == 1
