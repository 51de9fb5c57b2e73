"""Public reports about framing: what a kernel makes of an agent that cannot keep its lines clean.

Each test stands for a row of the table in docs/reliability.md.
"""

from __future__ import annotations

import shlex

import pytest

from tests.agents.scripted import Step, command, expect, hello, opening, raw, turn
from tests.support.kernels import SIMULATOR, StartKernel, sim
from tests.support.notebook import Cell


def agent(*steps: Step) -> str:
    """The command line of a scripted agent."""
    return shlex.join(command(*steps))


@pytest.mark.report(1)
def test_line_of_seventy_thousand_letters_is_shown_whole(start_kernel: StartKernel) -> None:
    kernel = start_kernel()
    text = {"type": "text", "text": "x" * 70_000 + " end"}
    update = {"update": {"sessionUpdate": "agent_message_chunk", "content": text}}
    cell = kernel.run(sim(update, {"text": " and on"}))
    assert cell.status == "ok"
    assert cell.text.count("x" * 1_000) == 70
    assert "end and on" in cell.text
    assert kernel.run(sim({"text": "next"})).status == "ok"


@pytest.mark.report(2)
def test_log_lines_on_stdout_break_no_handshake_and_stay_out_of_cells(
    start_kernel: StartKernel,
) -> None:
    log = raw(b"Loaded cached credentials.\n")
    kernel = start_kernel(agent(log, expect("initialize"), log, *_answered(), *turn("Hello.")))
    cell = kernel.run("Say hello")
    assert cell.status == "ok"
    assert "Hello." in cell.text
    assert "Loaded cached" not in everything_in(cell)
    assert "Loaded cached credentials." in kernel.wire("a2c")


def _answered() -> list[Step]:
    """The rest of an opening, with more noise in the midst of it."""
    (_, hello_answer, *session) = opening()
    return [hello_answer, raw(b"[INFO] 42\nnull\n[]\n"), *session]


@pytest.mark.report(3)
@pytest.mark.parametrize("how", ["shutdown", "restart"])
def test_lines_that_an_agent_prints_while_it_ends_are_no_error(
    start_kernel: StartKernel, how: str
) -> None:
    last_words = "Created execution plan for SessionEnd: 1 hook"
    kernel = start_kernel(shlex.join(["bash", "-c", f"{SIMULATOR}; echo {last_words}"]))
    cell = kernel.run(sim({"text": "Hello."}))
    assert cell.status == "ok"
    if how == "shutdown":
        kernel.shutdown()
    else:
        kernel.restart()
        assert kernel.run(sim({"text": "next"})).status == "ok"
    assert "Traceback" not in kernel.log
    assert last_words not in everything_in(cell)
    assert not kernel.notebook.unclaimed


@pytest.mark.report(4)
def test_protocol_version_is_a_number_and_another_one_is_named(start_kernel: StartKernel) -> None:
    kernel = start_kernel(agent(*hello(protocolVersion="2.0")))
    cell = kernel.run("Say hello")
    (initialize,) = kernel.sent("initialize")
    assert initialize["params"]["protocolVersion"] == 1
    assert cell.status == "error"
    assert "2.0" in cell.error["evalue"]
    assert "version" in cell.error["evalue"]
    assert len("\n".join(cell.error["traceback"]).splitlines()) <= 3
    assert kernel.run("%%py\n6 * 7").text == "42"


def everything_in(cell: Cell) -> str:
    """All that was ever sent to the cell."""
    return "\n".join(str(message.content) for message in cell.messages)
