"""Something that is done on the agent's thread for a command, and may ask the person meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from .conversation.turn import Turn
from .events import Asked, TurnBroken, TurnEnded
from .questions import Answer, Question

T = TypeVar("T")
Work = Callable[[Turn], Awaitable[T]]
"""What is done; asks and tells through the turn that it is given."""


class Errand(Generic[T]):
    """A turn without a prompt: it is shown, asks, and can be stopped like one.

    Args:
        work: what is done.
        turn: hears what comes of it.
    """

    def __init__(self, work: Work[T], turn: Turn) -> None:
        self._work, self._turn = work, turn
        self._results: list[T] = []

    async def go(self) -> None:
        """Do it; the turn is over afterwards."""
        self._turn.task = asyncio.current_task()
        try:
            self._results.append(await self._work(self._turn))
        except asyncio.CancelledError:
            self._turn.take(TurnEnded("cancelled"))
        except Exception as error:
            self._turn.take(TurnBroken(error))
        self._turn.take(TurnEnded("end_turn"))

    async def stop(self) -> None:
        """Stop it at once."""
        self._turn.stop()
        if self._turn.task is not None:
            self._turn.task.cancel()

    @property
    def result(self) -> T:
        """What it has come to, once the turn has ended well."""
        return self._results[0]


async def put(question: Question, turn: Turn) -> Answer:
    """Ask the person, and wait for the answer."""
    turn.take(Asked(question))
    return await asyncio.wrap_future(question.reply)
