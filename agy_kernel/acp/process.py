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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import AgentExited, AgentNotFound, AgentStartFailed
from . import watchdog
from .jsonrpc import Writer
from .masks import masked
from .pipes import Pipes
from .programs import fault
from .tape import CLOSED, EXIT, Tape

TAIL_LINES, TAIL_CHARS = 12, 400
LONGEST_LINE = 16_000  # bytes, of a line that is looked at
STDIN_GRACE, TERM_GRACE, KILL_GRACE = 0.4, 0.9, 0.2  # seconds
KILLS = 5
STATUS_GRACE, STDERR_GRACE = 0.9, 0.1  # seconds


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start an agent.

    Args:
        name: what to call it.
        argv: program and arguments.
        env: variables to add to the kernel's own environment.
        auth: sign-in methods that need no person, each with the variables that it needs.
        sign_in: how a person signs in, where the agent does not tell.
        hint: says from an exit status (None while it runs) and its last words what the agent has
            died of and what to do; empty where it does not know.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    auth: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sign_in: str = ""
    hint: Callable[[int | None, str], str] = lambda _status, _words: ""


class AgentProcess:
    """A running agent; use as ``async with``.

    Args:
        launch: how to start it.
        cwd: the folder to start it in.
        tape: records what it writes to stderr.
        on_stderr: called with each line of that.
    """

    def __init__(
        self,
        launch: Launch,
        cwd: str,
        tape: Tape,
        on_stderr: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._launch, self._cwd, self._tape = launch, cwd, tape
        self._on_stderr = on_stderr
        self._mark = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._transport: asyncio.SubprocessTransport
        self._pipes: Pipes
        self._watchdog: asyncio.subprocess.Process | None = None
        self._is_told_to_end = self._is_noted = False

    async def __aenter__(self) -> AgentProcess:
        self._transport, self._pipes = await self._spawn()
        try:
            await self._start_watchdog()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _spawn(self) -> tuple[asyncio.SubprocessTransport, Pipes]:
        self._tape.begins(self._launch.name, self._launch.argv)
        try:
            return await asyncio.get_running_loop().subprocess_exec(
                lambda: Pipes(self._heard_on_stderr),
                *self._launch.argv,
                env=agent_environment(os.environ, self._launch.env, self._mark),
                cwd=self._cwd,
                start_new_session=True,
            )
        except OSError as error:
            raise self._cannot_start(error) from None

    def _heard_on_stderr(self, line: bytes) -> None:
        self._tape.stderr(line)
        self._on_stderr(line[:LONGEST_LINE].decode("utf-8", "replace"))

    def _cannot_start(self, error: OSError) -> AgentNotFound | AgentStartFailed:
        program = self._launch.argv[0]
        if not Path(self._cwd).is_dir():
            said = f"the folder {self._cwd} does not exist, so no agent can be started in it."
            return AgentNotFound(said)
        wrong = fault(program)
        if isinstance(error, FileNotFoundError) and wrong in ("", "does not exist"):
            return AgentNotFound(
                f"there is no program {program!r} to start {self._launch.name} with. Install it, "
                "or choose another agent with AGY_AGENT (AGY_AGENT=simulator needs none)."
            )
        hint = f"{program} {wrong}." if wrong else ""
        said = f"{program} cannot be started: {error.strerror}."
        return AgentStartFailed(f"{hint}\n{said}" if hint else said)

    @property
    def pid(self) -> int:
        """The agent's process id, which is its group's and its session's too."""
        return self._transport.get_pid()

    @property
    def stdin(self) -> Writer:
        """Where the agent listens; counts as closed when the agent has ended."""
        return self._pipes

    @property
    def stdout(self) -> asyncio.StreamReader:
        """Where the agent speaks."""
        return self._pipes.stdout

    @property
    def exit_status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._transport.get_returncode()

    @property
    def is_dead(self) -> bool:
        """Whether it has ended, which the loop may be told a moment later."""
        if self.exit_status is not None:
            return True
        if sys.platform != "linux":
            return False
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    async def wait_exited(self) -> None:
        """Wait until the process has ended; its descendants may live on."""
        await self._pipes.exited.wait()

    def close_stdin(self) -> None:
        """Tell the agent that no more comes, when all that was written has gone out."""
        self._is_told_to_end = True
        self._pipes.close_stdin()

    def stderr_tail(self) -> str:
        """The last lines of stderr, of a very long one its end; codes of a sign-in are left out."""
        lines = masked(self._pipes.stderr_tail().decode("utf-8", "replace")).splitlines()
        cut = (f"…{x[-TAIL_CHARS:]}" if len(x) > TAIL_CHARS else x for x in lines[-TAIL_LINES:])
        return "\n".join(cut)

    def signal(self, number: int) -> None:
        """Send a signal to the agent and all its descendants."""
        self._is_told_to_end = True
        watchdog.signal_all(self.pid, self._mark, number)

    async def epitaph(self, why: str) -> AgentExited:
        """Say how the agent ended, waiting a second at most for its exit status."""
        await _happens_within(STATUS_GRACE, self._pipes.exited)
        if self.is_dead:  # and the loop is about to be told
            await self.wait_exited()
        # A descendant that holds stderr open has no last words of the agent.
        await _happens_within(STDERR_GRACE, self._pipes.stderr_ended)
        if self.exit_status is not None:
            why = "has ended"
            self._note_end()
        status, words = self.exit_status, self.stderr_tail()
        return AgentExited(why, status, words, self._launch.hint(status, words))

    async def stop(self) -> None:
        """End the agent and its descendants: close its stdin, then TERM, then KILL."""
        self._note_end()
        self._pipes.close_stdin()
        self._pipes.discard_output()
        await _happens_within(STDIN_GRACE, self._pipes.exited)
        if self._is_left():
            self.signal(watchdog.TERM)
            await self._gone_within(TERM_GRACE)
        # More than once: a process that was just being forked is missed by the first.
        for _ in range(KILLS):
            if not self._is_left():
                break
            self.signal(watchdog.KILL)
            await self._gone_within(KILL_GRACE)
        await _happens_within(KILL_GRACE, self._pipes.exited)
        self._pipes.close()
        await _happens_within(KILL_GRACE, self._pipes.closed)
        await self._stop_watchdog()

    def _note_end(self) -> None:
        """Note once on the tape who has ended the agent: it, or we."""
        if self._is_noted:
            return
        self._is_noted = True
        if self.exit_status is not None and not self._is_told_to_end:
            self._tape.note(EXIT, self.exit_status)
        else:
            self._tape.note(CLOSED, True)

    def _is_left(self) -> bool:
        return watchdog.alive(self.pid, self._mark)

    async def _gone_within(self, seconds: float) -> None:
        # There is no event for the end of a process that is not our child.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._is_left():  # noqa: ASYNC110
                    await asyncio.sleep(0.02)

    # A kernel that is killed cannot clean up; its watchdog notices and does.

    async def _start_watchdog(self) -> None:
        if os.name != "posix":
            return
        self._watchdog = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-S", watchdog.__file__, str(self.pid), self._mark, str(os.getpid())),
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


async def _happens_within(seconds: float, event: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def agent_environment(
    own: Mapping[str, str], extra: Mapping[str, str], mark: str
) -> dict[str, str]:
    """The kernel's environment less Jupyter's own tokens, plus what the agent needs."""
    private = ("JPY_", "JUPYTERHUB_", "JUPYTER_TOKEN")
    kept = {k: v for k, v in own.items() if not k.startswith(private)}
    return kept | dict(extra) | {watchdog.MARK_VARIABLE: mark}
