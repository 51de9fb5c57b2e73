"""A prompt on its way: what is sent, how long it may take, and what it ran with."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from .context import Pack
from .conversation.conversation import Conversation
from .conversation.turn import Turn
from .display.footer import Circumstances
from .events import Capabilities, Notice


class Run:
    """One prompt, on the agent's thread.

    Args:
        conversation: whose agent is asked.
        pack: what could go along.
        turn: hears what comes of it.
    """

    def __init__(self, conversation: Conversation, pack: Pack, turn: Turn) -> None:
        self._conversation, self.pack, self._turn = conversation, pack, turn
        self.timed_out = False

    async def within(self, seconds: float | None) -> None:
        """Send it, and stop it when it takes longer than ``seconds``."""
        limit = seconds and asyncio.create_task(self._stop_after(seconds), name="agy time-out")
        try:
            await self._conversation.prompt(self._blocks, self._turn)
        finally:
            if limit:
                limit.cancel()

    def _blocks(self, session_id: str, capabilities: Capabilities) -> Sequence[dict[str, Any]]:
        assembled = self.pack.assemble(session_id, capabilities)
        for notice in assembled.notices:
            self._turn.take(Notice(notice, "warning"))
        return assembled.blocks

    async def _stop_after(self, seconds: float) -> None:
        if not await self._turn.ends_within(seconds):
            self.timed_out = True
            await self._conversation.stop(self._turn)

    def circumstances(self, seconds: float) -> Circumstances:
        """What it ran with."""
        conversation = self._conversation
        chosen = {what: choices.name() for what, choices in conversation.choices.items()}
        return Circumstances(
            conversation.info,
            conversation.session_id or "",
            chosen.get("model", ""),
            chosen.get("mode", ""),
            seconds,
            self.pack.description,
        )
