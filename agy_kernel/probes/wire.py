"""One agent process, spoken to frame by frame: nothing is put right on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

from ..acp.fields import as_mapping, mapping, text
from ..acp.jsonrpc import Peer
from ..acp.process import AgentProcess, Launch
from ..acp.serving import MethodNotFound
from ..acp.watchdog import KILL
from ..errors import AgentError
from .recording import Recording
from .turns import CANCELLED, Allow, Answer, Request, Turn, blocks

MINIMAL = {
    "protocolVersion": 1,
    "clientCapabilities": {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    },
}
"""What a probe says of itself: the seed's posture for every probe (its plan, section 8)."""
MOST_FRAMES, MOST_BYTES = 200_000, 200_000_000
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}


class Wire:
    """A running agent; use as ``async with``.

    Args:
        launch: how to start it.
        cwd: the folder to start it in.
        recording: keeps all that passes.
    """

    def __init__(self, launch: Launch, cwd: str, recording: Recording) -> None:
        self._launch, self._cwd, self.recording = launch, cwd, recording
        self._resources = AsyncExitStack()
        self._process: AgentProcess
        self._peer: Peer
        self._turns: dict[str, Turn] = {}
        self.hello = Answer(None, 0)
        self.stray_lines: list[str] = []
        self.updates: dict[str, list[Mapping[str, Any]]] = {}
        self._news = asyncio.Event()

    async def __aenter__(self) -> Wire:
        try:
            self._process = await self._resources.enter_async_context(self._new_process())
            self._peer = await self._resources.enter_async_context(self._new_peer())
        except BaseException:
            await self._resources.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._resources.aclose()

    def _new_process(self) -> AgentProcess:
        env = {**UNBUFFERED, **self._launch.env}
        launch = Launch(self._launch.name, self._launch.argv, env)
        return AgentProcess(launch, self._cwd, self.recording)

    def _new_peer(self) -> Peer:
        return Peer(
            self._process.stdout,
            self._process.stdin,
            on_notification=self._notified,
            on_request=self._requested,
            on_lost=self._mourn,
            on_stray=self.stray_lines.append,
            gate=self._hold_out,
            tape=self.recording,
        )

    async def _hold_out(self, _: int) -> None:
        """End an agent that never stops: everything is kept, to be looked at."""
        if self._too_much():
            self._process.signal(KILL)

    async def _mourn(self, why: str) -> AgentError:
        if much := self._too_much():
            return AgentError(f"it was ended, having sent more than {much}")
        return await self._process.epitaph(why)

    def _too_much(self) -> str:
        """What there is too much of to be kept; empty where there is not."""
        if len(self.recording.frames) > MOST_FRAMES:
            return f"{MOST_FRAMES:,} frames"
        return f"{MOST_BYTES / 1e6:,g} MB" if self.recording.kept_bytes > MOST_BYTES else ""

    @property
    def alive(self) -> bool:
        """Whether anything can be sent."""
        return self._peer.alive and not self._process.is_dead

    @property
    def pid(self) -> int:
        """The agent's process id."""
        return self._process.pid

    @property
    def is_busy(self) -> bool:
        """Whether a prompt still waits for its answer."""
        return any(not turn.is_answered for turn in self._turns.values())

    async def kill(self) -> None:
        """End the process and all its descendants at once."""
        await self.recording.part_ends()
        self._process.signal(KILL)

    # -- what is sent

    async def greet(self, within: float, params: Mapping[str, Any] = MINIMAL) -> Answer:
        """Send ``initialize``; its answer is kept as ``hello``."""
        self.hello = await self.ask("initialize", params, within)
        return self.hello

    def request(self, method: Any, params: Any) -> Request:
        """Send a request, and go on; a method that is no string is sent all the same."""
        number, answered = self._peer.call(method, params)
        return Request(number, answered, self.recording)

    async def ask(self, method: Any, params: Any, within: float = 60.0) -> Answer:
        """Send a request and wait for its answer, for so many seconds.

        Raises:
            AgentError: the agent has ended.
        """
        return await self.request(method, params).answer(within)

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._peer.notify(method, params)

    def prompt(
        self,
        session_id: str,
        *parts: str | Mapping[str, Any],
        allow: Allow = lambda _: False,
        holds: bool = False,
    ) -> Turn:
        """Send a prompt, and go on.

        Args:
            session_id: where.
            parts: content blocks; a string stands for a text block.
            allow: which tool calls are allowed, once.
            holds: whether permission requests stay open.
        """
        params = {"sessionId": session_id, "prompt": blocks(*parts)}
        number, answered = self._peer.call("session/prompt", params)
        turn = Turn(number, answered, self.recording, session_id, allow, holds)
        self._turns[session_id] = turn
        return turn

    # -- what comes

    async def until(self, came: Callable[[], bool], within: float) -> bool:
        """Wait until the agent has told something; false where it has not, in time."""
        begins = self.recording.now()
        try:
            async with asyncio.timeout(within):
                while not came():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            await self.recording.caught_up(time=begins + within)
        return came()

    def _notified(self, method: str, params: Any) -> None:
        if method != "session/update":
            return
        session_id = text(as_mapping(params), "sessionId")
        update = mapping(as_mapping(params), "update")
        self.updates.setdefault(session_id, []).append(update)
        self._news.set()
        if session_id in self._turns:
            self._turns[session_id].take(update)

    def _requested(self, method: str, params: Any) -> Awaitable[Any]:
        return self._serve(method, as_mapping(params))

    async def _serve(self, method: str, params: Mapping[str, Any]) -> Any:
        if method != "session/request_permission":
            raise MethodNotFound(method)
        turn = self._turns.get(text(params, "sessionId"))
        return CANCELLED if turn is None else await turn.answer_permission(params)
