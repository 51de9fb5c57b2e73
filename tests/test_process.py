"""The agent's process: what it is given, and that it ends, whatever it and its children do."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.acp import process as process_module
from agy_kernel.acp.process import AgentProcess, Launch
from agy_kernel.acp.tape import Tape
from agy_kernel.acp.watchdog import MARK_VARIABLE
from agy_kernel.errors import AgentNotFound, AgentStartFailed
from tests.agents import scripted
from tests.agents.scripted import Step, command, ignore, send, spawn
from tests.support.leaks import (
    nothing_is_left,  # noqa: F401
    processes_left,
)
from tests.support.processes import agents_of, happens_within, is_alive, watchdogs_of

READY: dict[str, Any] = {"method": "_test/ready"}
LONG = 60.0  # seconds of a grace that is long enough for any agent on any machine
SOON = 30.0  # seconds that are not enough for such a grace to pass


@asynccontextmanager
async def running(*steps: Step, cwd: Path | None = None, **env: str) -> AsyncIterator[AgentProcess]:
    launch = Launch("scripted", command(*steps), env)
    async with AgentProcess(launch, str(cwd or Path.cwd()), Tape()) as process:
        yield process


async def hear(process: AgentProcess, method: str) -> dict[str, Any]:
    """The params of the next frame, which is of this method."""
    frame = json.loads(await process.stdout.readline())
    assert frame["method"] == method
    params: dict[str, Any] = frame.get("params", {})
    return params


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Gives an agent all the time of these graces, ``STDIN``, ``TERM`` and so on."""

    def give(*graces: str) -> None:
        for name in graces:
            monkeypatch.setattr(process_module, f"{name}_GRACE", LONG)

    return give


def test_all_graces_together_are_less_than_jupyter_gives_a_kernel_to_end() -> None:
    it = process_module
    assert it.STDIN_GRACE + it.TERM_GRACE + it.KILL_GRACE < 2
    assert it.STATUS_GRACE + it.STDERR_GRACE <= 1


async def gone(process: AgentProcess) -> None:
    """Wait until the process has ended."""
    await process.stdin.wait_closed()


# -- what it is given


async def test_it_gets_our_environment_less_jupyters_tokens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    private = ["JPY_PARENT_PID", "JPY_SESSION_NAME", "JPY_API_TOKEN", "JUPYTERHUB_API_TOKEN"]
    private += ["JUPYTERHUB_USER", "JUPYTER_TOKEN", "JUPYTER_TOKEN_FILE"]
    for name in private:
        monkeypatch.setenv(name, "secret")
    for name in ("GEMINI_API_KEY", "HTTPS_PROXY", "JUPYTER_CONFIG_DIR", "BOTH"):
        monkeypatch.setenv(name, "ours")
    async with running(scripted.tell_environment(), cwd=tmp_path, BOTH="its", OWN="its") as agent:
        told = await hear(agent, "_test/environment")
    variables = told["variables"]
    assert [name for name in private if name in variables] == []
    assert variables["GEMINI_API_KEY"] == variables["HTTPS_PROXY"] == "ours"
    assert variables["JUPYTER_CONFIG_DIR"] == "ours"
    assert variables["BOTH"] == variables["OWN"] == "its"
    assert variables["PATH"] == os.environ["PATH"]
    assert variables[MARK_VARIABLE].startswith(f"{os.getpid()}-")
    assert told["folder"] == str(tmp_path)


async def test_it_leads_a_session_of_its_own() -> None:
    async with running(scripted.tell_environment()) as agent:
        told = await hear(agent, "_test/environment")
        assert told["pid"] == told["session"] == told["group"] == agent.pid


async def test_two_processes_have_two_marks() -> None:
    async with (
        running(scripted.tell_environment()) as one,
        running(scripted.tell_environment()) as other,
    ):
        marks = {
            (await hear(a, "_test/environment"))["variables"][MARK_VARIABLE] for a in (one, other)
        }
    assert len(marks) == 2


# -- what keeps it from starting


async def test_a_program_that_does_not_exist_is_named() -> None:
    with pytest.raises(AgentNotFound, match=r"there is no program '/no/such' to start Agent with"):
        async with AgentProcess(Launch("Agent", ("/no/such",)), "/", Tape()):
            pass


async def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(AgentNotFound, match=f"the folder {missing} does not exist"):
        async with running(cwd=missing):
            pass


async def test_a_program_that_cannot_run_says_why(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("not a program")
    for reason in ("Permission denied", "Exec format error"):
        with pytest.raises(AgentStartFailed, match=f"agent cannot be started: {reason}"):
            async with AgentProcess(Launch("Agent", (str(program),)), "/", Tape()):
                pass
        program.chmod(0o755)


@pytest.mark.parametrize("steps", range(20))
async def test_a_start_that_is_cancelled_at_any_step_leaves_nothing(steps: int) -> None:
    async def start() -> None:
        async with running():
            await asyncio.Event().wait()

    starting = asyncio.create_task(start())
    for _ in range(steps):
        await asyncio.sleep(0)
    starting.cancel()
    await asyncio.wait({starting})
    assert starting.cancelled()
    assert processes_left() == set()


# -- how it ends


@pytest.mark.parametrize(
    ("steps", "status", "grace"),
    [
        ([], 0, "STDIN"),
        ([ignore("TERM")], 0, "STDIN"),
        ([ignore("EOF")], -signal.SIGTERM, "TERM"),
        ([ignore("EOF"), ignore("TERM")], -signal.SIGKILL, "KILL"),
    ],
    ids=["polite", "deaf to TERM", "deaf to the end of stdin", "deaf to both"],
)
async def test_it_is_ended_as_politely_as_it_lets_us(
    steps: list[Step], status: int, grace: str, patience: Callable[..., None]
) -> None:
    patience(grace)
    async with running(*steps, send(READY)) as agent:
        await hear(agent, "_test/ready")
        begin = time.monotonic()
    assert agent.exit_status == status
    assert time.monotonic() - begin < SOON


async def test_a_process_that_has_ended_is_ended_quickly(patience: Callable[..., None]) -> None:
    patience("STDIN", "TERM", "KILL")
    async with running(scripted.leave(3)) as agent:
        await gone(agent)
        begin = time.monotonic()
    assert time.monotonic() - begin < SOON
    assert agent.exit_status == 3


@pytest.mark.parametrize("own_session", [False, True], ids=["in its group", "in its own session"])
@pytest.mark.parametrize("holds_pipes", [False, True], ids=["without pipes", "holding the pipes"])
async def test_its_children_end_with_it(own_session: bool, holds_pipes: bool) -> None:
    child_step = spawn(own_session=own_session, holds_pipes=holds_pipes)
    async with running(child_step) as agent:
        child = (await hear(agent, "_test/spawned"))["pid"]
        assert is_alive(child)
    assert not is_alive(child)


async def test_a_deaf_child_ends_too(patience: Callable[..., None]) -> None:
    patience("STDIN", "KILL")
    async with running(spawn(own_session=True, deaf=True)) as agent:
        child = (await hear(agent, "_test/spawned"))["pid"]
        begin = time.monotonic()
    assert not is_alive(child)
    assert time.monotonic() - begin < SOON


async def test_a_child_without_its_environment_ends_with_its_group() -> None:
    async with running(spawn(marked=False)) as agent:
        child = (await hear(agent, "_test/spawned"))["pid"]
    assert not is_alive(child)


@pytest.mark.parametrize("own_session", [False, True], ids=["in its group", "in its own session"])
async def test_its_children_end_when_it_was_killed_before(own_session: bool) -> None:
    async with running(spawn(own_session=own_session, holds_pipes=True)) as agent:
        child = (await hear(agent, "_test/spawned"))["pid"]
        os.kill(agent.pid, signal.SIGKILL)
        await gone(agent)
        assert is_alive(child)
    assert agent.exit_status == -signal.SIGKILL
    assert not is_alive(child)


async def test_a_stranger_that_holds_its_pipes_does_not_keep_us(
    patience: Callable[..., None],
) -> None:
    patience("STDIN", "TERM", "KILL")
    steps = [spawn(own_session=True, marked=False, holds_pipes=True)]
    begin = time.monotonic()
    async with running(*steps) as agent:
        child = (await hear(agent, "_test/spawned"))["pid"]
    try:
        assert agent.exit_status == 0
        assert is_alive(child)  # it can be found by nothing; it is not the agent's any more
        assert time.monotonic() - begin < SOON
    finally:
        os.kill(child, signal.SIGKILL)
        assert happens_within(30, lambda: not is_alive(child))


async def test_it_can_end_while_it_still_has_much_to_say(patience: Callable[..., None]) -> None:
    patience("STDIN")
    # More than the pipe and the stream's buffer hold, so it waits in a write when we leave.
    async with running(scripted.flood(10_000, {"text": "x" * 1_000})) as agent:
        await agent.stdout.readline()
    assert agent.exit_status == 0


async def test_a_signal_reaches_its_children_in_other_sessions() -> None:
    async with running(spawn(own_session=True), scripted.hold()) as agent:
        child = (await hear(agent, "_test/spawned"))["pid"]
        agent.signal(signal.SIGKILL)
        await gone(agent)
        assert happens_within(30, lambda: not is_alive(child))


async def test_a_signal_reaches_each_process_once(monkeypatch: pytest.MonkeyPatch) -> None:
    beside = [spawn(own_session=False), spawn(own_session=True)]
    async with running(*beside, scripted.hold()) as agent:
        inside, outside = [(await hear(agent, "_test/spawned"))["pid"] for _ in beside]
        told: list[tuple[int, int]] = []
        with monkeypatch.context() as patch:
            patch.setattr(os, "killpg", lambda *to: told.append(to))
            patch.setattr(os, "kill", lambda *to: told.append(to))
            agent.signal(signal.SIGTERM)
        assert told == [(agent.pid, signal.SIGTERM), (outside, signal.SIGTERM)]
        assert os.getpgid(inside) == agent.pid


# -- what is said of it


async def test_its_end_is_told_with_status_and_last_words() -> None:
    words = [scripted.to_stderr(f"line {n}\n") for n in range(30)]
    async with running(*words, scripted.leave(3)) as agent:
        await agent.wait_exited()
        error = await agent.epitaph("closed its output")
    assert (error.why, error.status) == ("has ended", 3)
    assert error.stderr.splitlines() == [f"line {n}" for n in range(18, 30)]
    assert "the agent has ended (exit status 3)" in str(error)
    assert "line 29" in str(error)


async def test_a_signal_is_told_by_name() -> None:
    async with running(send(READY)) as agent:
        await hear(agent, "_test/ready")
        os.kill(agent.pid, signal.SIGSEGV)
        await agent.wait_exited()
        assert "signal SIGSEGV" in str(await agent.epitaph("closed its output"))


async def test_a_status_that_the_loop_was_not_told_of_yet_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process_module, "STATUS_GRACE", 0)
    async with running(send(READY)) as agent:
        await hear(agent, "_test/ready")
        told: Any = agent._transport
        later = partial(asyncio.get_running_loop().call_later, 0.1, told._process_exited)
        monkeypatch.setattr(told, "_process_exited", later)
        os.kill(agent.pid, signal.SIGSEGV)
        assert happens_within(30, lambda: not is_alive(agent.pid))
        assert "signal SIGSEGV" in str(await agent.epitaph("closed its output"))


async def test_one_that_lives_on_is_not_waited_for_long() -> None:
    async with running(scripted.close("stdout")) as agent:
        assert await agent.stdout.read() == b""
        begin = time.monotonic()
        error = await agent.epitaph("closed its output")
        assert time.monotonic() - begin < SOON
    assert (error.why, error.status) == ("closed its output", None)


async def test_fifty_megabytes_on_stderr_stop_nothing_and_the_last_words_are_kept() -> None:
    noise = "RAW WS MSG: " + "x" * 10_000 + "\n"
    steps = [scripted.to_stderr(noise, 5_000), scripted.to_stderr("the end\n"), send(READY)]
    async with running(*steps) as agent:
        await hear(agent, "_test/ready")
        tail = agent.stderr_tail()
    assert tail.endswith("\nthe end")
    assert len(tail) < 200_000


async def test_broken_letters_on_stderr_are_shown_as_such() -> None:
    program = (
        sys.executable,
        "-c",
        r"import os; os.write(2, b'\xff\xfe \xc3'); os.write(2, b'\xa4')",
    )
    async with AgentProcess(Launch("noisy", program), "/", Tape()) as agent:
        await agent.wait_exited()
        assert (await agent.epitaph("closed its output")).stderr == "\ufffd\ufffd ä"


# -- when the kernel cannot see to it

KERNEL = """
import asyncio, os, signal, sys
from agy_kernel.acp.process import AgentProcess, Launch
from agy_kernel.acp.tape import Tape

async def main(what, *argv):
    async with AgentProcess(Launch("scripted", argv), "/", Tape()) as agent:
        print(agent.pid, (await agent.stdout.readline()).decode(), flush=True)
        if what == "fork" and os.fork() == 0:
            signal.pause()
        if what == "exit":
            sys.stdin.readline()
            os._exit(0)
        await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


@contextmanager
def kernel(what: str, deaf: bool = False) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A kernel whose agent does not end with its stdin, nor does its child in another session."""
    agent = [ignore("EOF"), ignore("TERM")] if deaf else [ignore("EOF")]
    argv = command(*agent, spawn(own_session=True, deaf=deaf))
    process = subprocess.Popen(
        [sys.executable, "-c", KERNEL, what, *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        assert process.stdout is not None
        pid = int(process.stdout.readline().split()[0])
        assert len(agents_of(process.pid)) == 2
        try:
            yield process, pid
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def nothing_lives(kernel: int) -> bool:
    return not agents_of(kernel) | watchdogs_of(kernel)


@pytest.mark.parametrize("deaf", [False, True], ids=["hears TERM", "deaf"])
def test_a_killed_kernel_takes_its_agent_along(deaf: bool) -> None:
    with kernel("wait", deaf) as (process, _):
        process.kill()
        process.wait()
        assert happens_within(30, lambda: nothing_lives(process.pid))


def test_a_kernel_that_exits_without_a_word_takes_its_agent_along() -> None:
    with kernel("exit") as (process, _):
        process.communicate("now\n")
        assert happens_within(30, lambda: nothing_lives(process.pid))


def test_a_killed_kernel_takes_along_what_a_killed_agent_has_left() -> None:
    with kernel("wait") as (process, agent):
        process.send_signal(signal.SIGSTOP)  # so that it does not see to it itself
        os.kill(agent, signal.SIGKILL)
        process.kill()
        process.wait()
        assert happens_within(30, lambda: nothing_lives(process.pid))


def test_a_process_that_the_kernel_has_forked_does_not_keep_the_agent_alive() -> None:
    with kernel("fork") as (process, _):
        process.kill()
        process.wait()
        assert happens_within(30, lambda: nothing_lives(process.pid))
