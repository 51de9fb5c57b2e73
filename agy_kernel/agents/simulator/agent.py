"""The simulator as an ACP agent: one method here for each of the protocol's that it serves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from ...acp.jsonrpc import Peer, Reader, Writer
from ...acp.serving import MethodNotFound
from ...errors import RequestFailed
from . import catalogue
from .behaviour import Behaviour
from .params import check, not_one_of, state_error
from .replies import reply
from .script import play, script
from .sessions import Record, Session, Store, new_id
from .signin import SignIn
from .turn import Turn

Params = dict[str, Any]
Method = Callable[[Params], Awaitable[Any]]

LEAK = "context canceledThe request was cancelled by the client."


class Agent:
    """Serves one client.

    Args:
        reader: the client's bytes.
        writer: our bytes to the client.
        behaviour: how to behave.
    """

    def __init__(self, reader: Reader, writer: Writer, behaviour: Behaviour) -> None:
        self._out, self._behaviour = writer, behaviour
        self._peer = Peer(
            reader, writer, on_notification=self._notified, on_request=self._requested
        )
        self._store = Store(behaviour.state, behaviour.keep_config)
        self._sessions: dict[str, Session] = {}
        self._sign_in = SignIn(not behaviour.signed_out)
        self._background: set[asyncio.Task[None]] = set()
        self._methods: dict[str, Method] = {
            "initialize": self._initialize,
            "authenticate": self._authenticate,
            "logout": self._logout,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/list": self._list,
            "session/close": self._close,
            "session/set_mode": self._set_mode,
            "session/set_model": self._set_model,
            "session/set_config_option": self._set_config_option,
            "session/prompt": self._prompt,
        }
        if behaviour.cancel == "with-id":
            self._methods["session/cancel"] = self._cancel

    async def serve(self) -> None:
        """Serve until the client has gone."""
        async with self._peer:
            await self._peer.wait_lost()

    async def _requested(self, method: str, params: Any) -> Any:
        if method not in self._methods:
            raise MethodNotFound(method)
        return await self._methods[method](check(method, params))

    def _notified(self, method: str, params: Any) -> None:
        if method == "session/cancel" and self._behaviour.cancel in ("honoured", "leaks"):
            session = self._sessions.get(check(method, params)["sessionId"])
            if session and session.turn:
                session.turn.cancel()

    # -- hello

    async def _initialize(self, _: Params) -> Any:
        await asyncio.sleep(self._behaviour.start_delay)
        return {
            "protocolVersion": catalogue.PROTOCOL_VERSION,
            "agentCapabilities": catalogue.CAPABILITIES,
            "authMethods": catalogue.AUTH_METHODS,
            "agentInfo": catalogue.AGENT_INFO,
        }

    async def _authenticate(self, params: Params) -> Any:
        self._sign_in.sign_in(params["methodId"])
        return {}

    async def _logout(self, _: Params) -> Any:
        self._sign_in.sign_out()
        return {}

    # -- sessions

    async def _new(self, params: Params) -> Any:
        self._sign_in.require()
        session_id = new_id()
        return {"sessionId": session_id, **self._open(session_id, Record(params["cwd"]), params)}

    async def _load(self, params: Params) -> Any:
        record = self._known(params["sessionId"])
        for exchange in record.exchanges:
            self._replay(params["sessionId"], "user_message_chunk", exchange.user)
            self._replay(params["sessionId"], "agent_message_chunk", exchange.agent)
        return self._open(params["sessionId"], record, params)

    async def _resume(self, params: Params) -> Any:
        return self._open(params["sessionId"], self._known(params["sessionId"]), params)

    def _known(self, session_id: str) -> Record:
        self._sign_in.require()
        if (session := self._sessions.get(session_id)) and session.turn:
            raise _busy()
        if (record := self._store.load(session_id)) is None:
            raise _no_session()
        return record

    def _open(self, session_id: str, record: Record, params: Params) -> dict[str, Any]:
        record.cwd = params["cwd"]
        servers = tuple(str(server["name"]) for server in params.get("mcpServers") or ())
        self._sessions[session_id] = session = Session(session_id, record, servers)
        self._store.save(session)
        # Right after the response, which goes out in this very step of the loop.
        asyncio.get_running_loop().call_soon(self._tell_commands, session_id)
        return catalogue.session_state(record.config)

    def _tell_commands(self, session_id: str) -> None:
        commands = {"availableCommands": catalogue.COMMANDS}
        self._update(session_id, {**commands, "sessionUpdate": "available_commands_update"})

    def _replay(self, session_id: str, kind: str, text: str) -> None:
        content = {"text": text, "type": "text"}
        self._update(session_id, {"content": content, "sessionUpdate": kind})

    def _update(self, session_id: str, update: dict[str, Any]) -> None:
        self._peer.notify("session/update", {"sessionId": session_id, "update": update})

    async def _list(self, params: Params) -> Any:
        cwd = params.get("cwd")
        return {"sessions": [s for s in self._store.list() if cwd in (None, s["cwd"])]}

    async def _close(self, params: Params) -> Any:
        session = self._session(params)
        if session.turn and self._behaviour.cancel != "ignored":
            session.turn.cancel()
            await asyncio.wait({session.turn})
        if not session.turn or session.turn.done():
            self._sessions.pop(session.id, None)
        return {}

    def _session(self, params: Params) -> Session:
        if (session := self._sessions.get(params["sessionId"])) is None:
            raise _no_session()
        return session

    # -- model and mode

    async def _set_mode(self, params: Params) -> Any:
        self._choose(self._session(params), "mode", params["modeId"], field="modeId")
        return {}

    async def _set_model(self, params: Params) -> Any:
        self._choose(self._session(params), "model", params["modelId"], field="modelId")
        return {}

    async def _set_config_option(self, params: Params) -> Any:
        session = self._session(params)
        if params["configId"] not in catalogue.CHOICES:
            raise not_one_of("configId", catalogue.CHOICES)
        self._choose(session, params["configId"], params["value"], field="value")
        return {"configOptions": catalogue.config_options(session.record.config)}

    def _choose(self, session: Session, what: str, value: str, *, field: str) -> None:
        if value not in catalogue.CHOICES[what]:
            raise not_one_of(field, catalogue.CHOICES[what])
        session.record.config[what] = value
        self._store.save(session)

    # -- turns

    async def _prompt(self, params: Params) -> Any:
        self._sign_in.require()
        session = self._session(params)
        if session.turn:
            raise _busy()
        turn = Turn(self._peer, self._out, session, self._store, params["prompt"], self._behaviour)
        session.turn = asyncio.create_task(self._run(turn), name="turn")
        try:
            return await self._outcome(turn, session.turn)
        finally:
            session.turn = None

    async def _run(self, turn: Turn) -> None:
        steps = script(turn.text)
        self._store.save(turn.session)
        try:
            await (reply(turn) if steps is None else play(turn, steps))
        finally:
            self._store.save(turn.session)

    async def _outcome(self, turn: Turn, task: asyncio.Task[None]) -> Any:
        await self._ended(task)
        if task.cancelled():
            if self._behaviour.cancel == "leaks":
                turn.chunk(LEAK)
            return {"stopReason": "cancelled"}
        task.result()
        if turn.wants_sign_out:
            self._sign_in.sign_out()
        self._afterwards(turn)
        return turn.result()

    async def _ended(self, task: asyncio.Task[None]) -> None:
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:  # by $/cancel_request, or the end of the connection
                if self._behaviour.cancel == "ignored" and self._peer.alive:
                    continue
                task.cancel()
                raise

    def _afterwards(self, turn: Turn) -> None:
        # A task begins after this step of the loop, in which the response goes out.
        if turn.late:
            task = asyncio.create_task(play(turn, turn.late), name="late")
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    async def _cancel(self, params: Params) -> Any:
        if (turn := self._session(params).turn) is not None:
            turn.cancel()
        return {}


def _busy() -> RequestFailed:
    return state_error("A foreground turn is already active", "turn_active")


def _no_session() -> RequestFailed:
    return state_error("Session not found", "session_not_found")
