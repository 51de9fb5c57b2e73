"""Agents that nobody here wrote, through the kernel, offline against a scripted model endpoint."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.agents import real
from tests.agents.model_endpoint import ModelEndpoint
from tests.agents.scripts import EDITED, SCRIPTS, TEXT, WRITTEN, Scripts
from tests.support.kernels import Kernel, StartKernel
from tests.support.notebook import Cell, Question
from tests.support.processes import happens_within, is_alive

pytestmark = pytest.mark.real_agent

PATIENCE = 60.0  # seconds; gemini-cli takes several to start on a busy machine
YES, NO = ("Yes", "Allow"), ("No", "Reject", "Skip")
OTHER_MODE = {"codex": "auto", "gemini": "plan", "claude": "plan", "opencode": "plan"}
FOR_GOOD = ("Allow for this session", "Yes, and don't ask again")


@dataclass(frozen=True)
class Agent:
    """A kernel with a real agent, and what the agent talks to."""

    name: str
    kernel: Kernel
    home: Path
    endpoint: ModelEndpoint
    scripts: Scripts

    @property
    def file(self) -> Path:
        return self.kernel.cwd / "poem.txt"

    def run(self, prompt: str) -> Cell:
        return self.kernel.run(prompt, PATIENCE)

    def decide(self, prompt: str, words: tuple[str, ...]) -> Cell:
        """Answer the question of a prompt with an option for this once."""
        return decide(self.kernel, self.kernel.ask(prompt), words)

    def said(self) -> str:
        """What the agent told the model at the last call: the conversation as it remembers it."""
        return json.dumps(self.endpoint.requests[-1])


def decide(kernel: Kernel, cell: Cell, words: tuple[str, ...]) -> Cell:
    choose(kernel, cell, words)
    return kernel.finish(cell, PATIENCE)


def choose(kernel: Kernel, cell: Cell, words: tuple[str, ...]) -> None:
    question: Question = kernel.question(cell, PATIENCE)
    once = [name for name in question.buttons if not name.startswith(FOR_GOOD)]
    kernel.click(question, next(name for name in once if name.startswith(words)))


@pytest.fixture(scope="module", params=["codex", "gemini", *real.MORE])
def agent(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Agent]:
    folder = tmp_path_factory.mktemp(request.param)
    home = folder / "agent-home"
    home.mkdir()
    with ModelEndpoint() as endpoint:
        known = real.MAKERS[request.param](home, endpoint)
        with Kernel(folder / "kernel", shlex.join(known.argv), known.env) as kernel:
            yield Agent(request.param, kernel, home, endpoint, SCRIPTS[request.param])


def test_thought_and_text(agent: Agent) -> None:
    cell = agent.run(agent.scripts.talk())
    assert cell.status == "ok", (cell.text, agent.kernel.wire()[-12:])
    assert cell.text.index("The user wants a greeting.") < cell.text.index(TEXT)
    assert "thought, 6 words" in cell.text
    assert cell.record["stop_reason"] == "end_turn"
    assert cell.record["agent"]["version"]


def test_file_is_written_after_a_click_on_allow(agent: Agent) -> None:
    agent.file.unlink(missing_ok=True)
    cell = agent.decide(agent.scripts.write_file(agent.file), YES)
    assert cell.status == "ok"
    assert agent.file.read_text() == WRITTEN
    (call,) = cell.record["tool_calls"]
    assert (call["kind"], call["status"]) == ("edit", "completed")
    assert (cell.record["permissions"][0]["kind"], cell.record["permissions"][0]["by"]) == (
        "allow_once",
        "you",
    )
    assert "poem.txt" in cell.text
    assert "+ line two" in cell.text


def test_file_is_edited_after_a_click_on_allow(agent: Agent) -> None:
    agent.file.write_text(WRITTEN)
    cell = agent.decide(agent.scripts.edit_file(agent.file), YES)
    assert agent.file.read_text() == EDITED
    assert "- line two" in cell.text
    assert "+ line 2" in cell.text


def test_file_is_left_alone_after_a_click_on_reject(agent: Agent) -> None:
    agent.file.write_text(WRITTEN)
    cell = agent.decide(agent.scripts.edit_file(agent.file), NO)
    assert agent.file.read_text() == WRITTEN
    assert cell.record["permissions"][0]["kind"] == "reject_once"
    assert "- line two" in cell.text
    assert agent.run(agent.scripts.talk()).status == "ok"


def test_file_is_left_alone_where_nobody_can_answer(agent: Agent) -> None:
    agent.file.write_text(WRITTEN)
    cell = agent.run(agent.scripts.edit_file(agent.file))
    assert agent.file.read_text() == WRITTEN
    assert cell.record["permissions"][0]["by"] == "nobody"
    assert "AGY_PERMISSIONS" in cell.text


def test_command_runs_after_a_click_on_allow(agent: Agent) -> None:
    made = agent.kernel.cwd / "made.txt"
    cell = agent.decide(agent.scripts.run_command(f"echo of the command > {made.name}"), YES)
    assert cell.status == "ok"
    assert made.read_text() == "of the command\n"
    assert f"echo of the command &gt; {made.name}" in cell.text


def test_stop_in_the_middle_of_a_reply(agent: Agent) -> None:
    agent.run(agent.scripts.talk())
    before = agent.kernel.agents
    cell = agent.kernel.send(agent.scripts.long_text())
    agent.kernel.shows(cell, "This is line 3 of", PATIENCE)
    agent.kernel.interrupt()
    agent.kernel.finish(cell)
    assert cell.error["ename"] == "TurnCancelled"
    assert "This is line 3 of" in cell.text
    assert "This is line 199 of" not in cell.text
    following = agent.run(agent.scripts.talk())
    assert following.status == "ok"
    assert "This is line" not in following.text
    assert agent.kernel.agents == before


def test_stop_in_silence(agent: Agent) -> None:
    agent.endpoint.held.clear()
    cell = agent.kernel.send(agent.scripts.held())
    agent.kernel.wait(agent.endpoint.held.is_set, "the silence", PATIENCE)
    agent.kernel.interrupt()
    agent.kernel.finish(cell)
    assert cell.error["ename"] == "TurnCancelled"
    assert agent.run(agent.scripts.talk()).status == "ok"


def test_stop_while_a_command_runs(agent: Agent) -> None:
    file = agent.kernel.cwd / "pid.txt"
    cell = agent.kernel.ask(agent.scripts.run_command(f"echo $$ > {file.name}; sleep 100"))
    choose(agent.kernel, cell, YES)
    agent.kernel.wait(lambda: file.exists() and file.read_text(), "the command", PATIENCE)
    agent.kernel.interrupt()
    agent.kernel.finish(cell)
    assert cell.error["ename"] == "TurnCancelled"
    assert happens_within(60, lambda: not is_alive(int(file.read_text())))
    assert agent.run(agent.scripts.talk()).status == "ok"


def test_mode_is_listed_chosen_and_chosen_back(agent: Agent) -> None:
    agent.run(agent.scripts.talk())
    listed = agent.run("%agy mode").text
    before = find_current(listed)
    for mode in (OTHER_MODE[agent.name], before):
        assert f"`{mode}`" in listed
        agent.run(f"%agy mode {mode}")
        assert find_current(agent.run("%agy mode").text) == mode
        assert agent.run(agent.scripts.talk()).status == "ok"


def test_model_is_listed_chosen_and_chosen_again_in_the_next_process(agent: Agent) -> None:
    agent.run(agent.scripts.talk())
    listed = agent.run("%agy model").text
    model = re.findall(r"^- `([^`]+)`", listed, re.MULTILINE)[-1]
    assert agent.run(f"%agy model {model}").status == "ok"
    assert find_current(agent.run("%agy model").text) == model
    session = agent.run(agent.scripts.talk()).record["session_id"]
    agent.run("%agy restart")
    real.backdate_gemini_sessions(agent.home)
    cell = agent.run(agent.scripts.talk())
    assert (cell.status, cell.record["session_id"]) == ("ok", session)
    assert find_current(agent.run("%agy model").text) == model


def find_current(listed: str) -> str:
    """The id of the one that is marked as current, in what ``%agy mode`` shows."""
    (current,) = re.findall(r"\*\*`(.+)` .*\*\* \(current\)", listed)
    return str(current)


def test_error_of_the_model_is_told_in_its_words(agent: Agent) -> None:
    cell = agent.run(agent.scripts.failure())
    assert cell.status == "error"
    assert "scripted bad request" in cell.error["evalue"]
    assert len(cell.error["traceback"]) <= 2  # the second line says to try again
    assert agent.run(agent.scripts.talk()).status == "ok"


def test_session_goes_on_after_the_agent_was_killed(agent: Agent) -> None:
    session = agent.run(agent.scripts.talk()).record["session_id"]
    agent.run(f"Remember the heron. {agent.scripts.talk()}")
    agent.kernel.notebook.cells.clear()
    killed = agent.kernel.agents
    for pid in killed:
        with suppress(ProcessLookupError):  # one may go with the other
            os.kill(pid, signal.SIGKILL)
    status = "no; the next prompt starts it"
    agent.kernel.wait(lambda: status in agent.kernel.run("%agy status").text, status)
    real.backdate_gemini_sessions(agent.home)

    cell = agent.run(agent.scripts.talk())
    assert cell.status == "ok"
    assert "A new agent process was started" in cell.text
    assert "does not remember" not in cell.text
    assert cell.record["session_id"] == session
    assert cell.text.count(TEXT) == 1, "replayed history is shown as live"
    assert "Remember the heron." in agent.said()
    assert not any(map(is_alive, killed))


def test_two_sessions_do_not_share_a_memory(agent: Agent) -> None:
    agent.run(f"Remember the otter. {agent.scripts.talk()}")
    agent.run("%agy new")
    cell = agent.run(agent.scripts.talk())
    assert cell.status == "ok"
    assert "otter" not in agent.said()


@pytest.mark.parametrize(("words", "after"), [(YES, "Perfect!"), (NO, "I understand")])
def test_example_agent_of_the_sdk(
    start_kernel: StartKernel, words: tuple[str, ...], after: str
) -> None:
    kernel = start_kernel(shlex.join(real.sdk_example().argv))
    cell = decide(kernel, kernel.ask("Say something"), words)
    assert cell.status == "ok"
    assert cell.text.index("I'll help you with that.") < cell.text.index(after)
    first, second = cell.record["tool_calls"]
    assert (first["kind"], first["status"]) == ("read", "completed")
    assert second["kind"] == "edit"
