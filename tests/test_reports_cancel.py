"""Public reports about Stop: it ends what it should, all of it, and nothing else.

Each test stands for a row of the table in docs/reliability.md.
"""

from __future__ import annotations

import os
import signal

import pytest

from tests.support.kernels import SIMULATOR, Kernel, StartKernel, sim
from tests.support.notebook import Json

SILENT: Json = {"wait": None}


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


def ask(call: str) -> Json:
    return {"ask": {"toolCall": {"toolCallId": call, "title": "Run it", "kind": "execute"}}}


@pytest.mark.report(24)
def test_stop_answers_every_open_request_once_and_cancels(kernel: Kernel) -> None:
    cell = kernel.ask(sim({"together": [ask("one"), ask("two")]}, SILENT))
    kernel.questions(cell, 2)
    before = len(kernel.wire("c2a"))
    kernel.interrupt()
    kernel.finish(cell)
    assert cell.error["ename"] == "TurnCancelled"
    sent = kernel.wire("c2a")[before:]
    answers = [frame["result"] for frame in sent if "result" in frame]
    assert answers == [{"outcome": {"outcome": "cancelled"}}] * 2
    methods = [frame["method"] for frame in sent if "method" in frame]
    # What follows it where the agent takes more than a second is no other cancel.
    assert (methods[0], methods.count("session/cancel")) == ("session/cancel", 1)
    assert not kernel.notebook.questions(cell)
    assert kernel.run(sim({"text": "on"})).status == "ok"


@pytest.mark.report(50)
def test_stop_ends_one_turn_and_the_other_goes_on(start_kernel: StartKernel) -> None:
    one, other = start_kernel(), start_kernel()
    stopped = one.send(sim({"text": "partial"}, SILENT))
    more: list[Json] = [{"text": "more "}, {"wait": 0.02}] * 50
    going_on = other.ask(sim(*more, ask("meanwhile"), *more, {"text": "the end"}))
    one.shows(stopped, "partial")
    question = other.question(going_on)
    one.interrupt()
    one.finish(stopped)
    assert stopped.error["ename"] == "TurnCancelled"
    assert not going_on.reply
    other.click(question, "Allow")
    other.finish(going_on)
    assert going_on.status == "ok"
    assert going_on.text.count("more ") == 100
    assert "the end" in going_on.text
    assert not other.sent("session/cancel")


@pytest.mark.report(55)
def test_an_agent_that_streams_on_is_ended_and_nothing_more_is_shown(
    start_kernel: StartKernel,
) -> None:
    kernel = start_kernel(f"{SIMULATOR} --cancel ignored")
    more: list[Json] = [{"text": "more "}, {"wait": 0.01}] * 5_000
    cell = kernel.send(sim(*more))
    kernel.shows(cell, "more more")
    agent = kernel.agent
    kernel.interrupt()
    begin = len(cell.messages)
    kernel.finish(cell)
    assert len(cell.messages) > begin
    assert cell.error["ename"] == "TurnCancelled"
    count = cell.text.count("more ")
    following = kernel.run(sim({"text": "on"}))
    assert "did not stop when asked to" in following.text
    assert cell.text.count("more ") == count
    assert "more" not in following.text
    kernel.wait(lambda: agent not in kernel.agents, "the end of the agent")


@pytest.mark.report(57)
def test_words_of_a_cancelled_backend_are_in_no_cell(start_kernel: StartKernel) -> None:
    kernel = start_kernel(f"{SIMULATOR} --cancel leaks")
    cell = kernel.send(sim({"text": "partial"}, SILENT))
    kernel.shows(cell, "partial")
    kernel.interrupt()
    kernel.finish(cell)
    following = kernel.run(sim({"text": "on"}))
    assert "context canceled" in str(kernel.wire("a2c"))
    assert "cancel" not in following.text
    assert "context canceled" not in cell.text
    assert (following.status, following.outputs[0]["data"]["text/markdown"]) == ("ok", "on")


@pytest.mark.report(59)
def test_the_agent_is_out_of_reach_of_a_signal_to_the_kernel_s_group(kernel: Kernel) -> None:
    kernel.run(sim({"text": "warm"}))
    agent = kernel.agent
    assert os.getpgid(agent) == os.getsid(agent) == agent
    cell = kernel.send(sim({"text": "partial"}, SILENT))
    kernel.shows(cell, "partial")
    os.killpg(kernel.pid, signal.SIGINT)
    kernel.finish(cell)
    assert cell.error["ename"] == "TurnCancelled"
    assert kernel.run(sim({"text": "on"})).status == "ok"
    assert kernel.agent == agent
