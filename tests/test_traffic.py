"""Recorded traffic of real agents, played to the whole client over real pipes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.conversation.transcript import Message, Transcript, fold
from agy_kernel.errors import AuthenticationRequired, RequestFailed
from agy_kernel.events import Asked, TurnBroken, TurnEnded, UnknownUpdate
from agy_kernel.questions import Answer, Form, Permission
from tests.agents import scripted
from tests.agents.recorded import OVER, STOP, TRAFFIC, RecordedTurn, Recording
from tests.support.cells import (
    Cell,
    Talk,
    patient_stop,  # noqa: F401
    talking,
)
from tests.support.leaks import nothing_is_left  # noqa: F401

FILES = sorted(TRAFFIC.glob("*.jsonl"))
SESSIONS = [path for path in FILES if path.stem != "kimi-cli"]


def script(steps: list[scripted.Step], tmp_path: Path) -> list[scripted.Step]:
    """The one step that plays many, more than a command line can hold."""
    path = tmp_path / "script.json"
    path.write_text(json.dumps(steps))
    return [scripted.play_file(path)]


def as_recorded(turn: RecordedTurn) -> Callable[[Permission], Answer | None]:
    def decide(question: Permission) -> Answer | None:
        option_id = turn.answers[question.call.id]
        if option_id is None and turn.stopped:
            return None  # Stop will answer it
        option = next((o for o in question.options if o.id == option_id), None)
        assert (option is None) == (option_id is None)
        return Answer(option, by="the recording")

    return decide


def is_marker(kind: str) -> Callable[[Any], bool]:
    return lambda event: isinstance(event, UnknownUpdate) and event.kind == kind


async def play(talk: Talk, turn: RecordedTurn) -> Cell:
    cell = talk.ask(as_recorded(turn))
    await fill_in(cell, turn)
    if turn.stopped:
        await cell.until(is_marker(STOP))
        await cell.stop()
    await cell.end()
    await cell.until(is_marker(OVER))
    return cell


async def fill_in(cell: Cell, turn: RecordedTurn) -> None:
    for result in turn.forms:
        asked = await cell.until(is_open_form)
        assert isinstance(asked, Asked)
        declined = result["action"] == "decline"
        values = result.get("content")
        asked.question.answer(Answer(None, "the recording", values=values, declined=declined))


def is_open_form(event: Any) -> bool:
    return isinstance(event, Asked) and isinstance(event.question, Form) and event.question.open


def folded(cell: Cell) -> Transcript:
    transcript = Transcript()
    for event in cell.events:
        transcript = fold(transcript, event)
    return transcript


def answers(transcript: Transcript) -> dict[str, str | None]:
    given = {call.id: call.answer for call in transcript.tool_calls if call.answer}
    return {call: answer.option.id if answer.option else None for call, answer in given.items()}


def check(cell: Cell, turn: RecordedTurn) -> None:
    transcript = folded(cell)
    messages = [e for e in transcript.entries if isinstance(e, Message) and e.role == "agent"]
    assert "".join(message.text for message in messages) == turn.text
    assert {call.id: call.status for call in transcript.tool_calls} == turn.calls
    assert answers(transcript) == turn.answers
    (ending,) = [e for e in cell.events if isinstance(e, TurnEnded | TurnBroken)]
    if isinstance(ending, TurnEnded):
        assert ending.stop_reason == turn.end["result"]["stopReason"]
    else:
        assert isinstance(ending.error, RequestFailed)
        assert ending.error.code == turn.end["error"]["code"]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
@pytest.mark.usefixtures("patient_stop")
async def test_a_real_agents_session_is_understood(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = Recording(path)
    assert any(turn.text for turn in recording.turns)
    scripts = [script(recording.steps, tmp_path)]
    if recording.loads:
        dies = [*scripted.opening(recording.session), scripted.expect("session/prompt")]
        scripts.insert(0, [*dies, scripted.leave(1)])
    async with talking(*scripts) as talk:
        if recording.loads:
            talk.is_quiet_after(recording.frames_before_prompt, monkeypatch)
            await talk.ask().error()
        for turn in recording.turns:
            cell = await play(talk, turn)
            check(cell, turn)
        results = [frame.get("result") or {} for frame in talk.wire.answers().values()]
        forms = [form for turn in recording.turns for form in turn.forms]
        assert [result for result in results if "action" in result] == forms
        assert len(talk.wires) == len(scripts)
        assert len(talk.wire.entries("a2c")) == recording.frames


async def test_a_real_agent_that_wants_a_sign_in_says_how() -> None:
    recording = Recording(TRAFFIC / "kimi-cli.jsonl")
    async with talking(recording.steps) as talk:
        error = await talk.ask().error()
        assert isinstance(error, AuthenticationRequired)
        assert "Authentication required" in str(error)
        assert "login" in str(error)
