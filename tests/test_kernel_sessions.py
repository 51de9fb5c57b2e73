"""A notebook's session goes on in the next kernel, and nowhere else. The agent is simulated."""

from __future__ import annotations

from pathlib import Path

import pytest

from agy_kernel.conversation.known import GREETING
from tests.support.kernels import SIMULATOR, Kernel, StartKernel

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


def test_two_kernels_of_one_notebook_do_not_share_a_session(
    start_kernel: StartKernel, notebook: Path, tmp_path: Path
) -> None:
    agent = f"{SIMULATOR} --state {tmp_path / 'state'}"
    data = {"JPY_SESSION_NAME": str(notebook), "JUPYTER_DATA_DIR": str(tmp_path / "data")}
    kernel, other = start_kernel(agent, data), start_kernel(agent, data)
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
