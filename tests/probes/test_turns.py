"""A turn as probes see it: what came, and when."""

from __future__ import annotations

import json
from pathlib import Path

from agy_kernel.agents import catalogue
from agy_kernel.probes.runs import Stage
from agy_kernel.probes.subject import Subject


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
