"""Stop means stop: what is done, and when, to a turn that does not end.

Each rung has its time from the moment of the interrupt. An agent that honours ``session/cancel``
never sees the second one; the last one ends the process, and the turn ends whatever happens. Of an
agent that is known to need a higher rung, that one is taken sooner.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from ..errors import RequestFailed
from .engine import Engine
from .turn import Turn


@dataclass(frozen=True, slots=True)
class Rung:
    """One step: seconds from the interrupt, and its name for the person."""

    at: float
    name: str


CANCEL = Rung(0.0, "session/cancel")
CANCEL_REQUEST = Rung(1.5, "$/cancel_request")
CLOSE = Rung(2.5, "session/close")
TERMINATE = Rung(3.5, "SIGTERM")
KILL = Rung(4.5, "SIGKILL")
LADDER = (CANCEL, CANCEL_REQUEST, CLOSE, TERMINATE, KILL)
END = 4.9
SOON = 0.5


def ladder(known: str = "") -> tuple[Rung, ...]:
    """The rungs to take, in order.

    Args:
        known: name of the rung that has worked before; the futile ones below it are left out,
            all but the polite first.
    """
    wanted = next((rung for rung in LADDER if rung.name == known), CANCEL)
    if wanted is CANCEL:
        return LADDER
    sooner = wanted.at - SOON
    return (CANCEL, *(replace(r, at=r.at - sooner) for r in LADDER if r.at >= wanted.at))


async def climb(turn: Turn, engine: Engine, session_id: str, known: str = "") -> str:
    """Climb until the turn has ended, or there is no rung left.

    Returns:
        the name of the last rung that was taken; one that the agent refused was not.
    """
    start = asyncio.get_running_loop().time()
    closing: asyncio.Task[None] | None = None
    taken = CANCEL.name
    for rung in ladder(known):
        if await _ends_by(turn, start + rung.at):
            break
        taken = rung.name
        if taken == CANCEL.name:
            engine.cancel(session_id)
        elif taken == CANCEL_REQUEST.name:
            engine.cancel_request(session_id)
        elif taken == CLOSE.name:
            closing = asyncio.create_task(engine.close_session(session_id), name="agy close")
        elif taken == TERMINATE.name:
            engine.terminate()
        else:
            engine.kill()
    await _ends_by(turn, start + END)
    refused = closing is not None and await _is_refused(closing)
    return CANCEL_REQUEST.name if taken == CLOSE.name and refused else taken


async def _is_refused(request: asyncio.Task[None]) -> bool:
    request.cancel()
    (outcome,) = await asyncio.gather(request, return_exceptions=True)
    return isinstance(outcome, RequestFailed)


async def _ends_by(turn: Turn, time: float) -> bool:
    return turn.ended or await turn.ends_within(time - asyncio.get_running_loop().time())
