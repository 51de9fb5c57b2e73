"""Stop means stop, by whichever way it comes and whatever the agent does. It is simulated."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from tests.support.kernels import SIMULATOR, Kernel, StartKernel, sim
from tests.support.notebook import Cell, Json
from tests.support.processes import happens_within
from tests.support.stopwatch import Stopwatch

AT_ONCE = 1.0  # seconds, with an agent that honours session/cancel
AT_LAST = 5.0  # seconds, with any agent
NOT_STARTED = f"{SIMULATOR} --start-delay 30"

STOPS: dict[str, Callable[[Kernel], None]] = {
    "request": Kernel.interrupt,
    "process": lambda kernel: os.kill(kernel.pid, signal.SIGINT),
    "group": lambda kernel: os.killpg(kernel.pid, signal.SIGINT),
}

RUNNING = {"toolCallId": "t", "title": "Run it", "kind": "execute", "status": "in_progress"}
MORE: list[Json] = [{"text": "more "}, {"wait": 0.01}] * 1_000
SILENT: Json = {"wait": None}


def during_text(kernel: Kernel) -> Cell:
    return showing(kernel, "more more more", {"text": "partial "}, *MORE, SILENT)


def during_silence(kernel: Kernel) -> Cell:
    return showing(kernel, "partial", {"text": "partial "}, SILENT)


def during_an_open_question(kernel: Kernel) -> Cell:
    cell = kernel.ask(sim({"text": "partial "}, {"ask": {}}, SILENT))
    kernel.question(cell)
    return cell


def during_a_tool(kernel: Kernel) -> Cell:
    return showing(kernel, "Run it", {"text": "partial "}, {"tool": RUNNING}, SILENT)


def showing(kernel: Kernel, text: str, *steps: Json) -> Cell:
    cell = kernel.ask(sim(*steps))
    kernel.shows(cell, text)
    return cell


MOMENTS = [during_text, during_silence, during_an_open_question, during_a_tool]


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


@pytest.fixture(params=STOPS)
def stop(request: pytest.FixtureRequest) -> Callable[[Kernel], None]:
    return STOPS[request.param]


def check_stopped(
    kernel: Kernel, cell: Cell, stop: Callable[[Kernel], None], limit: float
) -> float:
    """Stop a cell, and see that it ends as it should; returns the seconds that it took."""
    begin, watch = time.monotonic(), Stopwatch()
    stop(kernel)
    kernel.finish(cell)
    assert watch.seconds < limit
    assert cell.status == "error"
    assert cell.error["ename"] == cell.reply["ename"] == "TurnCancelled"
    assert cell.error["traceback"] == ["Interrupted: the turn was stopped."]
    return cell.replied - begin


def heard_every_stop(kernel: Kernel) -> None:
    """Wait until no Stop is on its way any more, which could end the next cell."""
    kernel.request("kernel_info_request", channel="control")


# -- an agent that honours session/cancel


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.__name__)
@pytest.mark.report(58, 59)
def test_stop_ends_the_turn_and_nothing_else(
    kernel: Kernel, moment: Callable[[Kernel], Cell], stop: Callable[[Kernel], None]
) -> None:
    kernel.run(sim({"text": "warm"}))
    pid, agent, cancels = kernel.pid, kernel.agent, len(kernel.sent("session/cancel"))
    cell = moment(kernel)
    check_stopped(kernel, cell, stop, AT_ONCE)
    assert "partial" in cell.text
    assert cell.record["stop_reason"] == "cancelled"
    assert len(kernel.sent("session/cancel")) == cancels + 1
    assert "id" not in kernel.sent("session/cancel")[-1]

    following = kernel.run(sim({"text": "on we go"}))
    assert following.status == "ok"
    assert "on we go" in following.text
    assert "more" not in following.text
    assert (kernel.pid, kernel.agent) == (pid, agent)


def test_stop_twice_cancels_once(kernel: Kernel) -> None:
    cell = during_silence(kernel)
    cancels = len(kernel.sent("session/cancel"))
    kernel.interrupt()
    check_stopped(kernel, cell, Kernel.interrupt, AT_ONCE)
    heard_every_stop(kernel)
    assert len(kernel.sent("session/cancel")) == cancels + 1
    assert kernel.run(sim({"text": "on we go"})).status == "ok"


def test_cells_queued_behind_a_stopped_one_are_aborted(kernel: Kernel) -> None:
    cell = during_silence(kernel)
    queued = kernel.send("never sent")
    kernel.request("comm_info_request")  # behind the cell, on the same channel
    check_stopped(kernel, cell, Kernel.interrupt, AT_ONCE)
    assert kernel.finish(queued).status == "aborted"


@pytest.mark.report(57)
def test_text_that_leaks_from_a_cancelled_turn_is_not_shown(start_kernel: StartKernel) -> None:
    kernel = start_kernel(f"{SIMULATOR} --cancel leaks")
    cell = during_silence(kernel)
    check_stopped(kernel, cell, Kernel.interrupt, AT_ONCE)
    assert "context canceled" in str(kernel.wire("a2c"))
    assert "context canceled" not in cell.text


def test_stop_at_any_moment_ends_the_turn_or_finds_it_ended(kernel: Kernel) -> None:
    """The turn ends by itself while Stop is on its way: no trace of either is left behind."""
    kernel.run(sim({"text": "warm"}))
    pid, agent = kernel.pid, kernel.agent
    for pause in range(40):
        cell = kernel.send(sim({"text": "partial"}, {"wait": pause / 1_000}))
        kernel.shows(cell, "partial")
        kernel.interrupt()
        kernel.finish(cell)
        heard_every_stop(kernel)
        assert cell.error.get("ename") in (None, "TurnCancelled"), cell.text
        assert cell.record["stop_reason"] in ("end_turn", "cancelled")
    assert kernel.run(sim({"text": "on we go"})).status == "ok"
    assert (kernel.pid, kernel.agent) == (pid, agent)


# -- an agent that has not answered yet


@pytest.fixture(scope="module")
def starting_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with Kernel(tmp_path_factory.mktemp("starting"), NOT_STARTED) as kernel:
        yield kernel


def test_stop_while_the_agent_starts(
    starting_kernel: Kernel, stop: Callable[[Kernel], None]
) -> None:
    kernel = starting_kernel
    hellos = len(kernel.sent("initialize"))
    cell = kernel.send("Say hello")
    kernel.wait(lambda: len(kernel.sent("initialize")) > hellos, "the start of the agent")
    pid, agent = kernel.pid, kernel.agent
    check_stopped(kernel, cell, stop, AT_ONCE)
    assert happens_within(2, lambda: agent not in kernel.agents)
    assert kernel.pid == pid
    assert not kernel.sent("session/prompt")


def test_stop_of_a_command_that_needs_the_agent(
    starting_kernel: Kernel, stop: Callable[[Kernel], None]
) -> None:
    kernel = starting_kernel
    hellos = len(kernel.sent("initialize"))
    cell = kernel.send("%agy model")
    kernel.wait(lambda: len(kernel.sent("initialize")) > hellos, "the start of the agent")
    agent = kernel.agent
    watch = Stopwatch()
    stop(kernel)
    kernel.finish(cell)
    assert watch.seconds < AT_ONCE
    assert cell.error["ename"] == "TurnCancelled"
    assert happens_within(2, lambda: agent not in kernel.agents)


def test_progress_of_a_slow_start_is_shown(starting_kernel: Kernel) -> None:
    cell = starting_kernel.send("Say hello")
    starting_kernel.wait(lambda: re.search(r"starting python \(\d+ s\)", cell.text), "progress")
    check_stopped(starting_kernel, cell, Kernel.interrupt, AT_ONCE)


# -- an agent that does not honour it


@pytest.mark.parametrize(
    ("flags", "limit", "same_agent"),
    [
        ("--cancel with-id", 2.0, True),
        ("--cancel ignored", 4.2, False),
        ("--cancel ignored --ignore-eof", AT_LAST, False),
    ],
)
@pytest.mark.report(12, 55)
def test_ladder_ends_the_turn_of_an_agent_that_ignores_cancel(
    start_kernel: StartKernel, flags: str, limit: float, same_agent: bool
) -> None:
    kernel = start_kernel(f"{SIMULATOR} {flags}")
    cell = during_silence(kernel)
    pid, agent, session = kernel.pid, kernel.agent, kernel.sent("session/prompt")[0]["params"]
    assert check_stopped(kernel, cell, Kernel.interrupt, limit) > AT_ONCE
    assert "partial" in cell.text

    following = kernel.run(sim({"text": "on we go"}))
    assert following.status == "ok"
    assert following.record["session_id"] == session["sessionId"]
    assert "partial" not in following.text
    assert kernel.pid == pid
    assert (agent in kernel.agents) == same_agent
    reopened = kernel.sent("session/resume") or kernel.sent("session/load")
    assert bool(reopened) != same_agent
    assert ("did not stop when asked to" in following.text) != same_agent


def test_question_of_an_agent_that_ignores_cancel_is_answered_at_once(
    start_kernel: StartKernel,
) -> None:
    kernel = start_kernel(f"{SIMULATOR} --cancel ignored")
    cell = during_an_open_question(kernel)
    kernel.interrupt()
    kernel.wait(lambda: not kernel.notebook.questions(cell), "the end of the question", AT_ONCE)
    kernel.shows(cell, "answer: cancelled", AT_ONCE)
    kernel.finish(cell)
    assert cell.error["ename"] == "TurnCancelled"
    sent = [frame.get("method", frame.get("result")) for frame in kernel.wire("c2a")]
    answered = sent.index({"outcome": {"outcome": "cancelled"}})
    assert answered < sent.index("$/cancel_request")


# -- nothing to stop


@pytest.mark.report(59)
def test_stop_while_idle_sends_nothing_and_breaks_nothing(
    kernel: Kernel, stop: Callable[[Kernel], None]
) -> None:
    kernel.run(sim({"text": "warm"}))
    pid, agent, frames = kernel.pid, kernel.agent, len(kernel.wire())
    stop(kernel)
    heard_every_stop(kernel)
    assert len(kernel.wire()) == frames
    cell = kernel.run(sim({"wait": 0.2}, {"text": "on we go"}))
    assert cell.status == "ok"
    assert (kernel.pid, kernel.agent) == (pid, agent)


@pytest.mark.parametrize(
    "code",
    [
        # A signal that comes just before a sleep is heard behind it, so sleeps are short.
        "%%py\nimport time\nprint('running', flush=True)\nwhile True: time.sleep(0.05)",
        "!echo running; sleep 600",
    ],
    ids=["python", "shell"],
)
def test_stop_of_other_cells_is_ipythons_own(
    kernel: Kernel, code: str, stop: Callable[[Kernel], None]
) -> None:
    frames = len(kernel.wire())
    cell = kernel.send(code)
    kernel.shows(cell, "running")
    stop(kernel)
    kernel.finish(cell)
    assert len(kernel.wire()) == frames
    assert kernel.run(sim({"text": "on we go"})).status == "ok"
