"""P4, gate A: models, efforts and modes, and whether what was chosen lasts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.probes.verdicts import load
from tests.probes.answering import SILENCE, Reply, answering, error, result
from tests.probes.asked import found, simulator, verdicts

OPTION, SET_MODEL, SET_MODE = "session/set_config_option", "session/set_model", "session/set_mode"
LOADS = {"agentCapabilities": {"loadSession": True}}
LEGACY = {
    "models": {
        "availableModels": [{"modelId": "big", "name": "Big"}, {"modelId": "small", "name": "S"}],
        "currentModelId": "big",
    }
}
NO = error(-32601, "Method not found")
REFUSED = f"{OPTION} got error -32601, “Method not found”"
AGAIN = "a client must choose again after every load"
IN_ID = "the effort is a part of the model's id"


def select(name: str, current: str, *others: str) -> dict[str, Any]:
    values = [{"value": value, "name": value} for value in (current, *others)]
    return {
        "id": name,
        "category": name,
        "type": "select",
        "currentValue": current,
        "options": values,
    }


def chosen(*options: dict[str, Any]) -> Reply:
    return result({"configOptions": list(options)})


def opened(*options: dict[str, Any], **more: Any) -> Reply:
    config = {"configOptions": list(options)} if options else {}
    return result({"sessionId": "s1", **config, **more})


def test_the_simulator_switches_as_rc01_does(tmp_path: Path) -> None:
    told = found("options", simulator(tmp_path), tmp_path)
    assert verdicts(told) == {
        "model": "pass",
        "effort": "pass",
        "mode": "pass",
        "set_model": "pass",
        "not_offered": "pass",
        "survives_load": "fallback",
    }
    assert told["model"].facts == {"method": OPTION, "reported": True}
    assert told["effort"].words == (
        "the effort is a part of the model's id: gemini-3.7-flash-high to gemini-3.7-flash-medium "
        f"by {OPTION}, so that one choice makes both"
    )
    assert told["mode"].facts == {"config_option": True, "set_mode": True, "same_state": True}
    assert told["set_model"].facts == {"advertised": True, "seen": True}
    assert told["not_offered"].facts == {"method": OPTION, "code": -32602}
    assert told["survives_load"].words == (
        "lost: model gemini-3.8-flash-high, it is gemini-3.7-flash-high then, the default, "
        f"mode auto_edit, it is default then, the default; {AGAIN}"
    )
    assert load(tmp_path / "out").gates() == {"A": "pass"}


def test_a_build_that_keeps_what_was_chosen_is_seen(tmp_path: Path) -> None:
    agent = simulator(tmp_path, "--keep-config")
    told = found("options", agent, tmp_path, "survives_load")["survives_load"]
    assert (told.verdict, told.facts) == ("pass", {"survives": {"model": True, "mode": True}})
    assert told.words == "kept: model gemini-3.8-flash-high, mode auto_edit"


@pytest.mark.parametrize(
    ("table", "verdict", "words"),
    [
        ({"session/new": opened()}, "absent", "it offers no other model"),
        (
            {"session/new": opened(**LEGACY), SET_MODEL: result({})},
            "fallback",
            f"big to small by {SET_MODEL}, which the protocol no longer has",
        ),
        (
            {
                "session/new": opened(select("model", "big", "small"), **LEGACY),
                SET_MODEL: result({}),
            },
            "fallback",
            f"{REFUSED}; big to small by {SET_MODEL}, which the protocol no longer has",
        ),
        (
            {"session/new": opened(select("model", "big", "small"))},
            "fail",
            REFUSED,
        ),
        (
            {
                "session/new": opened(select("model", "big", "small")),
                OPTION: chosen(select("model", "big", "small")),
            },
            "fail",
            f"big to small by {OPTION}, whose answer says that big is chosen",
        ),
        (
            {"session/new": opened(select("model", "big", "small")), OPTION: result({})},
            "fallback",
            f"big to small by {OPTION}, whose answer does not tell what is chosen",
        ),
        (
            {
                "session/new": opened(select("model", "big", "small")),
                OPTION: result([select("model", "small", "big")]),
            },
            "pass",
            f"big to small by {OPTION}, and the answer says so",
        ),
    ],
)
def test_the_model_is_switched_by_the_way_that_works(
    tmp_path: Path, table: dict[str, Any], verdict: str, words: str
) -> None:
    told = found("options", answering(table), tmp_path, "model")["model"]
    assert (told.verdict, told.words) == (verdict, words)


@pytest.mark.parametrize(
    ("table", "verdict", "words"),
    [
        (
            {"session/new": opened(select("model", "big", "small"))},
            "absent",
            "neither an option nor the models' ids tell of an effort",
        ),
        (
            {
                "session/new": opened(select("effort", "low", "high")),
                OPTION: chosen(select("effort", "high", "low")),
            },
            "pass",
            f"low to high by {OPTION}, and the answer says so",
        ),
        (
            {
                "session/new": opened(select("model", "m/low", "n/high", "m/high")),
                OPTION: chosen(select("model", "m/low", "n/high", "m/high")),
            },
            "fail",
            f"{IN_ID}: m/low to m/high got an answer, with m/low chosen",
        ),
    ],
)
def test_the_effort_is_an_option_or_a_part_of_the_model(
    tmp_path: Path, table: dict[str, Any], verdict: str, words: str
) -> None:
    told = found("options", answering(table), tmp_path, "effort")["effort"]
    assert (told.verdict, told.words) == (verdict, words)


MODES = {
    "modes": {
        "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan"}],
        "currentModeId": "ask",
    }
}
BOTH = opened(select("mode", "ask", "plan"), select("model", "big"), **MODES)
ASK, PLAN = select("mode", "ask", "plan"), select("mode", "plan", "ask")


@pytest.mark.parametrize(
    ("table", "verdict", "facts"),
    [
        ({"session/new": opened()}, "absent", {}),
        ({"session/new": opened(**MODES), SET_MODE: result({})}, "pass", (None, True, None)),
        ({"session/new": opened(**MODES), SET_MODE: NO}, "fail", (None, False, None)),
        ({"session/new": BOTH, SET_MODE: result({})}, "fallback", (False, True, None)),
        (
            {"session/new": BOTH, SET_MODE: result({}), OPTION: [chosen(PLAN), chosen(ASK)]},
            "fail",
            (True, True, False),
        ),
        (
            {
                "session/new": BOTH,
                SET_MODE: result({}),
                OPTION: [chosen(PLAN), chosen(ASK), chosen(PLAN)],
            },
            "pass",
            (True, True, True),
        ),
    ],
)
def test_both_ways_to_a_mode_lead_to_one_state(
    tmp_path: Path, table: dict[str, Any], verdict: str, facts: Any
) -> None:
    told = found("options", answering(table), tmp_path, "mode")["mode"]
    names = ("config_option", "set_mode", "same_state")
    assert (told.verdict, dict(told.facts)) == (verdict, dict(zip(names, facts, strict=False)))


@pytest.mark.parametrize(
    ("table", "verdict", "words"),
    [
        (
            {"session/new": opened(**LEGACY), SET_MODEL: NO},
            "absent",
            "advertised by `models`, and answers -32601",
        ),
        (
            {"session/new": opened(select("model", "big", "small")), SET_MODEL: NO},
            "absent",
            "there is no such",
        ),
        (
            {"session/new": opened(select("model", "big", "small")), SET_MODEL: result({})},
            "pass",
            "it works, though not advertised; no config option could show it",
        ),
        (
            {
                "session/new": opened(select("model", "big", "small"), ASK),
                SET_MODEL: result({}),
                OPTION: chosen(select("model", "big", "small"), ASK),
            },
            "fail",
            "it answers, and the config option shows the model before",
        ),
        (
            {"session/new": opened(**LEGACY), SET_MODEL: error(-32603, "no")},
            "fail",
            "it got error -32603, “no”",
        ),
    ],
)
def test_the_old_way_to_a_model_is_tried(
    tmp_path: Path, table: dict[str, Any], verdict: str, words: str
) -> None:
    told = found("options", answering(table), tmp_path, "set_model")["set_model"]
    assert (told.verdict, told.words) == (verdict, words)


def test_a_made_up_model_that_is_taken_fails(tmp_path: Path) -> None:
    made_up = chosen(select("model", "agy-kernel-probe"))
    agent = answering({"session/new": opened(select("model", "big", "small")), OPTION: made_up})
    told = found("options", agent, tmp_path, "not_offered")["not_offered"]
    assert told.verdict == "fail"
    assert told.words == f"{OPTION} got an answer, with agy-kernel-probe chosen"


@pytest.mark.parametrize(
    ("loaded", "verdict", "survives"),
    [
        (result({"configOptions": [select("model", "small", "big")]}), "pass", True),
        (result({"configOptions": [select("model", "big", "small")]}), "fallback", False),
        (result(None), "absent", None),
    ],
)
def test_what_session_load_tells_of_the_model_decides(
    tmp_path: Path, loaded: Reply, verdict: str, survives: bool | None
) -> None:
    table = {
        "session/new": opened(select("model", "big", "small")),
        OPTION: result({}),
        "session/prompt": result({"stopReason": "end_turn"}),
        "session/load": loaded,
    }
    told = found("options", answering(table, **LOADS), tmp_path, "survives_load")["survives_load"]
    assert (told.verdict, told.facts) == (verdict, {"survives": {"model": survives}})


@pytest.mark.parametrize(
    ("loaded", "verdict", "words"),
    [
        (
            {"model": "small", "effort": "high", "mode": "plan"},
            "pass",
            "kept: model small, effort high, mode plan",
        ),
        (
            {"model": "small", "effort": "high", "mode": "ask"},
            "fallback",
            "kept: model small, effort high; lost: mode plan, it is ask then, the default",
        ),
        (
            {"model": "small", "effort": "max"},
            "fallback",
            "kept: model small; not told: mode plan; lost: effort high, it is max then, neither",
        ),
    ],
)
def test_effort_and_mode_count_as_the_model_does(
    tmp_path: Path, loaded: dict[str, str], verdict: str, words: str
) -> None:
    offered = {"model": ("big", "small"), "effort": ("low", "high"), "mode": ("ask", "plan")}
    table = {
        "session/new": opened(*(select(name, *values) for name, values in offered.items())),
        OPTION: result({}),
        "session/prompt": result({"stopReason": "end_turn"}),
        "session/load": chosen(*(select(*each) for each in loaded.items())),
    }
    told = found("options", answering(table, **LOADS), tmp_path, "survives_load")["survives_load"]
    assert told.verdict == verdict
    assert told.words.startswith(words)
    assert (AGAIN in told.words) is (verdict == "fallback")
    tape = (tmp_path / "out" / "options.jsonl").read_text(encoding="utf-8")
    sent = [line for line in tape.splitlines() if '"dir": "c2a"' in line]
    prompted = next(n for n, line in enumerate(sent) if "session/prompt" in line)
    (other,) = (n for n, line in enumerate(sent) if '"plan"' in line)
    assert other > prompted  # in another mode, an agent might not ask
    assert all(any(f'"{first}"' in line for line in sent[other:]) for first, _ in offered.values())


def test_a_mode_that_is_refused_is_told_and_the_model_decides(tmp_path: Path) -> None:
    table: dict[str, Any] = {
        "session/new": opened(select("model", "big", "small"), select("mode", "ask", "plan")),
        OPTION: [result({}), error(-32602, "no")],
        "session/prompt": result({"stopReason": "end_turn"}),
        "session/load": chosen(select("model", "small", "big"), select("mode", "ask", "plan")),
    }
    told = found("options", answering(table, **LOADS), tmp_path, "survives_load")["survives_load"]
    assert (told.verdict, told.facts) == ("pass", {"survives": {"model": True}})
    assert told.words == (f"kept: model small; another mode by {OPTION} got error -32602, “no”")


def test_what_was_chosen_at_first_is_chosen_again(tmp_path: Path) -> None:
    agent = simulator(tmp_path)
    found("options", agent, tmp_path, "model", "effort", "mode", "set_model")
    tape = (tmp_path / "out" / "options.jsonl").read_text(encoding="utf-8")
    sent = [line for line in tape.splitlines() if '"dir": "c2a"' in line]
    last = {word: [line for line in sent if word in line][-1] for word in ("modeId", "modelId")}
    assert '"modeId":"default"' in last["modeId"]
    assert '"modelId":"gemini-3.7-flash-high"' in last["modelId"]


def test_silence_is_no_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agy_kernel.probes.offers.CHOOSE_SECONDS", 0.3)
    agent = answering({"session/new": opened(select("model", "big", "small")), OPTION: SILENCE})
    told = found("options", agent, tmp_path, "model")["model"]
    assert (told.verdict, told.words) == ("fail", f"{OPTION} got no answer in 0.3 s")
    tape = (tmp_path / "out" / "options.jsonl").read_text(encoding="utf-8")
    assert chosen_last(tape) == "big"


def chosen_last(tape: str) -> str:
    """The value that an option was set to last."""
    frames = [json.loads(line).get("msg") for line in tape.splitlines()]
    sent = [f for f in frames if isinstance(f, dict) and f.get("method") == OPTION]
    return str(sent[-1]["params"]["value"])


def test_what_was_chosen_at_first_is_chosen_again_where_the_load_fails(tmp_path: Path) -> None:
    table = {
        "session/new": opened(select("model", "big", "small")),
        OPTION: result({}),
        "session/prompt": result({"stopReason": "end_turn"}),
        "session/load": error(-32603, "no"),
    }
    told = found("options", answering(table, **LOADS), tmp_path, "survives_load")["survives_load"]
    assert (told.verdict, told.words) == ("fail", "session/load got error -32603, “no”")
    assert chosen_last((tmp_path / "out" / "options.jsonl").read_text(encoding="utf-8")) == "big"
