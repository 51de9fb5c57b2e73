"""Prompts that begin with a slash: who takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agy_kernel.probes.prompts import PLAN
from tests.agents.scripted import (
    Step,
    answer,
    chunk,
    expect,
    fail,
    hello,
    new_session,
    opening,
    permission,
    send,
    turn,
    update,
)
from tests.probes.asked import found, script, simulator, verdicts

PLANS = {"availableCommands": [{"name": "plan", "description": "Plan."}, {"name": "logout"}]}
OFFERS = send(update("s1", "available_commands_update", **PLANS))


def session(number: int, *words: str) -> list[Step]:
    """A session in which a prompt is answered."""
    return [*new_session(f"s{number}"), *turn(*words, session=f"s{number}")]


def test_the_simulator_takes_its_plan_and_writes_without_asking(tmp_path: Path) -> None:
    told = found("slash", simulator(tmp_path / "state"), tmp_path, "commands", "leading", "inside")
    assert verdicts(told) == {"commands": "pass", "leading": "fallback", "inside": "pass"}
    assert told["commands"].facts == {"commands": ["plan", "logout"]}
    assert told["leading"].facts == {
        "taken": True,
        "stopReason": "end_turn",
        "unasked": ["edit", "edit"],
        "written": 1,
        "outside": 1,
    }
    assert told["leading"].words == (
        "it takes /plan for itself; files written without asking: 1, outside its folder: 1. "
        "A prompt must not begin with / by accident"
    )
    tape = (tmp_path / "out" / "slash.jsonl").read_text()
    assert PLAN in tape
    assert '"text":"/logout' not in tape


def test_an_agent_that_passes_all_on_passes(tmp_path: Path) -> None:
    sessions = [
        new_session("s1"),
        new_session("s2"),
        session(3, "PASSED ON"),
        session(4, "NO COMMAND"),
    ]
    told = found("slash", script(hello(), *sessions), tmp_path, commands_seconds=0.2)
    assert verdicts(told) == {
        "commands": "absent",
        "leading": "pass",
        "unknown": "pass",
        "inside": "pass",
    }
    assert told["leading"] == told["unknown"]
    assert told["leading"].words == "a command that it does not know is passed on to the model"


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (
            [send(chunk("Unknown command: /agy-kernel-probe Reply with exactly: PASSED ON."))],
            "/agy-kernel-probe does not reach the model: end_turn, and 'Unknown command: /agy",
        ),
        ([], "/agy-kernel-probe does not reach the model: end_turn, and no text"),
        (
            [fail("session/prompt", -32602, "no such command")],
            "/agy-kernel-probe does not reach the model: error no such command (-32602), and no",
        ),
    ],
)
def test_an_unknown_command_may_be_refused_or_swallowed(
    ends: list[Step], words: str, tmp_path: Path
) -> None:
    end = answer("session/prompt", {"stopReason": "end_turn"})
    told = found(
        "slash", script(opening(), [expect("session/prompt"), *ends, end]), tmp_path, "unknown"
    )["unknown"]
    assert told.verdict == "fallback"
    assert told.facts["taken"] is True
    assert told.words.startswith(words)


def test_a_command_that_is_offered_and_answered_by_text_is_told_so(tmp_path: Path) -> None:
    agent = script(opening(), [OFFERS], turn("What would you like to plan?"))
    told = found("slash", agent, tmp_path, "leading")["leading"]
    assert told.verdict == "fallback"
    assert told.facts["taken"] is False
    assert told.words == (
        "it offers /plan, and answers it by text alone: end_turn, and "
        "'What would you like to plan?'"
    )


def test_what_the_command_asks_leave_for_is_refused_and_not_unasked(tmp_path: Path) -> None:
    asks: list[Step] = [
        expect("session/prompt"),
        send(permission(90)),
        ["expect_response", 90],
        answer("session/prompt", {"stopReason": "end_turn"}),
    ]
    told = found("slash", script(opening(), [OFFERS], asks), tmp_path, "leading")["leading"]
    assert told.facts == {
        "taken": True,
        "stopReason": "end_turn",
        "unasked": [],
        "written": 0,
        "outside": 0,
    }
    assert '"outcome":"selected","optionId":"no"' in (tmp_path / "out/slash.jsonl").read_text()


TOOL: dict[str, Any] = {"toolCallId": "c1", "kind": "edit", "status": "completed"}


@pytest.mark.parametrize(
    "came", [chunk("Here is a plan."), update("s1", "tool_call", **TOOL)], ids=["text", "call"]
)
def test_a_slash_inside_must_not_be_expanded(came: dict[str, Any], tmp_path: Path) -> None:
    steps = [
        expect("session/prompt"),
        send(came),
        answer("session/prompt", {"stopReason": "end_turn"}),
    ]
    told = found("slash", script(opening(), steps), tmp_path, "inside")["inside"]
    assert told.verdict == "fail"
    assert told.words.startswith("it does not do as it is told: ")
