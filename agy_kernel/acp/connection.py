"""A running ACP agent, as the engine of a conversation: one method for each of the protocol's.

Advertised is only what is served: no file system, no terminals. The agent runs its own tools and
asks leave with ``session/request_permission``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from .. import __version__
from ..errors import (
    AgentError,
    AgentExited,
    AgentStartFailed,
    AuthenticationRequired,
    RequestFailed,
)
from ..events import (
    AgentInfo,
    Answer,
    Answered,
    Asked,
    AuthMethod,
    Capabilities,
    Choices,
    Event,
    Selector,
    SessionOpened,
    SessionState,
    TurnEnded,
    Usage,
)
from .jsonrpc import MethodNotFound, Peer
from .options import config_choices, session_state
from .process import AgentProcess, Launch
from .tape import Tape
from .updates import mapping, mappings, question, text, update_event
from .watchdog import KILL, TERM

PROTOCOL_VERSION = 1
AUTHENTICATION_REQUIRED = -32000
CLIENT = {"name": "agy-kernel", "title": "agy-kernel for Jupyter", "version": __version__}
CLIENT_CAPABILITIES = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
SESSION_TIMEOUT = 60.0
LOAD_TIMEOUT = 120.0


class Connection:
    """One agent process and the connection to it.

    Args:
        launch: how to start the agent.
        cwd: the folder that it is started in.
        on_event: called with session id and event, in wire order, on this loop.
        auth: the sign-in method to use when the agent requires one; None lets a method be used
            whose variables are all set, since that needs no person.
        start_timeout: seconds for the answer to ``initialize``.
        gate: awaited between reads, to hold a fast agent back.
        tape: records the wire.
    """

    def __init__(
        self,
        launch: Launch,
        cwd: str,
        on_event: Callable[[str, Event], None],
        *,
        auth: str | None = None,
        start_timeout: float = 120.0,
        gate: Callable[[], Awaitable[None]] | None = None,
        tape: Tape | None = None,
    ) -> None:
        self._launch, self._cwd, self._on_event = launch, cwd, on_event
        self._auth, self._start_timeout = auth, start_timeout
        self._gate, self._tape = gate, tape or Tape()
        self._resources = AsyncExitStack()
        self._process: AgentProcess
        self._peer: Peer | None = None
        self._lost: AgentError | None = None
        self._prompts: dict[str, int] = {}
        self._heard = asyncio.Event()
        self.info = AgentInfo()
        self.capabilities = Capabilities()
        self.auth_methods: tuple[AuthMethod, ...] = ()

    # -- life

    @property
    def alive(self) -> bool:
        """Whether requests can be sent."""
        return self._peer is not None and self._peer.alive

    @property
    def pid(self) -> int | None:
        """The agent's process id."""
        return self._process.pid if self._peer is not None else None

    async def start(self) -> None:
        """Start the agent and shake hands.

        Raises:
            AgentNotFound: there is no such program.
            AgentStartFailed: it did not answer in time, or speaks no version that we do.
            AgentExited: it ended before it answered.
        """
        try:
            self._process = await self._resources.enter_async_context(
                AgentProcess(self._launch, self._cwd, self._tape)
            )
            self._peer = await self._resources.enter_async_context(self._new_peer())
            await self._initialize()
        except BaseException:
            await self.close()
            raise

    def _new_peer(self) -> Peer:
        return Peer(
            self._process.stdout,
            self._process.stdin,
            on_notification=self._notified,
            on_request=self._requested,
            on_lost=self._mourn,
            gate=self._gate,
            tape=self._tape,
        )

    async def _initialize(self) -> None:
        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": CLIENT_CAPABILITIES,
            "clientInfo": CLIENT,
        }
        try:
            async with asyncio.timeout(self._start_timeout):
                result = await self._rpc.request("initialize", params)
        except TimeoutError:
            raise AgentStartFailed(self._silent()) from None
        result = result if isinstance(result, dict) else {}
        if (version := result.get("protocolVersion")) != PROTOCOL_VERSION:
            raise AgentStartFailed(
                f"{self._launch.name} speaks version {version!r} of the Agent Client Protocol, "
                f"and this kernel version {PROTOCOL_VERSION}. Update the older of the two."
            )
        self.info = _info(mapping(result, "agentInfo"), self._launch.name)
        self.capabilities = _capabilities(mapping(result, "agentCapabilities"))
        self.auth_methods = tuple(_auth_method(m) for m in mappings(result, "authMethods"))

    def _silent(self) -> str:
        stderr = self._process.stderr_tail().strip()
        return (
            f"{self._launch.name} was started, but did not answer within "
            f"{self._start_timeout:g} s. The command was: {' '.join(self._launch.argv)}\n"
            "Is that an agent that speaks ACP on its standard input and output? "
            "AGY_START_TIMEOUT gives it more seconds."
            + (f"\nIts last words on stderr:\n{stderr}" if stderr else "")
        )

    async def _mourn(self, why: str) -> AgentError:
        self._lost = await self._process.epitaph(why)
        return self._lost

    async def wait_lost(self) -> AgentError:
        """Wait until the connection has ended."""
        await self._rpc.wait_lost()
        return self._lost or AgentExited("has ended")

    def terminate(self) -> None:
        """Send TERM to the agent and all its descendants."""
        self._process.signal(TERM)

    def kill(self) -> None:
        """Send KILL to the agent and all its descendants."""
        self._process.signal(KILL)

    async def close(self) -> None:
        """End the agent politely, and whatever it started."""
        await self._resources.aclose()

    @property
    def _rpc(self) -> Peer:
        assert self._peer is not None, "start() comes first"
        return self._peer

    # -- sessions

    async def new_session(self, cwd: str) -> SessionState:
        """Open a session in ``cwd``, signing in where that needs no person.

        Raises:
            AuthenticationRequired: a person has to sign in first; says how.
            RequestFailed: the agent refuses.
        """
        return await self._signed_in(lambda: self._open("session/new", {"cwd": cwd}))

    async def load_session(self, session_id: str, cwd: str) -> SessionState:
        """Open an earlier session; its history comes as events before it opens.

        Raises:
            AuthenticationRequired: as for a new one.
            RequestFailed: the agent does not know it, or cannot load.
        """
        params = {"cwd": cwd, "sessionId": session_id}
        return await self._signed_in(lambda: self._open("session/load", params))

    async def _open(self, method: str, params: dict[str, Any]) -> SessionState:
        opened: list[SessionState] = []

        def on_result(result: Any) -> None:
            # A loaded session's result has no id of its own (acp-v1.md, 1.3).
            told = text(result, "sessionId") if isinstance(result, dict) else ""
            state = session_state(told or params.get("sessionId", ""), result)
            if state.id:
                opened.append(state)
                self._on_event(state.id, SessionOpened(state))

        _, answer = self._rpc.call(method, {**params, "mcpServers": []}, on_result)
        await self._answered(answer, LOAD_TIMEOUT if "sessionId" in params else SESSION_TIMEOUT)
        if not opened:
            raise RequestFailed(-32603, f"{method} was answered without a session id")
        return opened[0]

    async def _answered(self, answer: asyncio.Future[Any], silence: float) -> Any:
        """Wait for an answer for as long as the agent says anything at all."""
        while not answer.done():
            self._heard.clear()
            heard = asyncio.create_task(self._heard.wait(), name="acp heard")
            done, _ = await asyncio.wait(
                (answer, heard), timeout=silence, return_when=asyncio.FIRST_COMPLETED
            )
            heard.cancel()
            if not done:
                raise RequestFailed(-32603, f"no answer, and not a word in {silence:g} s")
        return answer.result()

    async def close_session(self, session_id: str) -> None:
        """Close a session; the agent must stop what runs in it."""
        await self._rpc.request("session/close", {"sessionId": session_id})

    async def choose(
        self, session_id: str, what: Selector, choices: Choices, value: str
    ) -> Choices:
        """Choose a model or a mode.

        Args:
            what: ``model`` or ``mode``.
            choices: as last known; they say by which method the choice is made.
            value: id of the choice.
        """
        session: dict[str, Any] = {"sessionId": session_id}
        if choices.option_id is None:
            await self._rpc.request(f"session/set_{what}", {**session, f"{what}Id": value})
            return Choices(value, choices.available)
        params = {**session, "configId": choices.option_id, "value": value}
        result = await self._rpc.request("session/set_config_option", params)
        # The specification answers {configOptions: [...]}, Antigravity RC01 the bare list.
        options = result if isinstance(result, list) else list(mappings(result, "configOptions"))
        told = config_choices([o for o in options if isinstance(o, dict)], what)
        return told or Choices(value, choices.available, choices.option_id)

    # -- signing in

    async def _signed_in(self, attempt: Callable[[], Awaitable[SessionState]]) -> SessionState:
        try:
            return await attempt()
        except RequestFailed as error:
            if error.code != AUTHENTICATION_REQUIRED:
                raise
            if (method := self._usable_method()) is None:
                raise AuthenticationRequired(self._how_to_sign_in(error)) from None
        try:
            await self._rpc.request("authenticate", {"methodId": method})
            return await attempt()
        except RequestFailed as error:
            raise AuthenticationRequired(self._how_to_sign_in(error)) from None

    def _usable_method(self) -> str | None:
        if self._auth:
            return self._auth
        env = {**os.environ, **self._launch.env}
        for method in self.auth_methods:
            needed = self._launch.auth.get(method.id, method.variables)
            if needed and all(env.get(name) for name in needed):
                return method.id
        return None

    def _how_to_sign_in(self, error: RequestFailed) -> str:
        lines = [f"{self.info.label} wants you to sign in first. It says: {error}"]
        lines += ["It offers:"] if self.auth_methods else []
        for method in self.auth_methods:
            names = self._launch.auth.get(method.id, method.variables)
            needs = f" Needs {', '.join(names)} in the environment." if names else ""
            lines.append(f"  {method.id}: {method.name}. {method.description}{needs}".rstrip())
        lines.append(
            "Sign in with the agent's own program, or set what a method needs and restart the "
            "kernel; AGY_AUTH=<method> chooses one. Then run the cell again."
        )
        return "\n".join(lines)

    # -- turns

    async def prompt(self, session_id: str, blocks: Sequence[dict[str, Any]]) -> None:
        """Send a prompt and wait for its answer; ``TurnEnded`` is told in wire order.

        Raises:
            RequestFailed: the agent answered with an error.
            AgentExited: the agent ended first.
        """
        request_id, answer = self._rpc.call(
            "session/prompt",
            {"sessionId": session_id, "prompt": list(blocks)},
            lambda result: self._on_event(session_id, _turn_ended(result)),
        )
        self._prompts[session_id] = request_id
        try:
            await answer
        finally:
            self._prompts.pop(session_id, None)

    def cancel(self, session_id: str) -> None:
        """Send ``session/cancel``, a notification: with an id, agents answer -32601."""
        self._rpc.notify("session/cancel", {"sessionId": session_id})

    def cancel_request(self, session_id: str) -> None:
        """Send ``$/cancel_request`` for the running prompt."""
        if (request_id := self._prompts.get(session_id)) is not None:
            self._rpc.notify("$/cancel_request", {"requestId": request_id})

    # -- what the agent sends

    def _notified(self, method: str, params: Any) -> None:
        self._heard.set()
        if method == "session/update" and isinstance(params, dict):
            update = mapping(params, "update")
            self._on_event(text(params, "sessionId"), update_event(update))

    async def _requested(self, method: str, params: Any) -> Any:
        self._heard.set()
        if method != "session/request_permission" or not isinstance(params, dict):
            raise MethodNotFound(method)
        return {"outcome": await self._ask(params)}

    async def _ask(self, params: Mapping[str, Any]) -> dict[str, str]:
        session_id, asked = text(params, "sessionId"), question(params)
        self._on_event(session_id, Asked(asked))
        try:
            answer = await asyncio.shield(asyncio.wrap_future(asked.reply))
        except asyncio.CancelledError:
            withdrawn = Answer(None, by="agent", why="The agent does not wait for it any more.")
            asked.answer(withdrawn)
            self._on_event(session_id, Answered(asked, withdrawn))
            raise
        self._on_event(session_id, Answered(asked, answer))
        if answer.option is None:
            return {"outcome": "cancelled"}
        return {"outcome": "selected", "optionId": answer.option.id}


def _turn_ended(result: Any) -> TurnEnded:
    result = result if isinstance(result, dict) else {}
    usage = mapping(result, "usage")
    counts = [usage.get(key) for key in ("inputTokens", "outputTokens", "totalTokens")]
    known = [c if isinstance(c, int) else None for c in counts]
    return TurnEnded(text(result, "stopReason") or "unknown", Usage(*known) if usage else None)


def _info(raw: Mapping[str, Any], fallback: str) -> AgentInfo:
    return AgentInfo(text(raw, "name") or fallback, text(raw, "title"), text(raw, "version"))


def _capabilities(raw: Mapping[str, Any]) -> Capabilities:
    prompt = mapping(raw, "promptCapabilities")
    return Capabilities(
        load_session=raw.get("loadSession") is True,
        image=prompt.get("image") is True,
        audio=prompt.get("audio") is True,
        embedded_context=prompt.get("embeddedContext") is True,
    )


def _auth_method(raw: Mapping[str, Any]) -> AuthMethod:
    method_id = text(raw, "id")
    return AuthMethod(
        method_id,
        text(raw, "name") or method_id,
        text(raw, "description"),
        tuple(text(v, "name") for v in mappings(raw, "vars") if v.get("optional") is not True),
    )
