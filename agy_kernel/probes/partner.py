"""What parity is asked of: an engine, in conversations as a notebook has them; no wire is seen."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from ..abilities import AgentInfo
from ..conversation.conversation import Conversation
from ..conversation.engine import Engine, EventSink
from ..events import Event
from ..mcp import McpServer
from .bridge import Bridge, MakeBridge
from .engines import EngineKind, Place
from .probe import NotAsked
from .recording import Recording
from .runs import Runs, Stage
from .talk import Talk

log = logging.getLogger(__name__)

CLOSE_SECONDS = 20.0


class Partner(Runs):
    """An engine to have conversations with, one at a time.

    Args:
        kind: of the engine.
        bridge: starts a bridge; None where none is configured.
    """

    def __init__(self, stage: Stage, *, kind: EngineKind, bridge: MakeBridge | None) -> None:
        super().__init__(stage)
        self._kind, self._bridge = kind, bridge
        self._servers: Mapping[str, McpServer] = {}
        self._talk: Talk | None = None
        self._info: Mapping[str, Any] = {}

    @property
    def info(self) -> Mapping[str, Any]:
        """Who it says it is: ``name``, ``title``, ``version``."""
        return self._info

    async def talk(
        self, session_id: str | None = None, servers: Mapping[str, McpServer] | None = None
    ) -> Talk:
        """Begin a conversation, with an engine of its own; the one before is over.

        Args:
            session_id: an earlier session to go on with.
            servers: the MCP servers that its session gets, by name.
        """
        await self.stop()
        self._servers = servers or {}
        conversation = Conversation(
            self._make_engine, str(self.folder), self._stage.launch.name, session_id=session_id
        )
        self._talk = Talk(conversation, lambda words: self._note("prompt", words), self._now)
        return self._talk

    def bridge(self) -> AbstractAsyncContextManager[Bridge]:
        """A server with a tool.

        Raises:
            NotAsked: none is configured.
        """
        if self._bridge is None:
            raise NotAsked("no bridge is configured")
        return self._bridge()

    # -- life

    async def stop(self) -> None:
        """End the conversation and its engine."""
        talk, self._talk = self._talk, None
        if talk is None:
            return
        said = talk.conversation.info
        if said != AgentInfo(self._stage.launch.name):
            self._info = {"name": said.name, "title": said.title, "version": said.version}
        if talk.conversation.engine is not None:
            await self._recordings[-1].caught_up()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await talk.conversation.close()
        except TimeoutError:
            log.warning("the engine %s does not end", self._kind.name)
        if self._recordings:
            self._recordings[-1].close()

    async def settle(self) -> None:
        """End the conversation: the next probe begins its own."""
        await self.stop()

    # -- the engine, and what is seen of it

    def _make_engine(self, on_event: EventSink) -> Engine:
        if self._recordings:
            self._recordings[-1].end()
        launch, recording = self._new_run()
        signed_in_by = recording.signed_in_by  # in a replay, as the tape has it
        place = Place(launch, str(self.folder), recording, self._servers, signed_in_by)
        if self._kind.is_taped:
            return self._kind.make(place, on_event)
        recording.begins(self._kind.name, ())
        return self._kind.make(place, _noting(recording, on_event))

    def _note(self, name: str, value: Any) -> None:
        if not self._kind.is_taped:
            self._recordings[-1].note(name, value)

    def _now(self) -> float:
        return self._recordings[-1].now()


def _noting(recording: Recording, on_event: EventSink) -> EventSink:
    """Notes each event before it is heard."""

    def hear(session_id: str, event: Event) -> None:
        words = getattr(event, "text", "") or getattr(event, "stop_reason", "")
        recording.note("event", [type(event).__name__, str(words)])
        on_event(session_id, event)

    return hear
