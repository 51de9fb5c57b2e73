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
    exit_status,
)
from ..events import (
    AgentInfo,
    Answer,
    Asked,
    AuthMethod,
    Capabilities,
    Choices,
    Event,
    Notice,
    Question,
    Selector,
    SessionOpened,
    SessionState,
)
from .fields import as_mapping, mapping, mappings, text
from .jsonrpc import INTERNAL_ERROR, MethodNotFound, Peer
from .options import config_choices, session_state
from .process import AgentProcess, Launch
from .results import agent_info, auth_methods, capabilities, turn_ended
from .signin import SignIn, wants_sign_in
from .tape import Tape
from .updates import question, update_event
from .watchdog import KILL, TERM

PROTOCOL_VERSION = 1
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
        self._start_timeout = start_timeout
        self._gate, self._tape = gate, tape or Tape()
        self._resources = AsyncExitStack()
        self._process: AgentProcess
        self._peer: Peer | None = None
        self._lost: AgentError | None = None
        self._prompts: dict[str, int] = {}
        self._sign_in = SignIn((), launch.auth, auth)
        self._on_word: Callable[[], None] = _nothing
        self.info = AgentInfo()
        self.capabilities = Capabilities()

    # -- life

    @property
    def alive(self) -> bool:
        """Whether requests can be sent."""
        return self._peer is not None and self._peer.alive

    @property
    def pid(self) -> int | None:
        """The agent's process id."""
        return self._process.pid if self._peer is not None else None

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        """How one can sign in."""
        return self._sign_in.methods

    async def start(self) -> None:
        """Start the agent and shake hands.

        Raises:
            AgentNotFound: there is no such program.
            AgentStartFailed: it ended or kept silent, refused, or speaks no version that we do.
        """
        try:
            self._process = await self._resources.enter_async_context(
                AgentProcess(self._launch, self._cwd, self._tape)
            )
            self._peer = await self._resources.enter_async_context(self._new_peer())
            self._understand(as_mapping(await self._initialize()))
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
            on_skipped=self._skipped,
            gate=self._gate,
            tape=self._tape,
        )

    async def _initialize(self) -> Any:
        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": CLIENT_CAPABILITIES,
            "clientInfo": CLIENT,
        }
        name = self._launch.name
        try:
            async with asyncio.timeout(self._start_timeout):
                return await self._rpc.request("initialize", params)
        except TimeoutError:
            what = f"was started, but did not answer within {self._start_timeout:g} s"
            raise self._start_failed(
                f"{name} {what}. AGY_START_TIMEOUT gives it more seconds."
            ) from None
        except AgentExited as error:
            status = "" if error.status is None else f" ({exit_status(error.status)})"
            raise self._start_failed(
                f"{name} {error.why}{status} before it answered anything."
            ) from None
        except RequestFailed as error:
            raise self._start_failed(f"{name} refused to begin: {error}.") from None

    def _start_failed(self, what: str) -> AgentStartFailed:
        lines = [f"{what} The command was: {' '.join(self._launch.argv)}"]
        lines.append("Is that an agent that speaks ACP on its standard input and output?")
        for name, words in (
            ("stdout", "\n".join(self._rpc.strays)),
            ("stderr", self._process.stderr_tail()),
        ):
            lines += [f"Its last words on {name}:\n{words.strip()}"] if words.strip() else []
        return AgentStartFailed("\n".join(lines))

    def _understand(self, hello: Mapping[str, Any]) -> None:
        if (version := hello.get("protocolVersion")) != PROTOCOL_VERSION:
            raise AgentStartFailed(
                f"{self._launch.name} speaks version {version!r} of the Agent Client Protocol, "
                f"and this kernel version {PROTOCOL_VERSION}. Update the older of the two."
            )
        self.info = agent_info(hello, self._launch.name)
        self.capabilities = capabilities(hello)
        self._sign_in = SignIn(auth_methods(hello), self._launch.auth, self._sign_in.chosen)

    async def _mourn(self, why: str) -> AgentError:
        self._lost = await self._process.epitaph(why)
        return self._lost

    async def wait_lost(self) -> AgentError:
        """Wait until the connection has ended."""
        await self._rpc.wait_lost()
        return self._lost or AgentExited("was closed")

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
        return await self._signed_in("session/new", {"cwd": cwd}, SESSION_TIMEOUT)

    async def load_session(self, session_id: str, cwd: str) -> SessionState:
        """Open an earlier session; its history comes as events before it opens.

        Raises:
            AuthenticationRequired: as for a new one.
            RequestFailed: the agent does not know it, or cannot load.
        """
        params = {"cwd": cwd, "sessionId": session_id}
        return await self._signed_in("session/load", params, LOAD_TIMEOUT)

    async def _signed_in(
        self, method: str, params: Mapping[str, Any], silence: float
    ) -> SessionState:
        try:
            return await self._open(method, params, silence)
        except RequestFailed as error:
            if not wants_sign_in(error):
                raise
            await self._authenticate(error)
        try:
            return await self._open(method, params, silence)
        except RequestFailed as error:
            raise self._signed_out(error) if wants_sign_in(error) else error from None

    async def _authenticate(self, wanted: RequestFailed) -> None:
        method = self._sign_in.method({**os.environ, **self._launch.env})
        if method is None:
            raise self._signed_out(wanted) from None
        try:
            await self._rpc.request("authenticate", {"methodId": method})
        except RequestFailed as error:
            raise self._signed_out(error) from None

    def _signed_out(self, error: RequestFailed) -> AuthenticationRequired:
        return AuthenticationRequired(self._sign_in.advice(self.info.label, error))

    async def _open(self, method: str, params: Mapping[str, Any], silence: float) -> SessionState:
        opened: list[SessionState] = []

        def on_result(result: Any) -> None:
            # A loaded session's result has no id of its own (acp-v1.md, 1.3).
            session_id = text(as_mapping(result), "sessionId") or text(params, "sessionId")
            if session_id:
                opened.append(session_state(session_id, result))
                self._on_event(session_id, SessionOpened(opened[0]))

        _, answer = self._rpc.call(method, {**params, "mcpServers": []}, on_result)
        await self._answered(answer, silence)
        if not opened:
            raise RequestFailed(INTERNAL_ERROR, f"{method} was answered without a session id")
        return opened[0]

    async def _answered(self, answer: asyncio.Future[Any], silence: float) -> None:
        """Wait for an answer for as long as the agent says anything at all."""
        clock = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(silence) as patience:
                self._on_word = lambda: patience.reschedule(clock() + silence)
                await answer
        except TimeoutError:
            said = f"no answer, and not a word in {silence:g} s"
            raise RequestFailed(INTERNAL_ERROR, said) from None
        finally:
            self._on_word = _nothing

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
        told = {"configOptions": result} if isinstance(result, list) else as_mapping(result)
        now = config_choices(mappings(told, "configOptions"), what)
        return now or Choices(value, choices.available, choices.option_id)

    # -- turns

    async def prompt(self, session_id: str, blocks: Sequence[dict[str, Any]]) -> None:
        """Send a prompt and wait for its answer; ``TurnEnded`` is told in wire order.

        Raises:
            AuthenticationRequired: the sign-in has run out.
            RequestFailed: the agent answered with an error.
            AgentExited: the agent ended first.
        """
        request_id, answer = self._rpc.call(
            "session/prompt",
            {"sessionId": session_id, "prompt": list(blocks)},
            lambda result: self._on_event(session_id, turn_ended(result)),
        )
        self._prompts[session_id] = request_id
        try:
            await answer
        except RequestFailed as error:
            raise self._signed_out(error) if wants_sign_in(error) else error from None
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
        self._on_word()
        if method == "session/update" and isinstance(params, dict):
            update = mapping(params, "update")
            self._on_event(text(params, "sessionId"), update_event(update))

    def _skipped(self, limit: int) -> None:
        words = f"The agent sent a line of more than {limit:,} bytes. It was passed over."
        for session_id in self._prompts:
            self._on_event(session_id, Notice(words, "warning"))

    def _requested(self, method: str, params: Any) -> Awaitable[Any]:
        self._on_word()
        if method != "session/request_permission" or not isinstance(params, dict):
            raise MethodNotFound(method)
        asked = question(params)
        self._on_event(text(params, "sessionId"), Asked(asked))
        return self._outcome(asked)

    async def _outcome(self, asked: Question) -> dict[str, Any]:
        try:
            answer = await asyncio.shield(asyncio.wrap_future(asked.reply))
        except asyncio.CancelledError:
            asked.answer(Answer(None, by="agent", why="The agent does not wait for it any more."))
            raise
        if answer.option is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": answer.option.id}}


def _nothing() -> None:
    """Nobody waits for a word of the agent."""
