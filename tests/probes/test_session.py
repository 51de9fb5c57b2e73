"""P3: what a new session is and offers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agy_kernel.probes.suites import session
from tests.agents.scripted import Step, expect, new_session, opening, send, turn, update
from tests.probes.answering import Reply, answering, error, result
from tests.probes.asked import found, script, simulator, verdicts
from tests.probes.conftest import Put

MODELS = {"models": {"availableModels": [{"modelId": "m1", "name": "M 1"}], "currentModelId": "m1"}}
OPTION: dict[str, Any] = {
    "id": "model",
    "category": "model",
    "type": "select",
    "currentValue": "m1",
    "options": [{"value": "m1", "name": "M 1"}],
}
OTHER = OPTION | {"options": [{"value": "m2", "name": "M 2"}], "currentValue": "m2"}
COMMANDS = update("s1", "available_commands_update", availableCommands=[{"name": "plan"}])


def opened(*around: Any, **fields: Any) -> Reply:
    return result({"sessionId": "s1", **fields}, after=around)


def test_the_simulator_offers_what_rc01_does(tmp_path: Path) -> None:
    told = found("session", simulator(tmp_path), tmp_path)
    assert set(verdicts(told).values()) == {"pass"}
    assert told["new"].facts == {
        "id": "a UUID",
        "fields": ["configOptions", "models", "modes", "sessionId"],
    }
    assert told["models"].words == (
        "11 models in configOptions and models; gemini-3.7-flash-high at first"
    )
    assert told["modes"].facts["modes"] == {
        "names": ["default", "auto_edit", "yolo"],
        "current": "default",
    }
    assert told["config_options"].words == "model (select, model), mode (select, mode)"
    assert told["commands"].facts == {"names": ["plan", "logout"], "place": "behind the answer"}
    assert told["second_session"].facts == {"ids_differ": True, "alive": [True, True]}
    assert told["two_at_once"].facts == {"stopReasons": ["end_turn", "end_turn"], "mixed": False}


def test_prompts_are_sent_only_where_live_is_set(tmp_path: Path) -> None:
    agent = answering({"session/new": opened()})
    told = found("session", agent, tmp_path, "new", "two_at_once", live=False)
    assert told["new"].verdict == "pass"
    assert told["two_at_once"].words == "it sends 2 prompts, and live is not set"


def test_a_session_that_takes_longer_than_it_may_fails(tmp_path: Path) -> None:
    told = found("session", simulator(tmp_path), tmp_path, "new", session_seconds=0.0)
    assert told["new"].verdict == "fail"


@pytest.mark.parametrize("reply", [result({}), result(None), error(-32603, "no"), result("s1")])
def test_no_session_id_fails(tmp_path: Path, reply: Reply) -> None:
    told = found("session", answering({"session/new": reply}), tmp_path)
    assert verdicts(told) == {
        "new": "fail",
        "models": "skipped",
        "modes": "skipped",
        "config_options": "skipped",
        "commands": "skipped",
        "second_session": "fail",
        "two_at_once": "skipped",
    }


@pytest.mark.parametrize(
    ("fields", "verdict", "words"),
    [
        ({}, "absent", "it offers no models"),
        ({"configOptions": [OPTION]}, "pass", "1 models in configOptions; m1 at first"),
        (MODELS, "fallback", "1 models in models; m1 at first; in the protocol's place are none"),
        ({**MODELS, "configOptions": [OPTION]}, "pass", "1 models in configOptions and models; m1"),
        ({**MODELS, "configOptions": [OTHER]}, "fallback", "m2 at first; the places differ"),
        (
            {"configOptions": [OPTION | {"currentValue": "m9"}]},
            "fallback",
            "1 models in configOptions; m9 at first, which is not offered",
        ),
        ({"models": 7, "configOptions": "x"}, "absent", "it offers no models"),
    ],
)
def test_models_are_found_in_either_place(
    tmp_path: Path, fields: dict[str, Any], verdict: str, words: str
) -> None:
    agent = answering({"session/new": opened(**fields)})
    told = found("session", agent, tmp_path, "models")["models"]
    assert (told.verdict, words in told.words) == (verdict, True)


def test_an_option_that_cannot_be_shown_is_named(tmp_path: Path) -> None:
    odd = {"id": "web", "type": "slider", "currentValue": 3}
    agent = answering({"session/new": opened(configOptions=[OPTION, odd])})
    told = found("session", agent, tmp_path, "config_options")["config_options"]
    assert told.verdict == "fallback"
    assert told.words == "model (select, model), web (slider); not to be used as it is: web"


@pytest.mark.parametrize(
    ("reply", "verdict", "place"),
    [
        (opened(COMMANDS), "pass", "behind the answer"),
        (result({"sessionId": "s1"}, before=(COMMANDS,)), "pass", "before the answer"),
    ],
)
def test_commands_come_before_the_answer_or_behind_it(
    tmp_path: Path, reply: Reply, verdict: str, place: str
) -> None:
    told = found("session", answering({"session/new": reply}), tmp_path, "commands")["commands"]
    assert (told.verdict, told.facts) == (verdict, {"names": ["plan"], "place": place})


@pytest.mark.parametrize(
    ("suite", "after", "steps"),
    [
        ("session", "second_session", new_session("s3")),
        ("slash", "inside", turn("NO COMMAND", session="s2")),
    ],
)
def test_commands_that_come_too_late_are_none_in_a_replay_too(
    tmp_path: Path, suite: str, after: str, steps: list[Step]
) -> None:
    late = [*opening(), expect("session/new"), send(COMMANDS), *new_session("s2")[1:], *steps]
    told = found(suite, script(late), tmp_path, "commands", after, commands_seconds=0.2)
    assert (told["commands"].verdict, told[after].verdict) == ("absent", "pass")


def test_commands_asked_for_again_are_those_of_their_session(put: Put) -> None:
    prober = put(session)
    for probe in (session.commands, session.second_session, session.commands):
        prober.ask(probe)
    again = next(r.finding for r in prober.results if r.probe is session.commands)
    assert again.facts == {"names": ["plan", "logout"], "place": "behind the answer"}


def test_without_commands_there_are_none(tmp_path: Path) -> None:
    agent = answering({"session/new": opened()})
    told = found("session", agent, tmp_path, "commands", commands_seconds=0.2)["commands"]
    assert (told.verdict, told.words) == ("absent", "none within 0.2 s")


@pytest.mark.parametrize(
    ("table", "verdict", "words"),
    [
        ({"session/new": opened()}, "fail", "both have the same id"),
        (
            {"session/new": [result({"sessionId": s}) for s in ("a", "b")]},
            "pass",
            "two ids; nothing is offered by which to see them live",
        ),
        (
            {
                "session/new": [result({"sessionId": s, **MODELS}) for s in ("a", "b")],
                "session/set_model": [error(-32602, "it has gone"), result({})],
            },
            "fail",
            "two ids; one of them refuses what it had chosen itself",
        ),
    ],
)
def test_the_first_of_two_sessions_lives_on(
    tmp_path: Path, table: dict[str, Any], verdict: str, words: str
) -> None:
    told = found("session", answering(table), tmp_path, "second_session")["second_session"]
    assert (told.verdict, told.words) == (verdict, words)


def test_words_that_come_in_the_other_session_fail(tmp_path: Path) -> None:
    mixed = [
        update(session, "agent_message_chunk", content={"type": "text", "text": words})
        for session, words in (("b", "FIRST"), ("a", "SECOND"))
    ]
    agent = answering(
        {
            "session/new": [result({"sessionId": s}) for s in ("a", "b")],
            "session/prompt": [
                result({"stopReason": "end_turn"}),
                result({"stopReason": "end_turn"}, before=tuple(mixed)),
            ],
        }
    )
    told = found("session", agent, tmp_path, "two_at_once")["two_at_once"]
    assert (told.verdict, told.words) == ("fail", "what one session says comes in the other")


def test_a_second_prompt_that_is_refused_meanwhile_is_a_fallback(tmp_path: Path) -> None:
    chunk = update("a", "agent_message_chunk", content={"type": "text", "text": "FIRST"})
    agent = answering(
        {
            "session/new": [result({"sessionId": s}) for s in ("a", "b")],
            "session/prompt": [
                result({"stopReason": "end_turn"}, before=(chunk,)),
                error(-32000, "A foreground turn is already active"),
            ],
        }
    )
    told = found("session", agent, tmp_path, "two_at_once")["two_at_once"]
    assert told.verdict == "fallback"
    assert told.words == (
        "the first ends end_turn, the second error -32000, “A foreground turn is already active”; "
        "not both say their words"
    )
