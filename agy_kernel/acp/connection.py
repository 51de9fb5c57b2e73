"""A running ACP agent, as the engine of a conversation: one method for each of the protocol's.

The agent runs its own tools, and asks leave with ``session/request_permission``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, Literal

from ..abilities import (
    AgentInfo,
    AuthMethod,
    Capabilities,
)
from ..errors import (
    AgentError,
    AgentExited,
    AgentStartFailed,
    AuthenticationRequired,
    RequestFailed,
    exit_status,
)
from ..events import (
    Choices,
    Event,
    LinkVisited,
    Notice,
    SessionInfo,
    SessionState,
)
from ..mcp import McpServer
from .asking import Asker
from .browser import Browser
from .fields import as_mapping, mapping, text
from .handshake import HELLO, check_version, start_failed
from .jsonrpc import Peer
from .login import Login
from .process import AgentProcess, Launch
from .results import agent_info, auth_methods, capabilities, turn_ended
from .sessions import Sessions
from .signin import SignIn, terminal_command, wants_sign_in
from .tape import Tape
from .updates import update_event
from .watchdog import KILL, TERM

# Antigravity's server is a Python program, and its line about signing in may go to stdout.
UNBUFFERED = {"PYTHONUNBUFFERED": "1"}
Opening = Literal["new", "load", "resume", "fork"]


class Connection:
    """One agent process and the connection to it.

    Args:
        launch: how to start the agent.
        cwd: the folder that it is started in.
        on_event: called with session id and event, in wire order, on this loop.
        auth: the sign-in method to use when the agent requires one; None lets a method be used
            whose variables are all set, since that needs no person.
        start_timeout: seconds for the answer to ``initialize``.
        servers: the MCP servers that each session gets, by name.
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
        servers: Mapping[str, McpServer] | None = None,
        gate: Callable[[int], Awaitable[None]] | None = None,
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
        self._asker = Asker(on_event, self._prompts)
        self._sign_in = SignIn((), launch.auth, auth, launch.sign_in)
        self._login = Login(self._asker.put, on_event, self._signed_out)
        self._servers = servers or {}
        self._session_methods: Sessions | None = None
        self.info = AgentInfo()
        self.capabilities = Capabilities()

    # -- life

    @property
    def alive(self) -> bool:
        """Whether requests can be sent."""
        return self._peer is not None and self._peer.alive and not self._process.is_dead

    @property
    def pid(self) -> int | None:
        """The agent's process id."""
        return self._process.pid if self._peer is not None else None

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        """How one can sign in."""
        return self._sign_in.methods

    @property
    def bad_frames(self) -> Mapping[str, int]:
        """How many frames were passed over, by what was wrong with them."""
        return self._peer.bad_frames if self._peer is not None else {}

    @property
    def last_words(self) -> str:
        """The end of its stderr."""
        return self._process.stderr_tail() if self._peer is not None else ""

    async def start(self) -> None:
        """Start the agent and shake hands.

        Raises:
            AgentNotFound: there is no such program.
            AgentStartFailed: it ended or kept silent, refused, or speaks no version that we do.
        """
        try:
            browser = await self._resources.enter_async_context(Browser(self._login.opened_page))
            launch = replace(self._launch, env={**UNBUFFERED, **self._launch.env, **browser.env})
            self._process = await self._resources.enter_async_context(
                AgentProcess(launch, self._cwd, self._tape, self._login.heard_line)
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
            on_stray=self._login.heard_line,
            gate=self._gate,
            tape=self._tape,
        )

    async def _initialize(self) -> Any:
        try:
            async with asyncio.timeout(self._start_timeout):
                return await self._rpc.request("initialize", HELLO)
        except TimeoutError:
            what = f"was started, but did not answer within {self._start_timeout:g} s"
            raise self._start_failed(f"{what}. AGY_START_TIMEOUT gives it more seconds.") from None
        except AgentExited as error:
            status = "" if error.status is None else f" ({exit_status(error.status)})"
            what = f"{error.why}{status} before it answered anything."
            raise self._start_failed(what, error.status) from None
        except RequestFailed as error:
            raise self._start_failed(f"refused to begin: {error}.") from None

    def _start_failed(self, what: str, status: int | None = None) -> AgentStartFailed:
        streams = {"stdout": "\n".join(self._rpc.strays), "stderr": self._process.stderr_tail()}
        return start_failed(self._launch, f"{self._launch.name} {what}", status, streams)

    def _understand(self, hello: Mapping[str, Any]) -> None:
        check_version(self._launch.name, hello)
        self._tape.knows(hello)
        self.info = agent_info(hello, self._launch.name)
        self.capabilities = capabilities(hello)
        self._sign_in = replace(self._sign_in, methods=auth_methods(hello))
        self._session_methods = Sessions(
            self._rpc, self.capabilities, self._servers, self._on_event, self._asker
        )

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

    @property
    def _sessions(self) -> Sessions:
        assert self._session_methods is not None, "start() comes first"
        return self._session_methods

    # -- signing in

    async def authenticate(self, method_id: str) -> None:
        """Sign in by a method; may take as long as a person does, who is asked to where need be.

        Raises:
            AuthenticationRequired: it is done in a terminal, and not by this request.
            RequestFailed: the agent refuses, or it came to nothing.
        """
        method = next((m for m in self.auth_methods if m.id == method_id), None)
        if method is not None and method.type == "terminal":
            command = terminal_command(method, self._launch.argv)
            raise AuthenticationRequired(f"{method.name} is done in a terminal: {command}")
        await self._login.during(self._rpc.request("authenticate", {"methodId": method_id}))

    async def logout(self) -> None:
        """Forget the sign-in.

        Raises:
            RequestFailed: the agent refuses.
        """
        await self._rpc.request("logout")

    async def is_signed_in(self, cwd: str) -> bool:
        """Ask the agent, by a session that is closed at once: no tokens, and no sign-in by us.

        Raises:
            RequestFailed: the agent opens none, for another reason.
        """
        try:
            session = await self._sessions.open("session/new", cwd=cwd)
        except RequestFailed as error:
            if wants_sign_in(error):
                return False
            raise self._explained(error) from None
        for what in ("close", "delete"):
            if what in self.capabilities.sessions:
                await self._rpc.request(f"session/{what}", {"sessionId": session.id})
        return True

    @property
    def unattended_method(self) -> str | None:
        """The method that it signs in by when that is required; None where a person has to."""
        return self._sign_in.method({**os.environ, **self._launch.env})

    async def _sign_in_unattended(self, wanted: RequestFailed) -> None:
        method = self.unattended_method
        if method is None:
            raise self._signed_out(wanted) from None
        try:
            await self.authenticate(method)
        except RequestFailed as error:
            raise self._signed_out(error) from None

    def _signed_out(self, error: RequestFailed) -> AuthenticationRequired:
        return AuthenticationRequired(self._sign_in.advice(self.info.label, error))

    # -- sessions

    async def open_session(self, how: Opening, cwd: str, session_id: str = "") -> SessionState:
        """Open a session in ``cwd``, signing in where that needs no person.

        Args:
            how: ``new``; ``load`` (its history comes as events before it opens) or ``resume`` an
                earlier one; ``fork`` one that is open.
            cwd: absolute path of the folder that it works in.
            session_id: the earlier one's.

        Raises:
            AuthenticationRequired: a person has to sign in first; says how.
            RequestFailed: the agent refuses, does not know the session, or keeps silent.
        """
        params = {"cwd": cwd, **({"sessionId": session_id} if session_id else {})}
        method = f"session/{how}"
        try:
            return await self._login.during(self._sessions.open(method, **params))
        except RequestFailed as error:
            if not wants_sign_in(error):
                raise self._explained(error) from None
            await self._sign_in_unattended(error)
        try:
            return await self._login.during(self._sessions.open(method, **params))
        except RequestFailed as error:
            signed_out = wants_sign_in(error)
            raise self._signed_out(error) if signed_out else self._explained(error) from None

    def _explained(self, error: RequestFailed) -> RequestFailed:
        """The error with what it means, where that is known."""
        hint = self._launch.hint(None, str(error))
        return RequestFailed(error.code, error.message, error.data, hint) if hint else error

    async def list_sessions(self, cwd: str) -> list[SessionInfo]:
        """The agent's own list of sessions in a folder."""
        return await self._sessions.list(cwd)

    async def close_session(self, session_id: str) -> None:
        """Close a session; the agent must stop what runs in it."""
        await self._sessions.close(session_id)

    async def delete_session(self, session_id: str) -> None:
        """Delete a session for good."""
        await self._sessions.delete(session_id)

    async def choose(self, session_id: str, what: str, choices: Choices, value: str) -> Choices:
        """Choose a model, a mode, or a value of another option; see ``Sessions.choose``."""
        return await self._sessions.choose(session_id, what, choices, value)

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
            await self._login.during(answer, session_id)
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

    def _heard(self) -> None:
        if self._session_methods is not None:
            self._session_methods.heard()

    @property
    def _last_session(self) -> str:
        return self._session_methods.last if self._session_methods is not None else ""

    def _notified(self, method: str, params: Any) -> None:
        self._heard()
        if not isinstance(params, dict):
            return
        if method == "session/update":
            update = mapping(params, "update")
            self._on_event(text(params, "sessionId"), update_event(update))
        elif method == "elicitation/complete":
            for session_id in self._prompts:
                self._on_event(session_id, LinkVisited(text(params, "elicitationId")))

    def _skipped(self, limit: int) -> None:
        words = (
            f"The agent sent a line of more than {limit:,} bytes. It was passed over, so something "
            "is missing here. Should the turn not go on, stop it."
        )
        for session_id in self._prompts or (self._last_session,):
            self._on_event(session_id, Notice(words, "warning"))

    def _requested(self, method: str, params: Any) -> Awaitable[Any]:
        self._heard()
        if method == "session/update":  # with an id, by mistake: it says something all the same
            self._notified(method, params)
        return self._asker.serve(method, params)
