"""However a kernel ends, nothing of its agent is left behind. The agent is simulated."""

from __future__ import annotations

import os
import re
import signal

import pytest

from tests.support.kernels import SIMULATOR, Kernel, StartKernel, sim
from tests.support.notebook import Cell
from tests.support.processes import happens_within, is_alive

STUBBORN = f"{SIMULATOR} --ignore-eof --cancel ignored"
SHUTDOWN = 2.5  # seconds; Jupyter sends TERM after as many, and KILL after 5
WATCHDOG = 3.0  # seconds; it sends TERM, and 1.5 s later KILL


def grandchild(cell: Cell) -> int:
    """The process that the agent has started, as the reply says."""
    (pid,) = re.findall(r"grandchild: (\d+)", cell.text)
    assert is_alive(int(pid))
    return int(pid)


def family(kernel: Kernel) -> set[int]:
    """An agent that ignores the end of its stdin and TERM, and a child of it in its own session."""
    child = grandchild(kernel.run(sim({"spawn_grandchild": True})))
    assert happens_within(20, lambda: child in kernel.agents)  # it has no environment at first
    assert len(kernel.agents) == 2
    return kernel.agents


def check_gone(pids: set[int], within: float) -> None:
    assert happens_within(within, lambda: not any(map(is_alive, pids))), pids


@pytest.mark.report(83)
def test_shutdown_ends_a_stubborn_agent_and_its_grandchild(start_kernel: StartKernel) -> None:
    kernel = start_kernel(STUBBORN)
    pids = family(kernel)
    assert kernel.shutdown() < SHUTDOWN
    check_gone(pids, within=0.5)


def test_shutdown_of_an_agent_that_goes_politely_is_quick(start_kernel: StartKernel) -> None:
    kernel = start_kernel()
    kernel.run("Say hello")
    pids = kernel.agents
    assert kernel.shutdown() < 1.5
    check_gone(pids, within=0.5)


def test_shutdown_before_the_first_prompt(start_kernel: StartKernel) -> None:
    assert start_kernel().shutdown() < 1.5


@pytest.mark.parametrize("moment", ["turn", "start"])
def test_shutdown_in_the_middle(start_kernel: StartKernel, moment: str) -> None:
    kernel = start_kernel(STUBBORN if moment == "turn" else f"{STUBBORN} --start-delay 30")
    cell = kernel.send(sim({"text": "partial"}, {"wait": None}))
    if moment == "turn":
        kernel.shows(cell, "partial")
    else:
        kernel.wait(lambda: kernel.sent("initialize"), "the start of the agent")
    pids = kernel.agents
    assert kernel.shutdown() < SHUTDOWN
    check_gone(pids, within=WATCHDOG)
    assert moment == "start" or "partial" in cell.text


@pytest.mark.report(83)
def test_restart_ends_the_old_agent_and_the_next_cell_starts_another(
    start_kernel: StartKernel,
) -> None:
    kernel = start_kernel(STUBBORN)
    pids = family(kernel)
    kernel.restart()
    check_gone(pids, within=0.5)
    assert kernel.run("Say hello").status == "ok"
    assert not kernel.agents & pids


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda n: n.name)
@pytest.mark.report(83)
def test_kernel_that_is_killed_takes_its_agent_along(
    start_kernel: StartKernel, number: signal.Signals
) -> None:
    kernel = start_kernel(STUBBORN)
    pids = family(kernel)
    cell = kernel.send(sim({"text": "partial"}, {"wait": None}))
    kernel.shows(cell, "partial")
    os.kill(kernel.pid, number)
    check_gone(pids, within=WATCHDOG)


def test_agent_that_dies_leaves_no_grandchild(start_kernel: StartKernel) -> None:
    kernel = start_kernel()
    cell = kernel.run(sim({"spawn_grandchild": True}, {"exit": 1}))
    assert cell.error["ename"] == "AgentExited"
    assert happens_within(WATCHDOG, lambda: not kernel.agents)


@pytest.mark.report(49)
def test_two_kernels_have_two_agents(start_kernel: StartKernel) -> None:
    one, other = start_kernel(), start_kernel()
    for kernel in (one, other):
        assert kernel.run("Say hello").status == "ok"
    assert one.agent != other.agent
    one.shutdown()
    assert is_alive(other.agent)
    assert other.run("Say hello").status == "ok"


def test_python_kernel_that_is_shut_down_ends_the_agent_of_its_extension(
    start_kernel: StartKernel,
) -> None:
    kernel = start_kernel(STUBBORN, name="python3")
    assert kernel.run("%load_ext agy_kernel").status == "ok"
    kernel.run("%agy Say hello")
    pids = kernel.agents
    assert kernel.shutdown() < SHUTDOWN
    check_gone(pids, within=0.5)
