"""A notebook's session goes on in the next kernel, and nowhere else. The agent is simulated."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from agy_kernel.conversation.known import GREETING
from tests.support.kernels import SIMULATOR, Kernel, StartKernel, sim

PROMPT = "session/prompt"


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    path = tmp_path / "notebook" / "a.ipynb"
    path.parent.mkdir()
    path.touch()
    return path


@pytest.fixture
def kernel(start_kernel: StartKernel, notebook: Path) -> Kernel:
    return start_kernel(env={"JPY_SESSION_NAME": str(notebook)})


def session(kernel: Kernel, prompt: str) -> str:
    cell = kernel.run(prompt)
    assert cell.status == "ok", cell.text
    return str(cell.record["session_id"])


def claimed(kernel: Kernel, folder: Path, session_id: str) -> None:
    """Wait until a kernel has its name on a session."""

    def is_claimed() -> bool:
        kept = (json.loads(f.read_text())["sessions"] for f in folder.rglob("sessions.json"))
        mine = (s for sessions in kept for s in sessions if s["session"] == session_id)
        return any(str(kernel.pid) in s["kernel"].split() for s in mine)

    kernel.wait(is_claimed, "its name on the session")


def test_the_session_goes_on_after_a_restart_of_the_kernel(kernel: Kernel) -> None:
    before = session(kernel, "hello")
    kernel.restart()
    cell = kernel.run("hello")
    assert cell.record["session_id"] == before
    assert GREETING in cell.text
    assert session(kernel, "hello") == before
    assert GREETING not in kernel.run("hello").text


def test_what_the_session_was_told_is_not_told_again(kernel: Kernel) -> None:
    session(kernel, "hello")
    kernel.restart()
    session(kernel, "hello")
    first, second = (f["params"]["prompt"] for f in kernel.wire() if f.get("method") == PROMPT)
    assert [block["text"] for block in second] == ["hello"]
    assert [block["text"] for block in first][1:] == ["hello"]


def test_a_new_session_is_new_for_the_next_kernel_too(kernel: Kernel) -> None:
    before = session(kernel, "hello")
    kernel.run("%agy new")
    second = session(kernel, "hello")
    assert second != before
    kernel.restart()
    assert session(kernel, "hello") == second


def test_another_agent_has_a_session_of_its_own(kernel: Kernel) -> None:
    before = session(kernel, "hello")
    kernel.restart()
    other = kernel.run(f"%agy --agent '{SIMULATOR} --usage' hello")
    assert other.record["session_id"] != before
    assert session(kernel, "hello") == before


def test_a_damaged_store_is_said_and_a_new_session_begins(kernel: Kernel) -> None:
    before = session(kernel, "hello")
    (store,) = kernel.folder.rglob("sessions.json")
    kernel.restart()
    store.write_text("{")
    cell = kernel.run("hello")
    assert cell.record["session_id"] != before
    assert "The file of remembered sessions was damaged" in cell.text


@pytest.fixture
def two_kernels(start_kernel: StartKernel, notebook: Path, tmp_path: Path) -> tuple[Kernel, Kernel]:
    """Two kernels of one notebook."""
    agent = f"{SIMULATOR} --state {tmp_path / 'state'}"
    data = {"JPY_SESSION_NAME": str(notebook), "JUPYTER_DATA_DIR": str(tmp_path / "data")}
    return start_kernel(agent, data), start_kernel(agent, data)


def test_two_kernels_of_one_notebook_do_not_share_a_session(
    two_kernels: tuple[Kernel, Kernel],
) -> None:
    kernel, other = two_kernels
    before = session(kernel, "hello")
    cell = other.run("hello")
    assert cell.record["session_id"] != before
    assert f"Another kernel of this notebook (process {kernel.pid}) uses its session" in cell.text
    assert session(kernel, "hello") == before
    other.restart()
    assert session(other, "hello") == cell.record["session_id"]
    session(kernel, "hello")
    kernel.shutdown()
    other.restart()
    assert session(other, "hello") == before


def test_a_session_is_claimed_before_its_turn_is_over(
    two_kernels: tuple[Kernel, Kernel], notebook: Path, tmp_path: Path
) -> None:
    kernel, other = two_kernels
    before = session(kernel, "hello")
    kernel.restart()
    cell = kernel.ask(sim({"text": "begun"}, {"wait": "go"}))
    kernel.shows(cell, "begun")
    claimed(kernel, tmp_path, before)
    elsewhere = other.run("hello")
    assert elsewhere.record["session_id"] != before
    assert f"Another kernel of this notebook (process {kernel.pid})" in elsewhere.text
    (notebook.parent / "go").touch()
    assert kernel.finish(cell).record["session_id"] == before


def test_a_session_goes_on_whose_first_turn_the_kernel_did_not_survive(
    kernel: Kernel, tmp_path: Path
) -> None:
    cell = kernel.ask(sim({"text": "begun"}, {"wait": None}))
    kernel.shows(cell, "begun")
    (begun,) = {frame["params"]["sessionId"] for frame in kernel.sent(PROMPT)}
    claimed(kernel, tmp_path, begun)
    os.kill(kernel.pid, signal.SIGKILL)
    kernel.restart()
    following = kernel.run("hello")
    assert following.record["session_id"] == begun
    assert GREETING in following.text


def test_what_a_resumed_session_was_told_is_not_told_again(kernel: Kernel) -> None:
    first = session(kernel, "hello")
    kernel.run("%agy new")
    session(kernel, "hello")
    kernel.restart()
    assert kernel.run(f"%agy resume {first}").status == "ok"
    kernel.restart()
    assert session(kernel, "hello") == first
    assert [block["text"] for block in kernel.sent(PROMPT)[-1]["params"]["prompt"]] == ["hello"]


def test_a_choice_without_a_prompt_is_kept_for_the_next_kernel(kernel: Kernel) -> None:
    session(kernel, "hello")
    kernel.run("%agy model gemini-pro-agent")
    kernel.restart()
    assert kernel.run("hello").record["model"] == "Gemini 3.1 Pro (High)"


def test_a_session_of_a_kernel_that_runs_is_not_resumed_unasked(
    start_kernel: StartKernel, notebook: Path, tmp_path: Path
) -> None:
    agent, beside = f"{SIMULATOR} --state {tmp_path / 'state'}", notebook.with_name("b.ipynb")
    data = {"JUPYTER_DATA_DIR": str(tmp_path / "data")}
    kernel = start_kernel(agent, data | {"JPY_SESSION_NAME": str(notebook)})
    other = start_kernel(agent, data | {"JPY_SESSION_NAME": str(beside)})
    theirs, mine = session(kernel, "hello"), session(other, "hello")
    assert "other kernels use them" in other.run("%agy resume").error["evalue"]
    assert session(other, "hello") == mine
    told = other.run(f"%agy resume {theirs}").text
    assert f"Another kernel (process {kernel.pid}) uses it, too" in told


def test_a_kernel_without_a_notebook_begins_anew(start_kernel: StartKernel) -> None:
    kernel = start_kernel()
    before = session(kernel, "hello")
    kernel.restart()
    assert session(kernel, "hello") != before


def test_a_session_that_the_agent_has_lost_is_replaced_and_it_is_said(kernel: Kernel) -> None:
    before = session(kernel, "hello")
    for state in kernel.folder.rglob(f"{before}.json"):
        state.unlink()
    kernel.restart()
    cell = kernel.run("hello")
    assert cell.status == "ok"
    assert cell.record["session_id"] != before
    assert "This is a new one: the agent does not remember" in cell.text
