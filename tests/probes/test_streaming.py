"""How a text comes: the verdicts follow what an agent does, and a tape confirms them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.probes.suites.streaming import BARRIER, LAST
from tests.agents.scripted import (
    Frame,
    Step,
    answer,
    chunk,
    expect,
    fail,
    opening,
    send,
    update,
)
from tests.probes.asked import found, script, simulator, verdicts

NUMBERS = "\n".join(map(str, range(1, LAST + 1)))
HALF = len(NUMBERS) // 2  # within 164, behind the 1
END = {"stopReason": "end_turn"}


def turn(*frames: Frame, behind: tuple[Frame, ...] = (), **result: Any) -> list[Step]:
    return [
        expect("session/prompt"),
        send(*frames),
        answer("session/prompt", {**END, **result}, *behind),
    ]


def asked(agent: list[Step], folder: Path, *only: str, **thresholds: Any) -> Any:
    told = found("streaming", script(opening(), agent), folder, *only, **thresholds)
    return told[only[0]] if len(only) == 1 else told


def test_the_simulator_streams_as_the_seed_saw_it(tmp_path: Path) -> None:
    told = found("streaming", simulator(tmp_path / "state"), tmp_path)
    told.pop("thoughts")
    assert verdicts(told) == {
        "deltas": "pass",
        "long": "pass",
        "first_text": "pass",
        "order": "pass",
        "usage": "absent",
        "message_ids": "absent",
    }
    assert told["deltas"].facts == {
        "how": "deltas",
        "splitNumbers": True,
        "stopReason": "end_turn",
    }
    assert told["deltas"].words.endswith("some end in the middle of a number; no letter is lost")
    assert told["long"].words.startswith("3,000 lines in ")
    assert told["usage"].words == "tokens are told nowhere"
    assert told["order"].facts == {"late": [], "others": []}


def test_the_flags_change_the_verdicts(tmp_path: Path) -> None:
    agent = simulator(tmp_path / "state", "--usage", "--whole-text")
    told = found("streaming", agent, tmp_path, "deltas", "usage")
    assert verdicts(told) == {"deltas": "fallback", "usage": "pass"}
    assert told["deltas"].words == "the whole text in one chunk; no letter is lost"
    assert told["deltas"].facts["splitNumbers"] is False
    assert told["usage"].facts["where"] == {
        "the answer's usage": ["inputTokens", "outputTokens", "totalTokens"],
        "usage_update": ["size", "used"],
    }


@pytest.mark.parametrize(
    ("chunks", "verdict", "how", "words"),
    [
        ((NUMBERS[:HALF], NUMBERS), "fallback", "cumulative", "each chunk repeats the text so far"),
        (
            (NUMBERS[:HALF], NUMBERS[HALF:], NUMBERS),
            "fallback",
            "repeated",
            "the last chunk repeats the whole text",
        ),
        ((NUMBERS[:HALF], NUMBERS[HALF:]), "pass", "deltas", "2 deltas; some end in the middle"),
        ((f"{NUMBERS[:2]}", NUMBERS[2:]), "pass", "deltas", "2 deltas; none ends in the middle"),
        (
            (NUMBERS[:9], NUMBERS[8:]),
            "fail",
            "deltas",
            "the text is wrong: line 5 is '55'",
        ),
        ((NUMBERS[:HALF], "64"), "fail", "deltas", "the text is wrong: it ends with line 164"),
        ((NUMBERS, "\n301"), "fail", "deltas", "the text is wrong: line 301 is '301'"),
        (("I will not.",), "fail", "whole", "the text is wrong: line 1 is 'I will not.'"),
    ],
)
def test_what_chunks_are(
    chunks: tuple[str, ...], verdict: str, how: str, words: str, tmp_path: Path
) -> None:
    told = asked(turn(*map(chunk, chunks)), tmp_path, "deltas")
    assert (told.verdict, told.facts["how"]) == (verdict, how)
    assert told.words.startswith(words)


def test_a_turn_that_fails_is_told_with_its_error(tmp_path: Path) -> None:
    agent = [expect("session/prompt"), fail("session/prompt", -32603, "no model")]
    told = asked(agent, tmp_path, "deltas", "first_text")
    assert verdicts(told) == {"deltas": "fail", "first_text": "fail"}
    assert told["first_text"].words == "no text came (error no model (-32603))"


def test_a_long_text_may_be_made_shorter(tmp_path: Path) -> None:
    told = asked(turn(chunk("1\n2"), chunk("\n3")), tmp_path, "long", lines=3)
    assert told.verdict == "pass"
    assert re.match(r"3 lines in \d+\.\d\d s, 2 chunks; ", told.words)


def test_a_first_text_may_come_too_late(tmp_path: Path) -> None:
    told = asked(turn(chunk("1")), tmp_path, "first_text", first_text_seconds=0)
    assert told.verdict == "fail"


def test_updates_behind_the_answer_are_seen(tmp_path: Path) -> None:
    behind = (chunk("late"), update("s1", "usage_update", used=1, size=2))
    barrier = [expect(BARRIER), fail(BARRIER, -32601, "Method not found")]
    told = asked([*turn(chunk("1"), behind=behind), *barrier], tmp_path, "order", "usage")
    assert told["order"].verdict == "fallback"
    assert told["order"].words == (
        "1 updates of the turn come behind the answer: a client must go on listening"
    )
    assert told["order"].facts == {"late": ["agent_message_chunk"], "others": ["usage_update"]}
    assert told["usage"].facts["where"] == {"usage_update": ["size", "used"]}


def test_an_agent_that_was_ended_since_cannot_be_asked_for_its_order(tmp_path: Path) -> None:
    steps = [*turn(chunk("1")), expect("session/new"), ["leave", 3]]
    told = asked(steps, tmp_path, "deltas", "long", "order")
    assert told["long"].verdict == "fail"
    assert told["order"].verdict == "skipped"
    assert told["order"].words == "the agent that has answered it was ended meanwhile"


def test_tokens_in_meta_are_found_as_gemini_tells_them(tmp_path: Path) -> None:
    quota = {"token_count": {"input_tokens": 7, "output_tokens": 9}, "model_usage": []}
    told = asked(turn(chunk("1"), _meta={"quota": quota, "attempts": 1}), tmp_path, "usage")
    assert told.facts["where"] == {
        "the answer's _meta": ["quota.token_count.input_tokens", "quota.token_count.output_tokens"]
    }


THOUGHT = update("s1", "agent_thought_chunk", content={"type": "text", "text": "17 x 20 = 340"})


@pytest.mark.parametrize(
    ("frames", "verdict", "words"),
    [
        ((THOUGHT, chunk("391")), "pass", "1 chunks of thoughts, 13 letters; the answer holds 391"),
        ((chunk("It is 391."),), "absent", "no thoughts come, and the answer holds 391"),
        ((THOUGHT, chunk("390")), "fail", "the answer is wrong: '390'"),
    ],
)
def test_thoughts(frames: tuple[Frame, ...], verdict: str, words: str, tmp_path: Path) -> None:
    told = asked(turn(*frames), tmp_path, "thoughts")
    assert (told.verdict, told.words) == (verdict, words)


@pytest.mark.parametrize(
    ("ids", "verdict"), [(("m", "m"), "pass"), (("m", None), "fallback"), ((None, 7), "absent")]
)
def test_message_ids(ids: tuple[Any, ...], verdict: str, tmp_path: Path) -> None:
    told = asked(turn(*(chunk("1", messageId=each) for each in ids)), tmp_path, "message_ids")
    assert told.verdict == verdict
