"""Sessions as such: open, list, close and delete them, and choose what they work with."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..abilities import Capabilities
from ..errors import INTERNAL_ERROR, RequestFailed
from ..events import (
    Choices,
    Event,
    Notice,
    SessionInfo,
    SessionOpened,
    SessionState,
)
from ..mcp import McpServer
from .asking import Asker
from .fields import as_mapping, mappings, text
from .jsonrpc import Peer
from .options import choices_of, session_state
from .servers import as_params, dropped

SILENCE = {"session/load": 120.0}
SHORT_SILENCE = 60.0
MOST_PAGES = 20
INVALID_PARAMS = -32602
REOPENINGS = ("session/load", "session/resume")
WITHOUT_SERVERS = (
    "The session was opened without its MCP servers: the agent takes none for an earlier session."
)


class Sessions:
    """The sessions of one agent.

    Args:
        peer: the connection.
        capabilities: what the agent says it can do.
        servers: the MCP servers that each session gets, by name.
        on_event: called with session id and event, in wire order.
        asker: knows whether a person is being asked, which may take its time.
    """

    def __init__(
        self,
        peer: Peer,
        capabilities: Capabilities,
        servers: Mapping[str, McpServer],
        on_event: Callable[[str, Event], None],
        asker: Asker,
    ) -> None:
        self._peer, self._on_event, self._asker = peer, on_event, asker
        self._servers = as_params(servers, capabilities)
        self._dropped = dropped(servers, capabilities)
        self._last_word = 0.0
        self.last = ""

    def heard(self) -> None:
        """The agent has said something."""
        self._last_word = time.monotonic()

    async def open(self, method: str, **params: Any) -> SessionState:
        """``session/new``, ``load``, ``resume`` or ``fork``: open a session.

        Some agents refuse MCP servers for an earlier session; there it is tried without (public
        report 43).

        Raises:
            RequestFailed: the agent refuses, or does not say a word for too long.
        """
        try:
            return await self._open(method, params, self._servers)
        except RequestFailed as error:
            may_be_the_servers = method in REOPENINGS and error.code == INVALID_PARAMS
            if not (self._servers and may_be_the_servers):
                raise
        state = await self._open(method, params, [])
        self._on_event(state.id, Notice(WITHOUT_SERVERS, "warning"))
        return state

    async def _open(
        self, method: str, params: Mapping[str, Any], servers: Sequence[Mapping[str, Any]]
    ) -> SessionState:
        opened: list[SessionState] = []

        def on_result(result: Any) -> None:
            # A loaded session's result has no id of its own (acp-v1.md, 1.3).
            own = "" if method == "session/fork" else text(params, "sessionId")
            session_id = text(as_mapping(result), "sessionId") or own
            if session_id:
                opened.append(session_state(session_id, result))
                self._opened(opened[0])

        _, answer = self._peer.call(method, {**params, "mcpServers": servers}, on_result)
        await self._answered(answer, SILENCE.get(method, SHORT_SILENCE))
        if not opened:
            raise RequestFailed(INTERNAL_ERROR, f"{method} was answered without a session id")
        return opened[0]

    def _opened(self, state: SessionState) -> None:
        self.last = state.id
        self._on_event(state.id, SessionOpened(state))
        for sentence in self._dropped:
            self._on_event(state.id, Notice(sentence, "warning"))
        self._dropped = ()

    async def _answered(self, answer: asyncio.Future[Any], silence: float) -> None:
        """Wait for an answer for as long as the agent says anything, or a person is asked."""
        self._last_word = time.monotonic()
        try:
            while not answer.done():
                last = max(self._last_word, self._asker.waited_until)
                if (left := last + silence - time.monotonic()) <= 0:
                    said = f"no answer, and not a word in {silence:g} s"
                    raise RequestFailed(INTERNAL_ERROR, said)
                await asyncio.wait((answer,), timeout=left)
            answer.result()
        finally:
            answer.cancel()

    async def list(self, folder: str) -> list[SessionInfo]:
        """The agent's sessions in a folder."""
        found: list[SessionInfo] = []
        cursor: dict[str, str] = {}
        for _ in range(MOST_PAGES):
            result = as_mapping(await self._ask("session/list", cwd=folder, **cursor))
            found += [_info(raw) for raw in mappings(result, "sessions") if text(raw, "sessionId")]
            if not (following := text(result, "nextCursor")):
                break
            cursor = {"cursor": following}
        return found

    async def close(self, session_id: str) -> None:
        """Close a session; the agent must stop what runs in it."""
        await self._peer.request("session/close", {"sessionId": session_id})

    async def delete(self, session_id: str) -> None:
        """Delete a session for good."""
        await self._ask("session/delete", sessionId=session_id)

    async def choose(self, session_id: str, what: str, choices: Choices, value: str) -> Choices:
        """Choose a model, a mode, or a value of another option.

        Args:
            what: ``model``, ``mode``, ``effort`` or the option's id.
            choices: as last known; they say by which method the choice is made.
            value: id of the choice.
        """
        session: dict[str, Any] = {"sessionId": session_id}
        if choices.option_id is None:
            await self._ask(f"session/set_{what}", **session, **{f"{what}Id": value})
            return Choices(value, choices.available)
        told = (
            {"type": "boolean", "value": value == "on"} if choices.is_switch else {"value": value}
        )
        params = {**session, "configId": choices.option_id, **told}
        result = await self._ask("session/set_config_option", **params)
        now = choices_of(_options(result)).get(what)
        return now or Choices(
            value, choices.available, choices.option_id, choices.label, choices.is_switch
        )

    async def _ask(self, method: str, **params: Any) -> Any:
        _, answer = self._peer.call(method, params)
        await self._answered(answer, SHORT_SILENCE)
        return answer.result()


def _options(result: Any) -> Iterable[Mapping[str, Any]]:
    # The specification answers {configOptions: [...]}, Antigravity RC01 the bare list.
    told = {"configOptions": result} if isinstance(result, list) else as_mapping(result)
    return mappings(told, "configOptions")


def _info(raw: Mapping[str, Any]) -> SessionInfo:
    return SessionInfo(
        text(raw, "sessionId"), text(raw, "cwd"), text(raw, "title"), text(raw, "updatedAt")
    )
