"""Agents that nobody here wrote, in JupyterLab: a file is edited only after Allow."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.agents.model_endpoint import ModelEndpoint
from tests.agents.real import MAKERS, RealAgent
from tests.agents.scripts import EDITED, SCRIPTS, WRITTEN
from tests.support.lab import PATIENCE, Lab, Notebook, chromium

pytestmark = [pytest.mark.browser, pytest.mark.real_agent, pytest.mark.timeout(180)]

BUTTONS = {"codex": ("Yes", "No"), "gemini": ("Allow", "Reject")}


@pytest.mark.parametrize("name", BUTTONS)
def test_allow_edits_the_file_and_reject_leaves_it_alone(name: str, tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "notebooks"
    home.mkdir()
    root.mkdir()
    file = root / "poem.txt"
    with ModelEndpoint() as endpoint:
        agent = MAKERS[name](home, endpoint)
        with Lab(root, tmp_path, _environment(agent)) as lab, chromium() as browser:
            prompt = SCRIPTS[name].edit_file(file)
            lab.write("edit.ipynb", [prompt, prompt])
            notebook = Notebook(browser.new_page(), lab, "edit.ipynb").open()
            for index, button in enumerate(reversed(BUTTONS[name])):
                file.write_text(WRITTEN)
                output = notebook.run(index)
                _choose(notebook, index, button)
                expect(output).to_contain_text("tokens" if name == "gemini" else "context")
                expect(output).to_contain_text("line two", timeout=PATIENCE)
                notebook.wait_ready("idle")
                assert file.read_text() == (WRITTEN if index == 0 else EDITED)


def _environment(agent: RealAgent) -> dict[str, str]:
    return {**agent.env, "AGY_AGENT": " ".join(agent.argv), "PATH": os.environ["PATH"]}


def _choose(notebook: Notebook, index: int, name: str) -> None:
    buttons = notebook.output(index).locator("button.jupyter-button")
    buttons.first.wait_for(timeout=PATIENCE)
    buttons.get_by_text(name, exact=False).first.click()
