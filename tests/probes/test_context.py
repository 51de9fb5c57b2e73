"""What is sent along with a prompt: whether an agent can tell what stands in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agents.scripted import (
    Step,
    answer,
    chunk,
    expect,
    expect_response,
    fail,
    hello,
    new_session,
    opening,
    permission,
    send,
    turn,
)
from tests.probes.asked import found, script, verdicts

TAKES = {"agentCapabilities": {"promptCapabilities": {"embeddedContext": True}}}


def taking(*answers: str) -> str:
    """An agent that takes resources, and answers the prompts that come."""
    sessions: list[list[Step]] = [
        [*new_session(f"s{n}"), *turn(words, session=f"s{n}")] for n, words in enumerate(answers)
    ]
    return script(hello(**TAKES), *sessions)


def test_an_agent_that_reads_all_passes(tmp_path: Path) -> None:
    told = found("context", taking("ORCHID", "Tulip.", "JASMINE", "MAGNOLIA"), tmp_path)
    assert set(verdicts(told).values()) == {"pass"}
    assert told["text_resource"].words == "the answer is ORCHID, which is right"
    assert told["two_resources"].facts == {"told": True, "stopReason": "end_turn"}
    assert told["linked_file"].words == "the file is read, without any tool call"
    assert told["linked_file"].facts == {"told": True, "calls": [], "stopReason": "end_turn"}


def test_an_agent_that_reads_nothing_does_not(tmp_path: Path) -> None:
    told = found("context", taking(*["I see no file."] * 4), tmp_path)
    assert verdicts(told) == {
        "text_resource": "fail",
        "two_resources": "fail",
        "blob_resource": "fallback",
        "linked_file": "fallback",
    }
    assert told["text_resource"].words == (
        "the answer should be ORCHID; end_turn, and 'I see no file.'"
    )
    assert told["linked_file"].words == (
        "the link is not followed, so a text has to be embedded; end_turn, and 'I see no file.'"
    )


def test_what_is_not_advertised_is_not_sent(tmp_path: Path) -> None:
    agent = script(opening(), turn("MAGNOLIA"))
    assert verdicts(found("context", agent, tmp_path)) == {
        "text_resource": "absent",
        "two_resources": "absent",
        "blob_resource": "absent",
        "linked_file": "pass",
    }
    assert '"resource"' not in (tmp_path / "out" / "context.jsonl").read_text()


def test_a_refused_blob_is_told_with_the_error(tmp_path: Path) -> None:
    refusal = [expect("session/prompt"), fail("session/prompt", -32602, "no blobs")]
    agent = script(hello(**TAKES), new_session(), refusal)
    told = found("context", agent, tmp_path, "blob_resource")["blob_resource"]
    assert told.words == "the answer should be JASMINE; error no blobs (-32602), and no text"


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ({"kind": "read", "locations": [{"path": "linked.txt"}]}, "yes"),
        ({"kind": "read", "locations": [{"path": "/etc/passwd"}]}, "no"),
        ({"kind": "edit", "locations": [{"path": "linked.txt"}]}, "no"),
    ],
)
def test_only_the_linked_file_may_be_read(
    asked: dict[str, Any], given: str, tmp_path: Path
) -> None:
    steps = [
        expect("session/prompt"),
        send(permission(90, **asked)),
        expect_response(90),
        send(chunk("MAGNOLIA")),
        answer("session/prompt", {"stopReason": "end_turn"}),
    ]
    told = found("context", script(opening(), steps), tmp_path, "linked_file")["linked_file"]
    assert told.words == f"the file is read, by a tool ({asked['kind']})"
    lines = map(json.loads, (tmp_path / "out" / "context.jsonl").read_text().splitlines())
    answers = [line["msg"]["result"] for line in lines if _is_ours(line)]
    assert answers == [{"outcome": {"outcome": "selected", "optionId": given}}]


def _is_ours(line: dict[str, Any]) -> bool:
    return line.get("dir") == "c2a" and "result" in line["msg"]
