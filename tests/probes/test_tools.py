"""What is told of tool calls, and what is allowed: nothing but what was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.probes.probe import Finding
from agy_kernel.probes.suites.tools import COMMAND, DENIED_FILE, FILE, LINE
from tests.agents.scripted import (
    Frame,
    Step,
    answer,
    chunk,
    expect,
    expect_response,
    opening,
    permission,
    request,
    save,
    send,
    update,
)
from tests.probes.asked import found, script, simulator, verdicts

DIFF = {"type": "diff", "path": FILE, "oldText": None, "newText": LINE}
EDIT = {"kind": "edit", "title": "Write", "content": [DIFF], "locations": [{"path": FILE}]}
PRINTED = [{"type": "content", "content": {"type": "text", "text": f"{LINE}\n"}}]
END = {"stopReason": "end_turn"}


def call(kind: str = "tool_call", /, **fields: Any) -> Frame:
    return update("s1", kind, toolCallId="c1", **fields)


def ask(**tool_call: Any) -> list[Step]:
    return [send(permission(90, **tool_call)), expect_response(90)]


def done(**fields: Any) -> Step:
    return send(call("tool_call_update", status="completed", **fields))


def put(name: str, folder: Path, *steps: Step) -> Finding:
    """A probe put to an agent that takes these steps in its turn."""
    agent = [expect("session/prompt"), *steps, answer("session/prompt", END)]
    return found("tools", script(opening(), agent), folder, name)[name]


def answers(folder: Path) -> list[str]:
    """What the prober has answered to permission requests."""
    lines = map(json.loads, (folder / "out" / "tools.jsonl").read_text().splitlines())
    sent = (line["msg"] for line in lines if line.get("dir") == "c2a")
    return [frame["result"]["outcome"]["optionId"] for frame in sent if "result" in frame]


def test_an_edit_that_tells_all_passes(tmp_path: Path) -> None:
    told = put(
        "edit",
        tmp_path,
        send(call(status="pending", **EDIT)),
        *ask(status="pending"),  # all that is known stands in the frame before
        save(FILE, f"{LINE}\n"),
        done(),
    )
    assert answers(tmp_path) == ["yes"]
    assert told.verdict == "pass"
    assert told.words == (
        "kind, life cycle, diff and place are told; leave was asked for after the call was "
        "announced: yes (allow_once), no (reject_once)"
    )
    assert told.facts == {
        "calls": [
            {
                "kind": "edit",
                "statuses": ["pending", "completed"],
                "saidBy": ["tool_call", "session/request_permission", "tool_call_update"],
                "content": ["diff"],
                "fields": ["locations"],
                "options": [["yes", "allow_once"], ["no", "reject_once"]],
            }
        ],
        "diff": ["newText", "oldText", "path", "type"],
        "superseded": False,
        "file": True,
        "stopReason": "end_turn",
    }


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({"kind": "edit", "locations": [{"path": FILE}]}, "a diff"),
        (EDIT | {"content": [{"type": "diff", "newText": LINE}]}, "a diff"),
        ({"kind": "edit", "content": [DIFF]}, "locations or rawInput"),
    ],
)
def test_what_is_not_told_of_an_edit_is_named(
    fields: dict[str, Any], missing: str, tmp_path: Path
) -> None:
    steps = (*ask(**fields), save(FILE, LINE), send(call(status="pending")), done())
    told = put("edit", tmp_path, *steps)
    assert told.verdict == "fallback"
    assert told.words == (
        f"not told: {missing}; leave was asked for before the call was announced: "
        "yes (allow_once), no (reject_once)"
    )


def test_a_call_that_was_never_announced_is_told_so(tmp_path: Path) -> None:
    steps = (*ask(status="pending", **EDIT), save(FILE, LINE), done())
    told = put("edit", tmp_path, *steps)
    assert told.words == (
        "kind, life cycle, diff and place are told; leave was asked for a call that was never "
        "announced: yes (allow_once), no (reject_once)"
    )


def test_an_edit_of_which_nothing_is_told_is_a_fallback(tmp_path: Path) -> None:
    told = put("edit", tmp_path, save(FILE, LINE))
    assert told.verdict == "fallback"
    assert told.words == (
        "not told: the kind edit, a life cycle, a diff, locations or rawInput; "
        "no leave was asked for"
    )


@pytest.mark.parametrize(
    "asked",
    [
        EDIT | {"locations": [{"path": "../other.txt"}]},
        EDIT | {"locations": [{"path": FILE}, {"path": "/etc/passwd"}]},
        EDIT | {"rawInput": {"file_path": "/etc/passwd"}},
        EDIT | {"rawInput": {"command": "rm -rf ~"}},
        EDIT | {"kind": "execute"},
        {"kind": "edit"},
    ],
)
def test_nothing_else_is_allowed(asked: dict[str, Any], tmp_path: Path) -> None:
    told = put("edit", tmp_path, *ask(**asked), send(chunk("Then I leave it.")))
    assert told.verdict == "fail"
    assert told.words == ("the file is not there; end_turn, and 'Then I leave it.'")
    assert answers(tmp_path) == ["no"]


def test_the_simulator_replaces_the_call_that_was_approved(tmp_path: Path) -> None:
    told = found("tools", simulator(tmp_path / "state"), tmp_path, "edit", "denied", "fs_declined")
    assert told["edit"].facts["superseded"] is True
    statuses = [call["statuses"] for call in told["edit"].facts["calls"]]
    assert statuses[:2] == [["pending", "failed"], ["in_progress", "completed"]]
    assert verdicts(told) | {"edit": ""} == {"edit": "", "denied": "pass", "fs_declined": "pass"}
    assert told["denied"].facts == {
        "stopReason": "end_turn",
        "statuses": ["failed"],
        "answered": ["reject_once"],
    }
    assert told["fs_declined"].facts == {"requested": ["session/request_permission"]}


@pytest.mark.parametrize(
    ("steps", "verdict", "words"),
    [
        ([*ask(**EDIT)], "pass", "no file; the refused call is left without a status; end_turn"),
        ([*ask(**EDIT), save(DENIED_FILE, LINE)], "fail", "the file was written although it was"),
        ([save(DENIED_FILE, LINE)], "fail", "the file was written without asking"),
        ([send(chunk("No."))], "skipped", "it asked for no permission: it said 'No.'"),
    ],
)
def test_what_is_refused(steps: list[Step], verdict: str, words: str, tmp_path: Path) -> None:
    told = put("denied", tmp_path, *steps)
    assert told.verdict == verdict
    assert told.words.startswith(words)


RUNS = {"kind": "execute", "title": COMMAND}
TERMINAL = [{"type": "terminal", "terminalId": "t1"}]


@pytest.mark.parametrize(
    ("asked", "came", "verdict", "words"),
    [
        (RUNS, {"content": PRINTED}, "pass", "its output is in content; leave"),
        (
            RUNS | {"rawInput": {"command": ["bash", "-lc", COMMAND]}},
            {"rawOutput": {"formatted_output": LINE, "command": COMMAND}},
            "pass",
            "its output is in rawOutput; leave",
        ),
        (RUNS, {"content": TERMINAL}, "pass", "its output is in a terminal; leave"),
        (RUNS, {"rawOutput": COMMAND}, "fallback", "its output is told nowhere; leave"),
    ],
)
def test_where_output_comes(
    asked: dict[str, Any], came: dict[str, Any], verdict: str, words: str, tmp_path: Path
) -> None:
    told = put("command", tmp_path, *ask(**asked), done(**came))
    assert answers(tmp_path) == ["yes"]
    assert told.verdict == verdict
    assert told.words.startswith(words)


@pytest.mark.parametrize(
    "asked",
    [
        RUNS | {"title": f"{COMMAND}; rm -rf /"},
        RUNS | {"rawInput": {"command": f"{COMMAND} > /etc/passwd"}},
        RUNS | {"rawInput": {"command": ["ssh", "-c", COMMAND]}},
        RUNS | {"rawInput": {"script": "rm -rf ~"}},
        {"title": COMMAND},
    ],
)
def test_no_other_command_is_allowed(asked: dict[str, Any], tmp_path: Path) -> None:
    told = put("command", tmp_path, *ask(**asked), send(chunk("Not run.")))
    assert told.verdict == "fail"
    assert told.words == "it did not run: end_turn, and 'Not run.'"
    assert answers(tmp_path) == ["no"]


@pytest.mark.parametrize(
    ("steps", "verdict", "words"),
    [
        ([send(call(kind="read"), chunk("LANTERN"))], "pass", "it was read; told as read; no"),
        ([send(chunk("LANTERN"))], "fallback", "it was read; no call is told"),
        ([send(chunk("No such file"))], "fail", "it was not read: end_turn, and"),
    ],
)
def test_how_a_file_is_read(steps: list[Step], verdict: str, words: str, tmp_path: Path) -> None:
    told = put("read", tmp_path, *steps)
    assert told.verdict == verdict
    assert told.words.startswith(words)


def test_a_request_for_files_that_were_declined_is_a_failure(tmp_path: Path) -> None:
    asks = send(request(91, "fs/read_text_file", {"sessionId": "s1", "path": "/x"}))
    agent = [expect("session/prompt"), asks, expect_response(91), answer("session/prompt", END)]
    told = found("tools", script(opening(), agent), tmp_path, "read", "fs_declined")["fs_declined"]
    assert told.verdict == "fail"
    assert told.words == "it asks for fs/read_text_file all the same"


def test_without_a_prompt_there_is_nothing_to_look_at(tmp_path: Path) -> None:
    told = found("tools", script(opening()), tmp_path, "fs_declined")["fs_declined"]
    assert (told.verdict, told.words) == ("skipped", "no prompt was sent")
