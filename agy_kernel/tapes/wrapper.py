"""Between any ACP client and its agent: all bytes pass through as they are, and are recorded."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from ..acp.decoding import decode
from ..acp.framing import FrameSplitter, Line, Torn
from ..acp.process import AgentProcess, Launch
from ..acp.stdio import READ_SIZE, Stdin, Stdout
from ..acp.tape import Tape

STDERR = 2
PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
LAST_WORDS = 1.0  # seconds for what an agent wrote before it ended, should others hold its pipe


class _Through(Tape):
    """A tape that passes stderr on."""

    def stderr(self, line: bytes) -> None:
        super().stderr(line)
        rest = memoryview(line)
        with contextlib.suppress(OSError):  # nobody reads it
            while rest:
                rest = rest[os.write(STDERR, rest) :]


def record(command: Sequence[str], path: Path) -> int:
    """Run an agent on this program's own streams and record both directions.

    Args:
        command: program and arguments.
        path: the tape.

    Returns:
        The agent's exit status; negative for a signal.

    Raises:
        AgentError: it cannot be started.
        SettingsError: the tape cannot be written.
    """
    return asyncio.run(_record(command, path))


async def _record(command: Sequence[str], path: Path) -> int:
    tape = _Through(path)
    # All of the environment: what is kept from a kernel's agents this client may want to give.
    launch = Launch(command[0], tuple(command), dict(os.environ))
    try:
        async with AgentProcess(launch, str(Path.cwd()), tape) as agent:
            _pass_signals_on(agent)
            return await _pass_all_through(agent, tape)
    finally:
        tape.close()


def _pass_signals_on(agent: AgentProcess) -> None:
    loop = asyncio.get_running_loop()
    for name in PASSED_ON:
        with contextlib.suppress(NotImplementedError, AttributeError):  # not on this platform
            number = getattr(signal, name)
            loop.add_signal_handler(number, agent.signal, number)


async def _pass_all_through(agent: AgentProcess, tape: Tape) -> int:
    out = asyncio.create_task(_outward(agent, tape), name="to the client")
    into = asyncio.create_task(_inward(agent, tape), name="to the agent")
    await agent.wait_exited()
    await asyncio.wait((out,), timeout=LAST_WORDS)
    for task in (out, into):
        task.cancel()
    await asyncio.gather(out, into, return_exceptions=True)
    status = agent.exit_status
    assert status is not None
    return status


async def _inward(agent: AgentProcess, tape: Tape) -> None:
    stdin, frames = Stdin(), FrameSplitter()
    while data := await stdin.read(READ_SIZE):
        _note(frames.feed(data), tape.sent)
        agent.stdin.write(data)
    _note([frames.rest()], tape.sent)
    agent.close_stdin()


async def _outward(agent: AgentProcess, tape: Tape) -> None:
    stdout, frames = Stdout(), FrameSplitter()
    while data := await agent.stdout.read(READ_SIZE):
        # First, so that no reply can come before it on the tape.
        _note(frames.feed(data), tape.received)
        # In a thread: a client that does not read now may still write.
        await asyncio.to_thread(stdout.write, data)
    _note([frames.rest()], tape.received)


def _note(lines: Sequence[Line], record: Callable[[bytes, bool], None]) -> None:
    for line in lines:
        if isinstance(line, Torn):
            record(line.head + b" (a line longer than the limit)", False)
        elif line.strip():
            record(line, _is_json(line))


def _is_json(line: bytes) -> bool:
    try:
        return decode(line)[1]
    except ValueError:
        return False
