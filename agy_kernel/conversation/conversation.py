"""One conversation with an agent, across turns, sessions and processes.

The agent is started by the first prompt. What the user chose (model, mode, ...) is kept and applied
again whenever a session is opened, since agents forget it. When the process is gone, the next
prompt starts another and opens the session again; where that fails, a new session begins and this
is said. Everything here runs on the agent's loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from ..abilities import Capabilities
from ..errors import AgentExited, RequestFailed
from ..events import (
    Notice,
    TurnBroken,
    TurnEnded,
)
from .engine import Engine
from .ladder import CANCEL, CLOSE, KILL, TERMINATE, climb
from .turn import Turn
from .upkeep import Upkeep

MakeBlocks = Callable[[str, Capabilities], Sequence[dict[str, Any]]]
ABOUT_SESSIONS = ("session", "conversation", "checkpoint")
INTERNAL_ERROR = -32603


class Conversation(Upkeep):
    """A conversation: what it is, how it is kept, and its turns."""

    async def prompt(self, make_blocks: MakeBlocks, turn: Turn) -> None:
        """Send a prompt; everything that comes of it goes to ``turn``, errors too.

        Args:
            make_blocks: called with the session's id and the agent's capabilities once they are
                known; must not wait for long.
        """
        turn.task = asyncio.current_task()
        try:
            async with self._alone():
                if not await self._send(make_blocks, turn):
                    await self._send(make_blocks, turn)
        except asyncio.CancelledError:
            turn.take(TurnEnded("cancelled"))
        except Exception as error:
            turn.take(TurnEnded("cancelled") if turn.stopping else TurnBroken(error))
        # An answer without the event would leave the cell waiting for ever.
        turn.take(TurnEnded("unknown"))
        self.life.note(f"turn ended: {turn.outcome}")

    async def _send(self, make_blocks: MakeBlocks, turn: Turn) -> bool:
        """Send the prompt; false where the session turns out to be lost, and was given up."""
        with self._listener.waits(turn):
            engine, session_id = await self._ready(turn)
        blocks = make_blocks(session_id, engine.capabilities)
        self._tell_news(turn)
        turn.is_doubtful, turn.is_lost = bool(self._doubt), False
        self._listener.routes.begin(turn)
        try:
            await engine.prompt(session_id, blocks)
        except RequestFailed as error:
            if not self._means_lost(error, turn):
                raise
            turn.is_lost = True
        except AgentExited:
            if self._doubt:
                self._give_up_session()
            raise
        if turn.is_lost:
            self._give_up_session()
            return False
        self._openings.shown(session_id)
        self._processes.went_well()
        self._doubt = "the turn before it had to be stopped" if turn.stopping else ""
        return True

    def _means_lost(self, error: RequestFailed, turn: Turn) -> bool:
        """Whether the agent refuses a prompt because it has lost the session.

        A model that cannot be reached is no reason to give a session up.
        """
        if not self._doubt or turn.has_words or turn.stopping:
            return False
        says_so = any(word in str(error).lower() for word in ABOUT_SESSIONS)
        return error.code != INTERNAL_ERROR or says_so

    def _give_up_session(self) -> None:
        self.life.note(f"session lost: {self.session_id}")
        self._openings.give_up(f"The session did not answer after {self._doubt}.")
        self._doubt = ""

    async def stop(self, turn: Turn) -> None:
        """Stop a turn; it ends within five seconds, whatever the agent does."""
        if turn.ended or turn.stopping:
            return
        turn.stop()
        engine, session_id = self.engine, self.session_id
        if not self._listener.routes.is_current(turn) or engine is None or session_id is None:
            if turn.task is not None:
                turn.task.cancel()
            return
        rung = await climb(turn, engine, session_id, self.rungs.get(self.build, CANCEL.name))
        self.rungs[self.build] = rung
        self.life.note(f"turn stopped by {rung}")
        self._settle(engine, rung)
        turn.take(TurnEnded("cancelled"))

    def _settle(self, engine: Engine, rung: str) -> None:
        """See to what a climbed ladder has left behind."""
        if rung == CLOSE.name:
            self._listener.is_open = False
            said = "The last turn ended only when its session was closed."
            self._openings.news.append(Notice(said))
        elif rung in (TERMINATE.name, KILL.name):
            how = f"The last turn did not stop when asked to, so the agent was ended ({rung})."
            self._processes.replace(engine, Notice(how, "warning"))
