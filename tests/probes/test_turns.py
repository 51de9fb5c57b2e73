"""A turn as probes see it: what came, and when."""

from __future__ import annotations

import asyncio
import json
import shlex
from pathlib import Path

import pytest

from agy_kernel.agents import catalogue
from agy_kernel.probes.probe import NotAsked
from agy_kernel.probes.recording import Recording, Told
from agy_kernel.probes.runs import Stage
from agy_kernel.probes.subject import Subject
from agy_kernel.probes.turns import CANCELLED, Request, Turn
from agy_kernel.tapes.reading import Entry
from tests.agents import scripted


async def test_a_wait_for_an_answer_counts_from_its_own_beginning(
    simulator: str, tmp_path: Path
) -> None:
    subject = Subject(Stage(catalogue.find(simulator), tmp_path))
    try:
        wire, session = await subject.wire(), await subject.session()
        turn = wire.prompt(session, "Reply with exactly: a")
        wire.recording._start -= 100  # as if the turn had begun so much earlier
        assert await turn.until(lambda t: t.text == "a", 60)
        answer = await turn.answer(60)
    finally:
        await subject.stop()
    assert answer.is_result
    assert answer.seconds > 100


@pytest.mark.parametrize(("t", "is_in_time"), [(0.2, True), (5.0, False)])
async def test_a_replay_that_is_slow_is_late_only_where_its_tape_is(
    t: float, is_in_time: bool
) -> None:
    asked, replied = {"id": 1, "method": "x"}, {"id": 1, "result": {}}
    told = Told([Entry(1, 0.0, "c2a", asked), Entry(2, t, "a2c", replied)])
    recording, answered = Recording(told=told), asyncio.get_running_loop().create_future()
    recording.sent(json.dumps(asked).encode())

    def play() -> None:
        recording.received(json.dumps(replied).encode())
        answered.set_result({})

    asyncio.get_running_loop().call_later(0.4, play)
    answer = await Request(1, answered, recording).answer(0.3)
    assert (answer.is_result, answer.seconds) == (is_in_time, t if is_in_time else 0.3)


async def test_what_a_replay_owes_is_waited_for_and_what_it_waits_for_itself_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agy_kernel.probes.recording.LATE_SECONDS", 0.1)
    frames = [{"id": 1, "method": "x"}, {"id": 1, "result": {}}] * 2
    lines = [Entry(n, float(n), ("c2a", "a2c")[n % 2], f) for n, f in enumerate(frames)]
    recording = Recording(told=Told(lines))
    recording.sent(json.dumps(frames[0]).encode())
    answer = json.dumps(frames[1]).encode()
    asyncio.get_running_loop().call_later(0.3, recording.received, answer)
    async with asyncio.timeout(30):
        await recording.caught_up()
    assert [frame.direction for frame in recording.frames] == ["c2a", "a2c"]


async def test_an_agent_that_opens_no_session_is_waited_for_once(tmp_path: Path) -> None:
    agent = shlex.join(scripted.command(*scripted.hello(), scripted.hold()))
    subject = Subject(Stage(catalogue.find(agent), tmp_path))
    try:
        with pytest.raises(NotAsked, match=r"no session could be opened: no answer in 0\.3 s"):
            await subject.session(within=0.3)
        sent = len(subject.history())
        with pytest.raises(NotAsked, match=r"no session could be opened: no answer in 0\.3 s"):
            await subject.session(within=60)
        assert len(subject.history()) == sent
    finally:
        await subject.stop()


async def test_what_is_withdrawn_is_cancelled_now_and_later() -> None:
    answered = asyncio.get_running_loop().create_future()
    turn = Turn(1, answered, Recording(), "s1", lambda _: True, holds=True)
    options = [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]
    held = asyncio.create_task(turn.answer_permission({"options": options}))
    assert await turn.until(lambda t: bool(t.asked), 10)
    turn.withdraw()
    assert await held == CANCELLED
    assert await turn.answer_permission({"options": options}) == CANCELLED
    assert turn.given == ["cancelled", "cancelled"]
