"""A turn as probes see it: what came, and when."""

from __future__ import annotations

import asyncio
import json
import shlex
from pathlib import Path

import pytest

from agy_kernel.agents import catalogue
from agy_kernel.probes.probe import NotAsked
from agy_kernel.probes.recording import Recording
from agy_kernel.probes.runs import Stage
from agy_kernel.probes.subject import Subject
from agy_kernel.probes.turns import CANCELLED, Turn
from tests.agents import scripted


async def test_a_wait_for_an_answer_counts_from_its_own_beginning(
    simulator: str, tmp_path: Path
) -> None:
    subject = Subject(Stage(catalogue.find(simulator), tmp_path))
    steps = [{"text": "a"}, {"wait": 1.2}, {"text": "b"}]
    try:
        wire, session = await subject.wire(), await subject.session()
        turn = wire.prompt(session, f"SIM: {json.dumps(steps)}")
        assert await turn.until(lambda t: t.text == "ab", 60)
        answer = await turn.answer(1)
    finally:
        await subject.stop()
    assert answer.is_result
    assert answer.seconds > 1


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
