"""What only the large agents show: forms, models that reach the endpoint, plans, a missing key."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.agents import real
from tests.agents.model_endpoint import ModelEndpoint, script
from tests.agents.scripts import SCRIPTS, TEXT
from tests.support.kernels import Kernel, StartKernel
from tests.support.notebook import Json

pytestmark = [pytest.mark.real_agent, pytest.mark.more]

PATIENCE = 60.0  # seconds; opencode takes several to start on a busy machine
COLOURS = {
    "question": "Which colour?",
    "header": "Colour",
    "multiSelect": False,
    "options": [
        {"label": "Red", "description": "warm"},
        {"label": "Blue", "description": "cold", "preview": "## blue"},
    ],
}
SHAPES = {
    "question": "Which shapes?",
    "header": "Shapes",
    "multiSelect": True,
    "options": [
        {"label": "Circle", "description": "round"},
        {"label": "Square", "description": "not"},
    ],
}
OTHER_MODEL = {"claude": ("haiku", "haiku"), "opencode": ("scripted/other", "other")}
"""A model as it is listed, and what its name at the endpoint holds."""


@dataclass(frozen=True)
class Agent:
    """A kernel with a real agent, and the model endpoint that the agent calls."""

    name: str
    kernel: Kernel
    endpoint: ModelEndpoint

    def talk(self) -> None:
        cell = self.kernel.run(SCRIPTS[self.name].talk(), PATIENCE)
        assert cell.text.count(TEXT) == 1

    @property
    def model(self) -> str:
        """The model that was called last."""
        return str(self.endpoint.requests[-1]["model"])

    @property
    def tool_result(self) -> Json:
        """What the model was told of the last tool call."""
        contents = (m["content"] for m in self.endpoint.requests[-1]["messages"])
        blocks = (block for content in contents if isinstance(content, list) for block in content)
        *_, last = (block for block in blocks if block["type"] == "tool_result")
        assert isinstance(last, dict)
        return last


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "agent-home"
    folder.mkdir()
    return folder


@pytest.fixture
def endpoint() -> Iterator[ModelEndpoint]:
    with ModelEndpoint() as endpoint:
        yield endpoint


@pytest.fixture(params=["claude", "opencode"])
def agent(
    request: pytest.FixtureRequest, home: Path, endpoint: ModelEndpoint, start_kernel: StartKernel
) -> Agent:
    known = real.MAKERS[request.param](home, endpoint)
    return Agent(request.param, start_kernel(shlex.join(known.argv), known.env), endpoint)


only_claude = pytest.mark.parametrize("agent", ["claude"], indirect=True)


def test_a_model_is_listed_chosen_and_called(agent: Agent) -> None:
    listed, called = OTHER_MODEL[agent.name]
    agent.talk()
    assert called not in agent.model
    assert f"`{listed}`" in agent.kernel.run("%agy model").text
    agent.kernel.run(f"%agy model {listed}", PATIENCE)
    agent.talk()
    assert called in agent.model


def ask(*questions: Json) -> str:
    tool = {"tool": "AskUserQuestion", "args": {"questions": questions}}
    return script([tool], [{"text": "Thank you."}])


@only_claude
def test_a_question_is_a_form_and_its_answers_reach_the_model(agent: Agent) -> None:
    kernel = agent.kernel
    cell = kernel.ask(ask(COLOURS, SHAPES))
    question = kernel.question(cell, PATIENCE)
    colour = next(
        i for i, m in kernel.notebook.models.items() if m["_model_name"] == "DropdownModel"
    )
    boxes = [i for i, m in kernel.notebook.models.items() if m["_model_name"] == "CheckboxModel"]
    labels = kernel.notebook.models[colour]["_options_labels"]
    put(kernel, colour, index=next(n for n, label in enumerate(labels) if label.startswith("Blue")))
    for box in boxes:
        put(kernel, box, value=True)
    kernel.click(question, "Send")
    kernel.finish(cell, PATIENCE)
    assert cell.status == "ok"
    assert '"Which colour?"="Blue", "Which shapes?"="Circle, Square"' in told(agent)
    assert cell.text.endswith("Thank you.") or "Thank you." in cell.text


@only_claude
def test_a_question_that_nobody_can_answer_is_declined(agent: Agent) -> None:
    cell = agent.kernel.run(ask(COLOURS), PATIENCE)
    assert cell.status == "ok"
    assert told(agent) == "The user did not answer the questions."
    assert "Which colour?" in cell.text
    assert "declined" in cell.text


def told(agent: Agent) -> str:
    return str(agent.tool_result["content"])


def put(kernel: Kernel, model: str, **state: object) -> None:
    """Change what an input holds, as a person does."""
    data = {"method": "update", "state": state, "buffer_paths": []}
    kernel.handled(kernel.comm(model, data))


@only_claude
def test_a_plan_is_a_checklist(agent: Agent) -> None:
    words = [("Count", "completed"), ("Sort", "in_progress"), ("Print", "pending")]
    todos = [{"content": w, "status": status, "activeForm": w} for w, status in words]
    plan = script([{"tool": "TodoWrite", "args": {"todos": todos}}], [{"text": "Planned."}])
    cell = agent.kernel.run(plan, PATIENCE)
    places = [cell.text.index(word) for word in ("plan", "Count", "Sort", "Print", "Planned.")]
    assert places == sorted(places)
    assert cell.record["tool_calls"] == []


def test_an_agent_is_found_by_its_name_and_says_how_to_sign_in(
    home: Path, endpoint: ModelEndpoint, start_kernel: StartKernel
) -> None:
    known = real.claude(home, endpoint)
    env = {name: value for name, value in known.env.items() if name != "ANTHROPIC_API_KEY"}
    path = os.pathsep.join([str(Path(known.argv[0]).parent), os.environ["PATH"]])
    cell = start_kernel("claude", env | {"PATH": path}).run("Hello", PATIENCE)
    assert cell.error["ename"] == "AuthenticationRequired"
    assert "claude-agent-acp --cli auth login" in cell.error["evalue"]
    assert endpoint.requests == []
