"""Time that a turn may take, and silence; both stand still while a person is asked."""

from __future__ import annotations

import asyncio

import pytest

from agy_kernel.conversation import watch as module
from agy_kernel.conversation.turn import Turn
from agy_kernel.conversation.watch import Limits, Watch
from agy_kernel.events import Asked, Event, Notice, Progress, TextChunk, ToolCallUpdate, TurnEnded
from agy_kernel.questions import Answer, Option, Permission


class Watched:
    """A turn, and a watch whose clock is in the test's hands."""

    def __init__(self, limits: Limits) -> None:
        self.events: list[Event] = []
        self.turn = Turn(self.events.append)
        self.watch = Watch(self.turn, limits)

    def wait(self, seconds: float) -> None:
        for _ in range(round(seconds)):
            self.watch.passed(1.0)

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Notice)]


async def test_a_turn_that_takes_too_long_expires() -> None:
    it = Watched(Limits(turn=10))
    it.wait(9)
    assert it.watch.expired == ""
    it.wait(1)
    assert str(it.watch.expired) == "the turn took longer than 10 s and was stopped."


async def test_a_question_stops_both_clocks_and_the_answer_starts_them_with_what_remained() -> None:
    it = Watched(Limits(turn=12, idle=5))
    it.wait(4)
    question = Permission(ToolCallUpdate("c", asked=True), (Option("a", "Allow", "allow_once"),))
    it.turn.take(Asked(question))
    it.wait(1_000)
    assert (it.watch.expired, it.notices) == ("", [])
    question.answer(Answer(question.options[0], by="you"))
    it.wait(5)
    assert it.notices == []
    it.wait(1)
    assert it.notices == ["The agent has said nothing for 5 s. Stop ends the turn."]
    assert not it.watch.expired
    it.wait(2)
    assert it.watch.expired.startswith("the turn took longer than 12 s")


async def test_silence_is_remarked_once_and_any_frame_ends_it() -> None:
    it = Watched(Limits(idle=5))
    it.wait(4)
    it.turn.take(TextChunk("agent", "still here"))
    it.turn.take(Progress("not a frame"))
    it.wait(5)
    assert it.notices == []
    it.wait(1)
    assert len(it.notices) == 1
    it.wait(1_000)
    assert len(it.notices) == 1
    assert not it.watch.expired


async def test_silence_ends_the_turn_where_the_user_wants_that() -> None:
    it = Watched(Limits(idle=5, idle_ends=True))
    it.wait(6)
    assert it.watch.expired == "the agent said nothing for 5 s, so the turn was stopped."
    assert it.notices == []


async def test_without_limits_there_is_nothing_to_watch() -> None:
    it = Watched(Limits())
    assert await asyncio.wait_for(it.watch.expires(), 5) is False


async def test_the_end_of_the_turn_ends_the_watch() -> None:
    it = Watched(Limits(turn=1_000))
    watching = asyncio.create_task(it.watch.expires())
    it.turn.take(TurnEnded("end_turn"))
    assert await asyncio.wait_for(watching, 5) is False


async def test_the_clock_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TICK", 0.01)
    it = Watched(Limits(turn=0.05))
    assert await asyncio.wait_for(it.watch.expires(), 5) is True


async def test_a_laptop_that_slept_has_neither_spent_the_turn_nor_been_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop, slept = asyncio.get_running_loop(), 0.0
    now, passed = loop.time, asyncio.Queue[float]()
    monkeypatch.setattr(loop, "time", lambda: now() + slept)
    it = Watched(Limits(turn=100, idle=50))
    monkeypatch.setattr(it.watch, "passed", passed.put_nowait)
    watching = asyncio.create_task(it.watch.expires())
    await asyncio.sleep(0)
    slept = 3600.0
    assert await passed.get() == 2.0
    it.turn.take(TurnEnded("end_turn"))
    assert await watching is False
