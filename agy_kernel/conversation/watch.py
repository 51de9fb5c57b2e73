"""Time that a turn may take, and silence that is remarked; both stand still while it asks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ..events import Notice
from .turn import Turn

TICK = 1.0
MOST_TICKS = 2
"""So many pass at once: in more, this process stood still (a laptop slept), and heard nothing."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a turn may take; 0 for as long as it likes.

    Args:
        turn: seconds in all.
        idle: seconds without any frame.
        idle_ends: whether an idle turn is stopped; else it is only remarked.
    """

    turn: float = 0.0
    idle: float = 0.0
    idle_ends: bool = False


class Watch:
    """Watches one turn.

    Args:
        turn: the turn.
        limits: what it may take.
    """

    def __init__(self, turn: Turn, limits: Limits) -> None:
        self._turn, self._limits = turn, limits
        self._spent = self._silent = 0.0
        self._events = 0
        self._remarked = False
        self.expired = ""

    async def expires(self) -> bool:
        """Watch until the turn is over, or its time is; whether it has to be stopped."""
        limits = [limit for limit in (self._limits.turn, self._limits.idle) if limit]
        tick = min([TICK, *(limit / 4 for limit in limits)])
        clock = asyncio.get_running_loop().time
        before = clock()
        while limits and not await self._turn.ends_within(tick):
            now = clock()
            self.passed(min(now - before, MOST_TICKS * tick))
            before = now
            if self.expired:
                return True
        return False

    def passed(self, seconds: float) -> None:
        """Take note of some seconds."""
        if self._turn.is_asking:
            return
        self._spent += seconds
        self._silent = 0.0 if self._turn.events != self._events else self._silent + seconds
        self._events = self._turn.events
        turn, idle = self._limits.turn, self._limits.idle
        if turn and self._spent >= turn:
            self.expired = f"the turn took longer than {turn:g} s and was stopped."
        elif idle and self._silent >= idle and not self._remarked:
            self._remark(idle)

    def _remark(self, idle: float) -> None:
        self._remarked = True
        if self._limits.idle_ends:
            self.expired = f"the agent said nothing for {idle:g} s, so the turn was stopped."
            return
        self._turn.take(
            Notice(f"The agent has said nothing for {idle:g} s. Stop ends the turn.", "warning")
        )
        self._events = self._turn.events
