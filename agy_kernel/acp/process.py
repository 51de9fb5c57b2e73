"""The agent's process: started apart from the kernel, watched, and ended politely.

The agent leads a session of its own, because Jupyter interrupts a kernel by sending SIGINT to the
kernel's whole process group. Its descendants are found by that group and, on Linux, by a mark in
their environment, which also finds those that made a session of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import AgentExited, AgentNotFound, AgentStartFailed
from . import watchdog
from .tape import Tape

STREAM_LIMIT = 4 * 1024 * 1024
STDERR_BYTES = 64 * 1024
TAIL_LINES = 12
STDIN_GRACE, TERM_GRACE = 0.4, 0.9  # seconds


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start an agent.

    Args:
        name: what to call it.
        argv: program and arguments.
        env: variables to add to the kernel's own environment.
        auth: sign-in methods that need no person, each with the variables that it needs.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    auth: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class AgentProcess:
    """A running agent; use as ``async with``.

    Args:
        launch: how to start it.
        cwd: the folder to start it in.
        tape: records what it writes to stderr.
    """

    def __init__(self, launch: Launch, cwd: str, tape: Tape) -> None:
        self._launch, self._cwd, self._tape = launch, cwd, tape
        self._mark = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._stderr: deque[bytes] = deque()
        self._process: asyncio.subprocess.Process
        self._watchdog: asyncio.subprocess.Process | None = None
        self._stderr_task: asyncio.Task[None]

    async def __aenter__(self) -> AgentProcess:
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._launch.argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=agent_environment(os.environ, self._launch.env, self._mark),
                cwd=self._cwd,
                limit=STREAM_LIMIT,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise AgentNotFound(self._not_found()) from None
        except OSError as error:
            raise AgentStartFailed(
                f"{self._launch.argv[0]} cannot be started: {error.strerror}."
            ) from None
        self._stderr_task = asyncio.create_task(self._drain_stderr(), name="agent stderr")
        await self._start_watchdog()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def _not_found(self) -> str:
        if not Path(self._cwd).is_dir():
            return f"the folder {self._cwd} does not exist, so no agent can be started in it."
        return (
            f"there is no program {self._launch.argv[0]!r} to start {self._launch.name} with. "
            "Install it, or choose another agent with AGY_AGENT (AGY_AGENT=simulator needs none)."
        )

    @property
    def pid(self) -> int:
        """The agent's process id, which is its group's and its session's too."""
        return self._process.pid

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """Where the agent listens."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> asyncio.StreamReader:
        """Where the agent speaks."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def exit_status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._process.returncode

    def stderr_tail(self) -> str:
        """The last lines of stderr."""
        text = b"".join(self._stderr).decode("utf-8", "replace")
        return "\n".join(text.splitlines()[-TAIL_LINES:])

    def signal(self, number: int) -> None:
        """Send a signal to the agent and all its descendants."""
        watchdog.signal_all(self.pid, self._mark, number)

    async def epitaph(self, why: str, wait: float = 1.0) -> AgentExited:
        """Say how the agent ended, waiting up to ``wait`` seconds for its exit status."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._process.wait()
                await self._stderr_task
        if self.exit_status is not None:
            why = "has ended"
        return AgentExited(why, self.exit_status, self.stderr_tail())

    async def stop(self) -> None:
        """End the agent and its descendants: close its stdin, then TERM, then KILL."""
        self.stdin.close()
        await self._exits_within(STDIN_GRACE)
        for number, grace in ((watchdog.TERM, TERM_GRACE), (watchdog.KILL, 1.0)):
            if not watchdog.alive(self.pid, self._mark):
                break
            self.signal(number)
            await self._all_gone_within(grace)
        await self._process.wait()
        self._stderr_task.cancel()
        await asyncio.gather(self._stderr_task, return_exceptions=True)
        await self._stop_watchdog()

    async def _exits_within(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process.wait()

    async def _all_gone_within(self, seconds: float) -> None:
        # There is no event for the end of a process that is not our child.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while watchdog.alive(self.pid, self._mark):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)

    async def _drain_stderr(self) -> None:
        assert self._process.stderr is not None
        kept = 0
        while data := await self._process.stderr.read(1 << 16):
            self._tape.stderr(data)
            self._stderr.append(data[-STDERR_BYTES:])
            kept += len(self._stderr[-1])
            while kept > STDERR_BYTES and len(self._stderr) > 1:
                kept -= len(self._stderr.popleft())

    # A kernel that is killed cannot clean up; its watchdog notices and does.

    async def _start_watchdog(self) -> None:
        if os.name != "posix":
            return
        self._watchdog = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-S", watchdog.__file__, str(self.pid), self._mark),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )

    async def _stop_watchdog(self) -> None:
        if self._watchdog is None:
            return
        assert self._watchdog.stdin is not None
        with contextlib.suppress(OSError):
            self._watchdog.stdin.write(b"done\n")
            self._watchdog.stdin.close()
        await self._watchdog.wait()


def agent_environment(
    own: Mapping[str, str], extra: Mapping[str, str], mark: str
) -> dict[str, str]:
    """The kernel's environment less Jupyter's own tokens, plus what the agent needs."""
    private = ("JPY_", "JUPYTERHUB_", "JUPYTER_TOKEN")
    kept = {k: v for k, v in own.items() if not k.startswith(private)}
    return kept | dict(extra) | {watchdog.MARK_VARIABLE: mark}
