"""How a prompt has ended: what came too late does not count."""

from __future__ import annotations

import asyncio

from agy_kernel.probes import ends
from agy_kernel.probes.recording import Recording
from agy_kernel.probes.turns import Answer, Turn
from tests.agents.scripted import chunk


async def test_what_comes_in_time_is_told_and_what_comes_late_is_not() -> None:
    answered: asyncio.Future[object] = asyncio.get_running_loop().create_future()
    turn = Turn(1, answered, Recording(), "s1", lambda _: False, False)
    turn.take(chunk("NOTED")["params"]["update"])
    answered.set_result({"stopReason": "end_turn"})
    in_time, late = Answer(answered, 1.0), Answer(None, 2.0)
    assert ends.stop_reason(in_time) == ends.how(in_time) == "end_turn"
    assert ends.in_words(turn, in_time) == "end_turn, and 'NOTED'"
    assert (ends.stop_reason(late), ends.said(turn, late)) == ("", "")
    assert ends.in_words(turn, late) == "no answer in 2 s, and no text"
