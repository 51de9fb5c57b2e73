"""P2: the ways to sign in, with and without a person."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.agents import scripted
from tests.agents.scripted import one_after_the_other, opening
from tests.probes.answering import Reply, answering, error, result
from tests.probes.asked import found, simulator, verdicts

OPEN = result({"sessionId": "s1"})
WANTED = (-32000, "Authentication required")
KEY = {"id": "key", "name": "Key", "type": "env_var", "vars": [{"name": "PROBED_KEY"}]}
TERMINAL = {"id": "term", "name": "Terminal", "type": "terminal", "args": ["login"]}
RC01_METHODS = ["oauth-personal", "oauth-business", "gemini-api-key", "agent-platform"]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "PROBED_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_who_is_signed_in_needs_no_authenticate(tmp_path: Path) -> None:
    told = found("sign-in", simulator(tmp_path), tmp_path)
    assert verdicts(told) == {
        "methods": "pass",
        "without_authenticate": "pass",
        "unattended": "skipped",
        "after_restart": "pass",
        "logout": "pass",
    }
    assert list(told["methods"].facts["methods"]) == RC01_METHODS
    assert told["methods"].words.startswith("oauth-personal: needs: not told; ")
    assert told["after_restart"].words == (
        "it does: a new process opens a session without authenticate"
    )


def test_a_refusal_names_the_ways_and_the_variables(tmp_path: Path) -> None:
    told = found("sign-in", simulator(tmp_path, "--signed-out"), tmp_path)
    refused = told["without_authenticate"]
    assert refused.verdict == "fallback"
    assert refused.facts == {
        "code": -32000,
        "names": RC01_METHODS,
        "named_in": "data.message",
        "variables": [
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_CLOUD_PROJECT",
            "GOOGLE_CLOUD_LOCATION",
        ],
    }
    assert refused.words.startswith("refused by -32000, “Authentication required”; data.message")
    assert told["unattended"].words.startswith("it takes a person")
    assert told["after_restart"].words == (
        "it wants a sign-in first: Authentication required. `%agy auth` signs in"
    )


def test_a_variable_that_is_set_signs_in_without_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "not a key")
    told = found("sign-in", simulator(tmp_path, "--signed-out"), tmp_path)
    assert told["unattended"].verdict == "pass"
    assert told["unattended"].facts == {"method": "gemini-api-key"}
    assert told["after_restart"].verdict == "fallback"
    assert told["after_restart"].words == (
        "without authenticate, a new process answers error -32000, “Authentication required”; "
        "signing in again needs no person"
    )


@pytest.mark.parametrize(
    ("authenticated", "words"),
    [
        (error(-32000, "bad key"), "authenticate by key got error -32000, “bad key”"),
        (result({}), "then session/new got error -32000, “Authentication required”"),
    ],
)
def test_a_sign_in_that_does_not_help_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, authenticated: Reply, words: str
) -> None:
    monkeypatch.setenv("PROBED_KEY", "x")
    table = {"session/new": error(*WANTED), "authenticate": authenticated}
    agent = answering(table, authMethods=[KEY])
    told = found("sign-in", agent, tmp_path, "unattended")["unattended"]
    assert told.verdict == "fail"
    assert words in told.words


def test_a_sign_in_is_not_replaced_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROBED_KEY", "x")
    agent = answering({"session/new": OPEN, "authenticate": result({})}, authMethods=[KEY])
    told = found("sign-in", agent, tmp_path, "unattended")["unattended"]
    assert told.words == "it is signed in already, and another sign-in might replace that one"
    tape = (tmp_path / "out" / "sign-in.jsonl").read_text(encoding="utf-8")
    assert '"authenticate"' not in tape


def test_methods_tell_what_they_need(tmp_path: Path) -> None:
    agent = answering({"session/new": OPEN}, authMethods=[KEY, TERMINAL])
    told = found("sign-in", agent, tmp_path, "methods")["methods"]
    assert told.words == "key: needs PROBED_KEY; term: a command in a terminal"
    assert told.facts["methods"]["key"] == {"type": "env_var", "variables": ["PROBED_KEY"]}


def test_an_agent_without_methods_has_none(tmp_path: Path) -> None:
    told = found("sign-in", answering({"session/new": OPEN}), tmp_path)
    assert verdicts(told) == {
        "methods": "absent",
        "without_authenticate": "pass",
        "unattended": "skipped",
        "after_restart": "pass",
        "logout": "absent",
    }


@pytest.mark.parametrize(
    ("new", "methods", "verdict"),
    [
        (error(*WANTED), [KEY], "fallback"),
        (error(*WANTED), [], "fail"),
        (error(-32603, "Authentication required"), [KEY], "fail"),
        (result({}), [KEY], "fail"),
    ],
)
def test_only_a_refusal_that_leads_on_is_a_fallback(
    tmp_path: Path, new: dict[str, Any], methods: list[Any], verdict: str
) -> None:
    agent = answering({"session/new": new}, authMethods=methods)
    told = found("sign-in", agent, tmp_path, "without_authenticate")
    assert verdicts(told) == {"without_authenticate": verdict}


def test_a_sign_in_that_is_lost_for_good_fails(tmp_path: Path) -> None:
    refused = [scripted.expect("session/new"), scripted.fail("session/new", *WANTED)]
    (starts := tmp_path / "starts").mkdir()
    agent = one_after_the_other(starts, opening(), [*scripted.hello(), *refused])
    told = found("sign-in", agent, tmp_path, "after_restart")["after_restart"]
    assert told.verdict == "fail"
    assert told.words.endswith("; a person would have to sign in at each start")
