"""A plot and an error of a Python notebook, all the way to the model of a real agent."""

from __future__ import annotations

import base64
import io
import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.agents import real
from tests.agents.model_endpoint import ModelEndpoint
from tests.agents.scripts import SCRIPTS, TEXT
from tests.support.kernels import Kernel

pytestmark = pytest.mark.real_agent

PLOT = """
import matplotlib.pyplot as plt
plt.figure(figsize=(2, 1.5))
plt.plot([1, 4, 9])
plt.show()
"""
PATIENCE = 60.0


@dataclass(frozen=True)
class Session:
    """A Python kernel whose ``%agy`` is a real agent, and what the agent tells its model."""

    name: str
    kernel: Kernel
    endpoint: ModelEndpoint

    def ask(self, line: str = "") -> None:
        cell = self.kernel.run(f"%%agy {line}\n{SCRIPTS[self.name].talk()}", PATIENCE)
        assert TEXT in cell.text

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The content blocks of the last prompt, as we sent them."""
        prompt: list[dict[str, Any]] = self.kernel.sent("session/prompt")[-1]["params"]["prompt"]
        return prompt

    def model_heard(self) -> str:
        """The last request to the model."""
        return json.dumps(self.endpoint.requests[-1], ensure_ascii=False)


@pytest.fixture(scope="module", params=["codex", *real.MORE])
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Session]:
    folder: Path = tmp_path_factory.mktemp(f"{request.param}-context")
    home = folder / "agent-home"
    home.mkdir()
    with ModelEndpoint() as endpoint:
        agent = real.MAKERS[request.param](home, endpoint)
        argv = shlex.join(agent.argv)
        with Kernel(folder / "kernel", argv, agent.env, name="python3") as kernel:
            kernel.run("%load_ext agy_kernel")
            yield Session(request.param, kernel, endpoint)


def test_figure_and_last_error_reach_the_model_in_one_request(session: Session) -> None:
    session.kernel.run(PLOT, PATIENCE)
    session.kernel.run("{}['missing key']")
    session.ask()
    kinds = [block["type"] for block in session.blocks]
    assert kinds == sorted(kinds, key=["image", "resource", "text"].index)
    image = next(b for b in session.blocks if b["type"] == "image")
    error = next(b["resource"] for b in session.blocks if "KeyError" in str(b.get("resource")))
    heard = session.model_heard()
    assert image["data"] in heard
    assert json.dumps(error["text"], ensure_ascii=False)[1:-1] in heard
    with Image.open(io.BytesIO(base64.b64decode(image["data"]))) as picture:
        assert picture.format == "PNG"
        assert picture.width > 100


def test_what_was_sent_is_not_sent_again(session: Session) -> None:
    session.kernel.run("only_once = 'told ' + 'once'\nonly_once")
    session.ask()
    assert "told once" in str(session.blocks)
    session.ask()
    assert "told once" not in str(session.blocks)
    assert [b["type"] for b in session.blocks if b["type"] == "image"] == []


def test_named_values_and_pictures_go_along(session: Session) -> None:
    session.kernel.run(
        "import numpy as np\n"
        "pixels = np.zeros((32, 32, 3), dtype='uint8'); pixels[:16] = (255, 0, 0)\n"
        "answer = {'of': 42}"
    )
    session.ask("--no-context --with answer,pixels")
    (image,) = [b for b in session.blocks if b["type"] == "image"]
    with Image.open(io.BytesIO(base64.b64decode(image["data"]))) as picture:
        assert picture.convert("RGB").getpixel((0, 0)) == (255, 0, 0)
        assert picture.convert("RGB").getpixel((0, 31)) == (0, 0, 0)
    assert "{'of': 42}" in session.model_heard()


def test_secrets_and_private_cells_stay_here(session: Session) -> None:
    session.kernel.run("import os; os.environ['SERVICE_API_KEY'] = 'hunter2-hunter2'")
    session.kernel.run("print('the key is', os.environ['SERVICE_API_KEY'])")
    session.kernel.run("# agy: private\nprint('nobody', 'else')")
    session.ask()
    assert "the key is" in session.model_heard()
    for secret in ("hunter2-hunter2", "nobody else"):
        assert secret not in session.model_heard()
