"""What a turn leaves behind: the line, the record, and how the cell ends."""

from __future__ import annotations

import json

import pytest

from agy_kernel.abilities import AgentInfo
from agy_kernel.conversation.transcript import Transcript, fold
from agy_kernel.display.footer import (
    RECORD_TYPE,
    Circumstances,
    footer,
    line,
    problem,
    record,
)
from agy_kernel.errors import AgentExited, TurnCancelled, TurnFailed
from agy_kernel.events import (
    Answered,
    Asked,
    Event,
    TextChunk,
    ToolCallUpdate,
    TurnBroken,
    TurnEnded,
    Usage,
    UsageChanged,
)
from agy_kernel.questions import Answer, Option, Permission
from tests.support.renderers import RENDERERS, harm_in, text_of

AGENT = AgentInfo("antigravity-acp", "Google Antigravity", "1.3.0")
HOW = Circumstances(AGENT, "s1", "Gemini 3.8 Flash", "default", 12.345)
END = TurnEnded("end_turn")
DENY = Option("deny", "Deny", "reject_once")


def folded(*events: Event) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript = fold(transcript, event)
    return transcript


# -- the line


def test_the_line_says_who_how_and_how_long() -> None:
    assert line(Transcript(), END, HOW) == (
        "Google Antigravity · Gemini 3.8 Flash · mode default · 12.3 s · tokens not reported"
    )


def test_what_is_not_known_is_left_out() -> None:
    assert (
        line(Transcript(), END, Circumstances(AgentInfo("x"))) == "x · 0.0 s · tokens not reported"
    )


@pytest.mark.parametrize(
    ("events", "tokens"),
    [
        ([TurnEnded("end_turn", Usage(1200, 34, 1234))], "1200 tokens in, 34 tokens out"),
        ([TurnEnded("end_turn", Usage(output=0))], "0 tokens out"),
        ([TurnEnded("end_turn", Usage(total=5))], "tokens not reported"),
        (
            [UsageChanged(1_200, 200_000, "0.0100 USD")],
            "context 1,200 of 200,000, session 0.0100 USD",
        ),
        ([UsageChanged(0, 0)], "tokens not reported"),
    ],
)
def test_tokens_are_those_reported_and_never_invented(events: list[Event], tokens: str) -> None:
    assert line(folded(*events), END, HOW).endswith(tokens)


@pytest.mark.parametrize("reason", ["max_tokens", "refusal", "cancelled", "something new"])
def test_an_unusual_stop_reason_is_told(reason: str) -> None:
    assert f"stop reason {reason}" in line(Transcript(), TurnEnded(reason), HOW)


def test_a_broken_turn_has_failed() -> None:
    assert line(Transcript(), TurnBroken(RuntimeError()), HOW).endswith("failed")


def test_the_line_is_inert_whatever_the_agent_calls_itself() -> None:
    name = "![x](http://evil.example/) <img src=x onerror=a()> [a](javascript:b()) $x$\n\n# c"
    shown = footer(Transcript(), END, Circumstances(AgentInfo(name, version="1"), model=name))
    for render in RENDERERS:
        assert harm_in(render(shown)) == []
    assert "![x](http://evil.example/)" in text_of(shown)
    assert "\n" not in line(Transcript(), END, Circumstances(AgentInfo(name)))


# -- the record


def test_the_record_can_be_read_by_programs() -> None:
    asked = Permission(ToolCallUpdate("a", title="Write", kind="edit"), (DENY,))
    transcript = folded(
        Asked(asked),
        Answered(asked, Answer(DENY, "policy", "AGY_PERMISSIONS is deny")),
        ToolCallUpdate("b", title="Read", kind="read", status="completed"),
        ToolCallUpdate("c", title="Run", kind="execute", status="in_progress"),
        UsageChanged(10, 100),
        ending := TurnEnded("end_turn", Usage(1, 2, None)),
    )
    bundle = record(transcript, ending, HOW)
    data = json.loads(json.dumps(bundle))[RECORD_TYPE]
    assert data["version"] == 1
    assert data["session_id"] == "s1"
    assert data["agent"] == {"name": "antigravity-acp", "version": "1.3.0"}
    assert (data["model"], data["mode"]) == ("Gemini 3.8 Flash", "default")
    assert data["stop_reason"] == "end_turn"
    assert data["error"] is None
    assert data["usage"] == {"input": 1, "output": 2, "total": None}
    assert data["context"] == {"used": 10, "size": 100}
    assert data["seconds"] == 12.345
    assert [call["status"] for call in data["tool_calls"]] == [
        "pending",
        "completed",
        "in_progress",
    ]
    assert [call["unfinished"] for call in data["tool_calls"]] == [False, False, True]
    assert [call["ran_without_asking"] for call in data["tool_calls"]] == [False, False, True]
    assert data["permissions"] == [
        {
            "tool_call": "a",
            "option": "deny",
            "kind": "reject_once",
            "by": "policy",
            "why": "AGY_PERMISSIONS is deny",
        }
    ]
    assert bundle["text/plain"].startswith("Google Antigravity")


def test_what_the_agent_does_not_report_is_null_in_the_record() -> None:
    data = record(Transcript(), TurnBroken(AgentExited("is gone", 3)), Circumstances(AGENT))
    assert data[RECORD_TYPE]["usage"] is None
    assert data[RECORD_TYPE]["context"] is None
    assert data[RECORD_TYPE]["stop_reason"] is None
    assert "exit status 3" in data[RECORD_TYPE]["error"]


# -- how the cell ends


@pytest.mark.parametrize("reason", ["end_turn", "something new"])
def test_a_turn_that_ended_well_ends_the_cell_well(reason: str) -> None:
    assert problem(folded(TextChunk("agent", "Hi")), TurnEnded(reason), stopped=False) is None


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("refusal", "will not see them"),
        ("max_tokens", "limit of tokens"),
        ("max_turn_requests", "limit of model requests"),
    ],
)
def test_a_turn_that_was_cut_off_ends_the_cell_as_an_error(reason: str, says: str) -> None:
    error = problem(Transcript(), TurnEnded(reason), stopped=False)
    assert isinstance(error, TurnFailed)
    assert says in str(error)


@pytest.mark.parametrize("stopped", [True, False])
def test_a_cancelled_turn_is_an_interrupt(stopped: bool) -> None:
    error = problem(Transcript(), TurnEnded("cancelled"), stopped)
    assert isinstance(error, TurnCancelled)
    assert ("agent" in str(error)) is not stopped


def test_an_error_stays_the_error_that_it_is() -> None:
    gone = AgentExited("is gone")
    assert problem(Transcript(), TurnBroken(gone), stopped=False) is gone
    odd = problem(Transcript(), TurnBroken(ValueError("x")), stopped=False)
    assert isinstance(odd, TurnFailed)
    assert "ValueError('x')" in str(odd)


@pytest.mark.parametrize(
    ("events", "fails"),
    [
        ([TextChunk("agent", "Agent execution error: 502\nmore")], True),
        ([TextChunk("agent", "Agent exec"), TextChunk("agent", "ution error: 502")], True),
        ([TextChunk("agent", "\n Agent execution error: 502")], True),
        (
            [
                TextChunk("agent", "Ok."),
                ToolCallUpdate("a"),
                TextChunk("agent", "Agent execution error: x"),
            ],
            True,
        ),
        ([TextChunk("agent", "It said: Agent execution error: x")], False),
        ([TextChunk("thought", "Agent execution error: x")], False),
    ],
)
def test_a_failure_that_comes_as_text_is_one(events: list[Event], fails: bool) -> None:
    error = problem(folded(*events), END, stopped=False)
    assert isinstance(error, TurnFailed) is fails
    if error is not None:
        assert str(error).startswith("Agent execution error: ")
        assert "\n" not in str(error)
