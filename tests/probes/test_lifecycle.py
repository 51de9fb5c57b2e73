"""P8: what becomes of a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.agents.scripted import chunk, update
from tests.probes.answering import Reply, answering, error, result
from tests.probes.asked import found, simulator, verdicts

UNKNOWN = "00000000-0000-4000-8000-000000000000"
NEW = result({"sessionId": "s1"})
END = {"stopReason": "end_turn"}
NOTED = result(END, before=(chunk("NOTED"),))
USER = update("s1", "user_message_chunk", content={"type": "text", "text": "Remember"})
TALK: dict[str, Reply] = {"session/new": NEW, "session/prompt": NOTED}
GONE = error(-32002, "Resource not found", {"sessionId": UNKNOWN})


def advertised(*sessions: str, load: bool = False) -> dict[str, Any]:
    return {
        "agentCapabilities": {
            "loadSession": load,
            "sessionCapabilities": {name: {} for name in sessions},
        }
    }


def test_the_simulator_has_what_rc01_has(tmp_path: Path) -> None:
    told = found("lifecycle", simulator(tmp_path), tmp_path)
    assert verdicts(told) == {
        "load": "pass",
        "remembers": "pass",
        "resume": "pass",
        "list_sessions": "pass",
        "fork": "absent",
        "close": "pass",
        "delete": "absent",
        "load_unknown": "pass",
        "prompt_unknown": "pass",
    }
    assert told["load"].words == "replayed before the answer: user whole, agent whole"
    assert told["load"].facts == {
        "advertised": True,
        "roles": ["user", "agent"],
        "forms": {"user": "whole", "agent": "whole"},
        "is_late": False,
        "same_answer": True,
    }
    assert told["list_sessions"].facts == {
        "advertised": True,
        "listed": True,
        "by_folder": True,
        "fields": ["cwd", "sessionId", "title", "updatedAt"],
        "pages": False,
    }
    assert told["close"].words == (
        "works, though not advertised: it is closed: a prompt to it got error -32000, “Session not "
        "found”; the connection goes on"
    )
    assert told["load_unknown"].facts == {"code": -32000, "named_in": "message"}


def test_who_is_signed_out_has_no_sessions(tmp_path: Path) -> None:
    told = found("lifecycle", simulator(tmp_path, "--signed-out"), tmp_path)
    assert set(verdicts(told).values()) == {"skipped"}
    assert told["load"].words.startswith("it wants a sign-in first")


@pytest.mark.parametrize(
    ("loaded", "verdict", "words"),
    [
        (
            result({}, before=(USER, chunk("NO"), chunk("TED"))),
            "pass",
            "replayed before the answer: user whole, agent in chunks",
        ),
        (result(None, before=(USER, chunk("NOTED"))), "pass", "user whole, agent whole"),
        (
            result({}, after=(USER, chunk("NOTED"))),
            "fallback",
            "replayed behind the answer: user whole, agent whole",
        ),
        (result({}), "fallback", "loaded; no history is replayed"),
        (
            result({}, before=(chunk("NOTED"),)),
            "fallback",
            "replayed before the answer: agent whole",
        ),
        (
            result({}, before=(USER, chunk("Hello"))),
            "fallback",
            "agent whole; the answer is another than it was",
        ),
        (error(-32602, "no such"), "fail", "session/load got error -32602, “no such”"),
        (
            error(-32601, "Method not found"),
            "absent",
            "session/load is advertised, and answers -32601",
        ),
    ],
)
def test_what_a_load_replays_decides(
    tmp_path: Path, loaded: Reply, verdict: str, words: str
) -> None:
    agent = answering({**TALK, "session/load": loaded}, **advertised(load=True))
    told = found("lifecycle", agent, tmp_path, "load", quiet_seconds=0.3)["load"]
    assert (told.verdict, words in told.words) == (verdict, True)


@pytest.mark.parametrize(("said", "verdict"), [("pelican", "pass"), ("Which word?", "fail")])
def test_a_loaded_session_knows_the_word_or_not(tmp_path: Path, said: str, verdict: str) -> None:
    recalled = result(END, before=(chunk(said),))
    agent = answering({"session/new": NEW, "session/load": result({}), "session/prompt": recalled})
    told = found("lifecycle", agent, tmp_path, "remembers")["remembers"]
    assert (told.verdict, told.facts) == (verdict, {"knows": verdict == "pass"})


@pytest.mark.parametrize(
    ("name", "table", "verdict", "words"),
    [
        ("resume", {"session/resume": result({})}, "pass", "works, though not advertised: it res"),
        (
            "resume",
            {"session/resume": result({}, before=(USER, chunk("NOTED")))},
            "fallback",
            "it replays 2 chunks, as session/load does",
        ),
        ("resume", {}, "absent", "session/resume is not advertised, and not there"),
        (
            "fork",
            {"session/fork": result({"sessionId": "s2"})},
            "pass",
            "works, though not advertised: it gives a session with an id of its own",
        ),
        (
            "fork",
            {"session/fork": result({"sessionId": "s1"})},
            "fail",
            "it answers without an id of its own",
        ),
        ("fork", {"session/fork": error(-32603, "no")}, "fail", "session/fork got error -32603"),
        (
            "close",
            {"session/close": result({})},
            "fallback",
            "it is closed, and a prompt to it got an answer all the same",
        ),
        (
            "close",
            {"session/close": result({}), "session/prompt": GONE, "session/new": [NEW, GONE]},
            "fail",
            "it is closed; then session/new got error -32002",
        ),
        (
            "delete",
            {"session/delete": result({}), "session/load": GONE},
            "pass",
            "works, though not advertised: then session/load got error -32002",
        ),
        (
            "delete",
            {"session/delete": result({}), "session/load": result({})},
            "fail",
            "it is deleted, and session/load got an answer",
        ),
    ],
)
def test_a_method_is_tried_though_it_is_not_advertised(
    tmp_path: Path, name: str, table: dict[str, Any], verdict: str, words: str
) -> None:
    agent = answering({**TALK, **table})
    told = found("lifecycle", agent, tmp_path, name)[name]
    assert (told.verdict, told.words[: len(words)]) == (verdict, words)


@pytest.mark.parametrize("name", ["resume", "fork", "close", "delete"])
def test_what_is_advertised_and_not_there_is_told(tmp_path: Path, name: str) -> None:
    agent = answering(TALK, **advertised(name))
    told = found("lifecycle", agent, tmp_path, name)[name]
    assert told.verdict == "absent"
    assert told.words == f"session/{name} is advertised, and answers -32601"


MINE, OTHER = {"sessionId": "s1", "cwd": "/a"}, {"sessionId": "s0", "cwd": "/b"}


@pytest.mark.parametrize(
    ("replies", "verdict", "facts"),
    [
        ([{"sessions": [MINE]}, {"sessions": []}], "pass", (True, True, False)),
        ([{"sessions": [OTHER, MINE]}], "fallback", (True, False, False)),
        ([{"sessions": [OTHER]}], "fail", (False,)),
        (
            [{"sessions": [OTHER], "nextCursor": "2"}, {"sessions": [MINE], "nextCursor": "3"}, {}],
            "pass",
            (True, True, True),
        ),
        ([{"sessions": [OTHER], "nextCursor": "more"}], "skipped", ()),
    ],
)
def test_a_session_is_looked_for_page_by_page(
    tmp_path: Path, replies: list[Any], verdict: str, facts: tuple[bool, ...]
) -> None:
    agent = answering({**TALK, "session/list": [result(each) for each in replies]})
    told = found("lifecycle", agent, tmp_path, "list_sessions")["list_sessions"]
    names = ("listed", "by_folder", "pages")
    known = tuple(told.facts[name] for name in names if name in told.facts)
    assert (told.verdict, known) == (verdict, facts)


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ({}, "the session is not among those of its folder"),
        ({"nextCursor": "6"}, "it is not on the first 5 pages, and more were left unread"),
    ],
)
def test_pages_that_were_left_unread_are_told(
    tmp_path: Path, last: dict[str, str], words: str
) -> None:
    pages = [*[{"sessions": [OTHER], "nextCursor": "more"}] * 4, {"sessions": [OTHER], **last}]
    agent = answering({**TALK, "session/list": [result(page) for page in pages]})
    told = found("lifecycle", agent, tmp_path, "list_sessions")["list_sessions"]
    assert told.words == words
    asked = (tmp_path / "out" / "lifecycle.jsonl").read_text().count('"method":"session/list"')
    assert asked == len(pages)


@pytest.mark.parametrize(
    ("reply", "verdict", "words"),
    [
        (GONE, "pass", "error -32002, “Resource not found”; data.sessionId names the session"),
        (error(-32603, "Oops"), "fallback", "error -32603, “Oops”; nothing names the session"),
        (result({"stopReason": "refusal"}), "fail", "no error: it got an answer"),
    ],
)
def test_a_session_that_there_never_was_is_an_error(
    tmp_path: Path, reply: Reply, verdict: str, words: str
) -> None:
    agent = answering({"session/load": reply, "session/prompt": reply})
    told = found("lifecycle", agent, tmp_path, "load_unknown", "prompt_unknown")
    assert verdicts(told) == {"load_unknown": verdict, "prompt_unknown": verdict}
    assert told["load_unknown"].words.startswith(words)
    assert told["prompt_unknown"].words.startswith(words)


def test_without_live_only_the_unknown_session_is_loaded(tmp_path: Path) -> None:
    told = found("lifecycle", answering({}), tmp_path, live=False)
    asked = {name for name, finding in told.items() if finding.verdict != "skipped"}
    assert asked == {"load_unknown"}
