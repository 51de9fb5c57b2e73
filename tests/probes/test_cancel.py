"""How a turn is stopped: the verdicts follow what an agent does, and a tape confirms them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.probes.probe import Finding
from agy_kernel.probes.suites import cancel
from agy_kernel.probes.turns import Request, Turn
from tests.agents.scripted import (
    Step,
    answer,
    chunk,
    expect,
    expect_response,
    fail,
    hello,
    leave,
    new_session,
    opening,
    permission,
    send,
    spawn,
    to_stderr,
    turn,
    update,
)
from tests.probes.answering import answering, result
from tests.probes.asked import found, script, simulator, verdicts

END = {"stopReason": "end_turn"}
WHOLE = "\n".join(map(str, range(1, cancel.LAST + 1)))
COUNTING = ("as_notification", "with_id", "by_closing", "kill_and_load")
LOADS = {"agentCapabilities": {"loadSession": True}}
AGAIN = turn("STILL HERE")
BEGINS: list[Step] = [*opening(), expect("session/prompt"), send(chunk("1\n2\n"))]


def ends(stop_reason: str, *said: str) -> list[Step]:
    """The turn ends, with some last words."""
    return [send(*map(chunk, said)), answer("session/prompt", {"stopReason": stop_reason})]


def asked(name: str, folder: Path, *steps: list[Step], seconds: float = 60.0) -> Finding:
    return found("cancel", script(*steps), folder, name, cancel_seconds=seconds)[name]


# -- a turn that is over by itself


@pytest.mark.parametrize("name", [*COUNTING, "while_asking", "while_running"])
def test_an_agent_that_dies_has_not_just_ended_its_turn(tmp_path: Path, name: str) -> None:
    dies = [expect("session/prompt"), send(chunk("1\n2")), to_stderr("panic"), leave(4)]
    told = asked(name, tmp_path, hello(**LOADS), new_session(), dies)
    assert told.verdict == "fail"
    assert "(exit status 4); its last words: panic" in told.words


@pytest.mark.parametrize("said", [WHOLE, "1\n2\n3", "I will not count."], ids=len)
def test_a_turn_that_was_over_already_was_not_stopped(tmp_path: Path, said: str) -> None:
    table = {
        "session/new": result({"sessionId": "s1"}),
        "session/prompt": result(END, before=(chunk(said),)),
    }
    told = found("cancel", answering(table, **LOADS), tmp_path, *COUNTING)
    assert verdicts(told) == dict.fromkeys(COUNTING, "skipped")
    assert {finding.words for finding in told.values()} == {cancel.OVER}


def test_a_text_that_came_whole_leaves_nothing_to_stop(tmp_path: Path) -> None:
    told = found("cancel", simulator(tmp_path, "--whole-text"), tmp_path, *COUNTING)
    assert verdicts(told) == dict.fromkeys(COUNTING, "skipped")


def test_a_turn_that_counts_to_its_end_after_the_cancel_was_not_stopped(tmp_path: Path) -> None:
    steps = [expect("session/cancel"), *ends("end_turn", WHOLE)]
    told = asked("as_notification", tmp_path, BEGINS, steps)
    assert told.verdict == "fail"
    assert re.fullmatch(r"it counts to its end, \d+\.\d\d s after the cancel", told.words)


@pytest.mark.parametrize(
    ("cancel_answer", "stop_reason", "said", "verdict", "words"),
    [
        (answer("session/cancel", {}), "cancelled", "", "fallback", "it ends the turn (cancelled)"),
        (answer("session/cancel", {}), "end_turn", "", "fallback", "it ends the turn (end_turn)"),
        (answer("session/cancel", {}), "end_turn", WHOLE, "absent", "the turn ends by itself (end"),
        (
            fail("session/cancel", -32601, "no such"),
            "end_turn",
            "",
            "absent",
            "the turn ends by itself (end_turn); the request got error no such (-32601)",
        ),
    ],
)
def test_what_a_request_to_cancel_does(
    tmp_path: Path, cancel_answer: Step, stop_reason: str, said: str, verdict: str, words: str
) -> None:
    steps = [expect("session/cancel"), cancel_answer, *ends(stop_reason, said)]
    told = asked("with_id", tmp_path, BEGINS, steps, AGAIN)
    assert (told.verdict, told.words[: len(words)]) == (verdict, words)


@pytest.mark.parametrize(
    ("steps", "verdict", "words"),
    [
        ([answer("session/close", {}), *ends("cancelled")], "pass", "the turn ends: cancelled"),
        ([answer("session/close", {}), *ends("end_turn")], "fallback", "the turn ends: end_turn"),
        (
            [answer("session/close", {}), *ends("end_turn", WHOLE)],
            "fail",
            "session/close got an answer, and the turn ends: end_turn",
        ),
        (
            [answer("session/close", {}), fail("session/prompt", -32603, "gone")],
            "fail",
            "session/close got an answer, and the turn ends: error gone (-32603)",
        ),
        (
            [fail("session/close", -32603, "busy"), *ends("cancelled")],
            "fail",
            "session/close got error busy (-32603), and the turn ends: cancelled",
        ),
        (
            [fail("session/close", -32601, "no such"), *ends("end_turn")],
            "absent",
            "session/close got error no such (-32601)",
        ),
    ],
)
def test_what_closing_the_session_does(
    tmp_path: Path, steps: list[Step], verdict: str, words: str
) -> None:
    told = asked("by_closing", tmp_path, BEGINS, [expect("session/close"), *steps])
    assert (told.verdict, told.words[: len(words)]) == (verdict, words)


@pytest.mark.parametrize(
    ("step", "close_seconds", "turn_seconds", "words"),
    [
        (
            answer("session/close", {}),
            60.0,
            0.5,
            "session/close got an answer, and the turn goes on",
        ),
        (
            answer("session/prompt", {"stopReason": "cancelled"}),
            0.5,
            60.0,
            "session/close got no answer in 0.5 s, and the turn ends: cancelled",
        ),
    ],
    ids=["the turn", "session/close"],
)
def test_what_is_not_answered_when_the_session_is_closed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: Step,
    close_seconds: float,
    turn_seconds: float,
    words: str,
) -> None:
    monkeypatch.setattr(Turn, "answer", lambda turn, _: Request.answer(turn, turn_seconds))
    steps = [expect("session/close"), step]
    told = asked("by_closing", tmp_path, BEGINS, steps, seconds=close_seconds)
    assert (told.verdict, told.words) == ("fail", words)


# -- what the message ends with


@pytest.mark.parametrize(
    ("said", "leak"),
    [
        ("1\n2\n3", ""),
        ("1.\n2.", ""),
        ("1, 2,", ""),
        ("**1**\n**2**", ""),
        ("```\n1\n2\n```", ""),
        ("```text\n1\n2\n", ""),
        ("Counting from 1 to 3000:\n\n1\n2", ""),
        ("1\n2context canceled", "context canceled"),
        ("1\n2\nHTTP 499", "HTTP 499"),
        ("1.\n2.\n[Request interrupted by user]", "Request interrupted by user]"),
    ],
)
def test_words_behind_the_numbers_are_a_leak(tmp_path: Path, said: str, leak: str) -> None:
    begins: list[Step] = [*opening(), expect("session/prompt"), send(chunk(said))]
    steps = [expect("session/cancel"), *ends("cancelled")]
    told = asked("as_notification", tmp_path, begins, steps, AGAIN)
    assert told.verdict == ("fallback" if leak else "pass")
    assert told.words.partition("; the message ends with ")[2] == (repr(leak) if leak else "")


# -- a command that runs


def running(*steps: Step) -> list[Step]:
    """A turn in which a command is asked for and runs, until it is cancelled."""
    asks: Any = permission(90)
    asks["params"]["toolCall"]["rawInput"] = {"command": cancel.COMMAND}
    called = update("s1", "tool_call", toolCallId="c1", kind="execute", status="in_progress")
    return [
        *opening(),
        expect("session/prompt"),
        send(asks),
        expect_response(90),
        *steps,
        send(called),
        expect("session/cancel"),
        *ends("cancelled"),
    ]


def test_a_command_that_is_gone_was_stopped_with_its_turn(tmp_path: Path) -> None:
    told = asked("while_running", tmp_path, running(), AGAIN)
    assert told.verdict == "pass"
    assert told.words.endswith("after the cancel; the session goes on")
    assert told.facts == {"stopReason": "cancelled"}


@pytest.mark.parametrize("own_session", [False, True])
def test_a_command_that_lives_on_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_session: bool
) -> None:
    monkeypatch.setattr(cancel, "COMMAND", "sleep 600")
    monkeypatch.setattr(cancel, "GLANCES", 2)
    told = asked("while_running", tmp_path, running(spawn(own_session=own_session)), AGAIN)
    assert told.verdict == "fallback"
    assert told.words.endswith("; the session goes on; the command runs on")
    assert told.facts == {"stopReason": "cancelled", "runs_on": True}


def test_the_simulator_runs_no_command_that_could_live_on(tmp_path: Path) -> None:
    told = found("cancel", simulator(tmp_path), tmp_path, "while_running")["while_running"]
    assert told.verdict == "pass"


# -- without session/load


def test_no_prompt_is_spent_where_no_session_can_be_loaded(tmp_path: Path) -> None:
    agent = answering({"session/new": result({"sessionId": "s1"})})
    told = found("cancel", agent, tmp_path, "kill_and_load")["kill_and_load"]
    assert (told.verdict, told.words) == ("skipped", "session/load is not advertised")
    assert "session/prompt" not in (tmp_path / "out" / "cancel.jsonl").read_text()
