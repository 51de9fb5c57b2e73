"""How wrong requests are refused."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.probes.answering import SILENCE, Reply, answering, error, result
from tests.probes.asked import found, simulator, verdicts

OPTION = "session/set_config_option"
NEW = result({"sessionId": "s1"})
LOC = "data.errors[].loc"
PROBES = [
    "authenticate_field",
    "config_field",
    "no_folder",
    "relative_folder",
    "unknown_session",
    "prompt_string",
    "unknown_method",
    "params_list",
    "no_request",
]


def test_the_simulator_refuses_as_rc01_does(tmp_path: Path) -> None:
    told = found("errors", simulator(tmp_path), tmp_path)
    assert verdicts(told) == dict.fromkeys(PROBES, "pass") | {"unknown_session": "fallback"}
    places = {
        name: each.facts["named_in"] for name, each in told.items() if "named_in" in each.facts
    }
    assert places == {
        "authenticate_field": LOC,
        "config_field": LOC,
        "no_folder": LOC,
        "relative_folder": LOC,
        "unknown_session": "message",
        "prompt_string": LOC,
        "unknown_method": "data.method",
    }
    assert told["unknown_session"].words == (
        "error -32000, “Session not found”, and not -32602 or -32002; message names session"
    )
    assert told["no_request"].facts == {"code": -32600}


def test_who_is_signed_out_is_asked_what_needs_no_session(tmp_path: Path) -> None:
    told = verdicts(found("errors", simulator(tmp_path, "--signed-out"), tmp_path))
    assert {name for name, verdict in told.items() if verdict == "skipped"} == {
        "config_field",
        "unknown_session",
        "prompt_string",
    }


@pytest.mark.parametrize(
    ("reply", "verdict", "words", "facts"),
    [
        (
            error(-32602, "Invalid params", [{"loc": ["cwd"], "type": "missing"}]),
            "pass",
            "error -32602, “Invalid params”; data[].loc names cwd",
            {"code": -32602, "named_in": "data[].loc"},
        ),
        (
            error(-32602, "Invalid params", {"cwd": {"_errors": ["Required"]}}),
            "pass",
            "error -32602, “Invalid params”; data.cwd names cwd",
            {"code": -32602, "named_in": "data.cwd"},
        ),
        (
            error(-32602, "missing field `cwd`"),
            "pass",
            "error -32602, “missing field `cwd`”; message names cwd",
            {"code": -32602, "named_in": "message"},
        ),
        (
            error(-32602, "Invalid params", "it lacks session/cwd"),
            "fallback",
            "error -32602, “Invalid params”; nothing names cwd",
            {"code": -32602, "named_in": ""},
        ),
        (
            error(-32603, "Internal error", {"details": "cwd"}),
            "fallback",
            "error -32603, “Internal error”, and not -32602; data.details names cwd",
            {"code": -32603, "named_in": "data.details"},
        ),
        (NEW, "fail", "it got accepted: no error", {"code": None}),
        (SILENCE, "fail", "it got no answer in 0.3 s: no error", {"code": None}),
    ],
)
def test_the_code_and_the_name_decide(
    tmp_path: Path, reply: Reply, verdict: str, words: str, facts: dict[str, Any]
) -> None:
    agent = answering({"session/new": reply})
    seconds = 0.3 if reply is SILENCE else 60.0
    told = found("errors", agent, tmp_path, "no_folder", answer_seconds=seconds)["no_folder"]
    assert (told.verdict, told.words, dict(told.facts)) == (verdict, words, facts)


@pytest.mark.parametrize("name", ["authenticate_field", "config_field"])
def test_a_method_that_is_not_there_refuses_nothing(tmp_path: Path, name: str) -> None:
    told = found("errors", answering({"session/new": NEW}), tmp_path, name)
    assert verdicts(told) == {name: "skipped"}


@pytest.mark.parametrize(
    ("name", "table", "verdict"),
    [
        ("authenticate_field", {"authenticate": result({})}, "fail"),
        ("config_field", {OPTION: result({"configOptions": []})}, "fail"),
        ("config_field", {OPTION: error(-32602, "missing configId")}, "pass"),
        ("relative_folder", {}, "fail"),
        ("unknown_session", {"session/prompt": result({"stopReason": "refusal"})}, "fail"),
        ("unknown_session", {"session/prompt": error(-32002, "No session")}, "pass"),
        ("prompt_string", {"session/prompt": result({"stopReason": "end_turn"})}, "fail"),
        ("prompt_string", {"session/prompt": error(-32602, "prompt: a list")}, "pass"),
        ("unknown_method", {}, "fallback"),
        ("unknown_method", {"session/agy_kernel_probe": result({})}, "fail"),
        ("params_list", {"session/new": error(-32600, "an object is needed")}, "pass"),
        ("params_list", {"session/new": error(-32603, "no")}, "fallback"),
        ("no_request", {}, "fallback"),
    ],
)
def test_each_wrong_request_has_a_verdict_of_its_own(
    tmp_path: Path, name: str, table: dict[str, Any], verdict: str
) -> None:
    told = found("errors", answering({"session/new": NEW, **table}), tmp_path, name)
    assert verdicts(told) == {name: verdict}


@pytest.mark.parametrize(
    ("does", "seconds", "words"),
    [("continue", 0.3, "it got no answer in 0.3 s"), ("break", 60, "it got the end of the agent")],
)
def test_what_is_no_request_is_neither_passed_over_nor_an_end(
    tmp_path: Path, does: str, seconds: float, words: str
) -> None:
    program = f"""
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == 42:
        {does}
    hello = {{"protocolVersion": 1, "agentInfo": {{"name": "deaf"}}}}
    print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": hello}}), flush=True)
"""
    agent = shlex.join([sys.executable, "-c", program])
    told = found("errors", agent, tmp_path, "no_request", answer_seconds=seconds)["no_request"]
    assert (told.verdict, told.words) == ("fail", words)


def test_without_live_no_prompt_is_sent(tmp_path: Path) -> None:
    agent = answering({"session/new": NEW})
    told = found("errors", agent, tmp_path, "unknown_method", "prompt_string", live=False)
    assert verdicts(told) == {"unknown_method": "fallback", "prompt_string": "skipped"}
