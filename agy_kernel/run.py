"""A prompt on its way: what is sent, how long it may take, and what it ran with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from .abilities import Capabilities
from .context import Pack
from .conversation.conversation import Conversation
from .conversation.turn import Turn
from .conversation.watch import Limits, Watch
from .display.footer import Circumstances
from .events import Notice


class Run:
    """One prompt, on the agent's thread.

    Args:
        conversation: whose agent is asked.
        pack: what could go along.
        turn: hears what comes of it.
        limits: how long it may take.
        opened: called, on a thread of its own, when the session is known and the prompt goes out.
        warnings: what is to be said first.
    """

    def __init__(
        self,
        conversation: Conversation,
        pack: Pack,
        turn: Turn,
        limits: Limits,
        opened: Callable[[], None],
        warnings: Sequence[str] = (),
    ) -> None:
        self._conversation, self.pack, self._turn = conversation, pack, turn
        self._opened, self._warnings = opened, warnings
        self._watch = Watch(turn, limits)
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def expired(self) -> str:
        """Why the turn was stopped, where its time was over."""
        return self._watch.expired

    async def go(self) -> None:
        """Send it, and see to it that it ends in time."""
        for warning in self._warnings:
            self._turn.take(Notice(warning, "warning"))
        watching = asyncio.create_task(self._stop_in_time(), name="agy watch")
        try:
            await self._conversation.prompt(self._blocks, self._turn)
        finally:
            if self.expired:
                await watching  # the ladder is being climbed
            watching.cancel()
            await asyncio.gather(*self._tasks)

    async def _stop_in_time(self) -> None:
        if await self._watch.expires():
            await self._conversation.stop(self._turn)

    def _blocks(self, session_id: str, capabilities: Capabilities) -> Sequence[dict[str, Any]]:
        assembled = self.pack.assemble(session_id, capabilities)
        # A turn may outlive this kernel, and another kernel of the notebook may look meanwhile.
        opened = asyncio.to_thread(self._opened)
        self._tasks.append(asyncio.create_task(opened, name="agy remembers the session"))
        for notice in assembled.notices:
            self._turn.take(Notice(notice, "warning"))
        return assembled.blocks

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
