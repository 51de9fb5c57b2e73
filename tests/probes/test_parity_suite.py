"""Parity: the simulator over ACP, its tape, and an engine that has no wire at all."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.conversation import ladder
from agy_kernel.conversation.engine import Engine, EventSink
from agy_kernel.errors import CommandError
from agy_kernel.probes import Prober
from agy_kernel.probes.engines import EngineKind, Place
from agy_kernel.probes.probe import Probe, probes_of
from agy_kernel.probes.suites import cancel, parity
from agy_kernel.tapes.reading import TapeError
from tests.agents import scripted
from tests.probes import memory_engine as engines
from tests.probes.conftest import SLOWLY, Put, verdicts
from tests.probes.memory_engine import Bridge, Memory, MemoryEngine

STOPPED_BY = {
    "--cancel ignored": ladder.TERMINATE,
    "--cancel with-id": ladder.CANCEL_REQUEST,
    "--cancel leaks": ladder.CANCEL,
}
"""What ends a turn that is stopped."""
GONE_ON = "cancelled by session/cancel; the process survived, and the session goes on"
SIGN_IN = "it wants a sign-in first. `%agy auth` signs in"


def found(prober: Prober) -> list[tuple[str, str, Mapping[str, Any]]]:
    """What was found, in whole."""
    told = (result.finding for result in prober.results)
    return [(finding.verdict, finding.words, finding.facts) for finding in told]


def words(prober: Prober, probe: Probe) -> str:
    return next(r.finding.words for r in prober.results if r.probe is probe)


def name(value: object) -> str | None:
    """A parameter's name in a test's."""
    if isinstance(value, Probe):
        return value.name
    return value.__name__ if isinstance(value, type) else None


def test_an_agent_that_dies_is_told_with_its_last_words(put: Put, tmp_path: Path) -> None:
    dies = [scripted.expect("session/prompt"), scripted.to_stderr("panic"), scripted.leave(4)]
    agent = shlex.join(scripted.command(*scripted.opening(), *dies))
    prober = put(parity, agent, out=tmp_path, live=True)
    shown = repr(prober.ask(parity.stream))
    assert shown.startswith("fail")
    assert "(exit status 4); its last words: panic" in words(prober, parity.stream)
    assert repr(put(parity, replay=tmp_path / "parity.jsonl").ask(parity.stream)) == shown


def kind(engine: type[MemoryEngine], bridge: Bridge | None = None) -> EngineKind:
    """A way to speak to engines that share a memory."""
    memory = Memory()

    def make(place: Place, on_event: EventSink) -> Engine:
        return engine(place, on_event, memory, bridge)

    return EngineKind("memory", make)


def stops_by(rung: ladder.Rung, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give turns all the time that they need to be ended by a rung: none is taken above it."""
    rungs = ladder.LADDER[: ladder.LADDER.index(rung) + 1]
    monkeypatch.setattr(ladder, "LADDER", rungs)
    monkeypatch.setattr(ladder, "END", 60.0)
    monkeypatch.setattr(parity, "LET_GO_SECONDS", 60.0)


# -- the simulator


def test_the_simulator_passes_the_scenarios_and_forgets_its_model(
    put: Put, simulator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops_by(ladder.CANCEL, monkeypatch)
    prober = put(parity, f"{simulator} {SLOWLY}")
    prober.ask_all()
    assert verdicts(prober) == {
        "stream": "pass",
        "continuity": "pass",
        "serialization": "pass",
        "tool_round_trip": "fail",
        "abort_and_recover": "pass",
        "switch": "fallback",
        "error_visibility": "pass",
    }
    assert words(prober, parity.tool_round_trip).startswith("the tool was not called: end_turn")
    assert words(prober, parity.abort_and_recover) == GONE_ON
    assert words(prober, parity.switch).startswith("forgotten when it was opened again")
    assert words(prober, parity.error_visibility) == (
        "a failing turn: an error, TurnFailed; an unknown session: a warning, and a new session; "
        "a dead agent: an error, AgentExited"
    )


@pytest.mark.parametrize(
    ("flags", "probe", "verdict", "said"),
    [
        (
            "--cancel ignored",
            parity.abort_and_recover,
            "fallback",
            "the process was ended (SIGTERM) and another loaded the session, which goes on",
        ),
        (
            "--cancel with-id",
            parity.abort_and_recover,
            "fallback",
            "cancelled by $/cancel_request; the process survived, and the session goes on",
        ),
        ("--cancel leaks", parity.abort_and_recover, "pass", GONE_ON),
        (
            "--keep-config",
            parity.switch,
            "pass",
            "kept when it was opened again, and switched: model gemini-3.7-flash-high",
        ),
        ("--whole-text", parity.stream, "fallback", "the text came whole, or nearly: 1 in all"),
        ("--signed-out", parity.stream, "skipped", SIGN_IN),
        ("--signed-out", parity.switch, "skipped", SIGN_IN),
        ("--signed-out", parity.error_visibility, "skipped", SIGN_IN),
    ],
    ids=name,
)
def test_a_flag_changes_the_verdict_and_the_tape_tells_the_same(
    put: Put,
    simulator: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flags: str,
    probe: Probe,
    verdict: str,
    said: str,
) -> None:
    if flags in STOPPED_BY:
        stops_by(STOPPED_BY[flags], monkeypatch)
    prober = put(parity, f"{simulator} {SLOWLY} {flags}", out=tmp_path / "out")
    prober.ask(probe)
    assert found(prober)[0][:2] == (verdict, said)
    prober.close()
    replayed = put(parity, replay=tmp_path / "out" / "parity.jsonl")
    replayed.ask(probe)
    assert found(replayed) == found(prober)


def test_a_replay_of_all_scenarios_finds_the_same(
    put: Put, simulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops_by(ladder.CANCEL, monkeypatch)
    prober = put(parity, f"{simulator} {SLOWLY}", out=tmp_path / "out")
    prober.ask_all()
    prober.close()
    replayed = put(parity, replay=tmp_path / "out" / "parity.jsonl")
    replayed.ask_all()
    assert found(replayed) == found(prober)
    assert repr(replayed.table()) == repr(prober.table())


def test_no_tool_is_called_where_no_bridge_is_configured(put: Put) -> None:
    prober = put(parity, bridge=None)
    prober.ask(parity.tool_round_trip)
    assert found(prober) == [("skipped", "no bridge is configured", {})]


def test_no_tool_is_called_where_no_http_server_is_taken(put: Put, tmp_path: Path) -> None:
    agent = shlex.join(scripted.command(*scripted.opening()))
    prober = put(parity, agent, live=True, out=tmp_path / "out")
    prober.ask(parity.tool_round_trip)
    assert found(prober) == [("skipped", "HTTP servers are not offered", {})]
    prober.close()
    replayed = put(parity, replay=tmp_path / "out" / "parity.jsonl")
    replayed.ask(parity.tool_round_trip)
    assert found(replayed) == found(prober)


# -- another engine


def test_another_engine_runs_through_the_same_suite(put: Put) -> None:
    bridge = Bridge()
    prober = put(
        parity, "memory", live=True, engine=kind(MemoryEngine, bridge), bridge=bridge.running
    )
    prober.ask_all()
    assert verdicts(prober) == {probe.name: "pass" for probe in probes_of(parity)}
    table = repr(prober.table()).splitlines()
    assert [line.split()[:2] for line in table] == [["pass", p.name] for p in probes_of(parity)]
    assert bridge.texts == [parity.TEXT]
    assert words(prober, parity.switch).endswith("switched: effort high, model large")


def test_another_engine_s_evidence_is_its_prompts_and_events(put: Put, tmp_path: Path) -> None:
    prober = put(parity, "memory", live=True, engine=kind(MemoryEngine), out=tmp_path / "out")
    shown = repr(prober.ask(parity.serialization))
    assert '{"prompt": "Count from 1 to 20' in shown
    assert '{"event": ["TextChunk", "20\\n"]}' in shown
    assert '{"event": ["TurnEnded", "end_turn"]}' in shown


def test_a_tape_without_a_wire_is_not_played(put: Put, tmp_path: Path) -> None:
    prober = put(parity, "memory", live=True, engine=kind(MemoryEngine), out=tmp_path / "out")
    prober.ask(parity.stream)
    with pytest.raises(TapeError, match="holds no wire to be played: it is of the engine 'memory'"):
        put(parity, replay=tmp_path / "out" / "parity.jsonl")


@pytest.mark.parametrize(
    ("engine", "probe", "verdict", "said"),
    [
        (engines.WholeText, parity.stream, "fallback", "whole, or nearly: 1 in all"),
        (engines.SaysAgain, parity.stream, "fallback", "letters came again, and are left out"),
        (engines.LosesWords, parity.continuity, "fail", "opened again, the session got"),
        (engines.LosesSessions, parity.continuity, "fail", "the session is lost: The earlier"),
        (engines.SaysOldThings, parity.continuity, "fail", "opened again, the session got"),
        (engines.EndsTooEarly, parity.stream, "fail", "the numbers did not come"),
        (engines.EndsTooEarly, parity.serialization, "fail", "the texts are not their own"),
        (engines.BeginsTooEarly, parity.serialization, "fail", "before the first was over"),
        (engines.EndsOnlyByKill, parity.abort_and_recover, "fallback", "was ended (SIGTERM)"),
        (engines.NeverEnds, parity.abort_and_recover, "fail", "still open in the engine"),
        (engines.Forgets, parity.switch, "fallback", "forgotten when it was opened again"),
        (engines.LosesChoices, parity.switch, "fail", "the engine says that the model is large"),
        (engines.RefusesChoices, parity.switch, "fail", "the model small was refused"),
        (engines.ChoosesNothing, parity.switch, "absent", "no choice of model or effort"),
        (engines.LosesSessions, parity.switch, "absent", "the session is not opened again"),
        (engines.SwallowsErrors, parity.error_visibility, "fail", "a failing turn: not a word"),
        (engines.KnowsAnySession, parity.error_visibility, "fail", "session: not a word"),
        (engines.DiesQuietly, parity.error_visibility, "fail", "a dead agent: not a word"),
        (engines.CallsAnother, parity.tool_round_trip, "fail", "the tool was not called"),
        (engines.AsksInOtherWords, parity.tool_round_trip, "pass", "the tool was called"),
        (engines.AsksForAnother, parity.tool_round_trip, "fail", "the tool was not called"),
        (engines.AsksToRun, parity.tool_round_trip, "fail", "the tool was not called"),
        (engines.CallsNothing, parity.tool_round_trip, "fail", "the tool was not called"),
        (engines.HidesResults, parity.tool_round_trip, "fallback", "is not in the answer"),
        (engines.SignedOut, parity.serialization, "skipped", SIGN_IN),
    ],
    ids=name,
)
def test_what_an_engine_does_wrong_is_found_and_where(
    put: Put,
    monkeypatch: pytest.MonkeyPatch,
    engine: type[MemoryEngine],
    probe: Probe,
    verdict: str,
    said: str,
) -> None:
    if engine is engines.EndsOnlyByKill:
        stops_by(ladder.TERMINATE, monkeypatch)
    bridge = Bridge()
    prober = put(parity, "memory", live=True, engine=kind(engine, bridge), bridge=bridge.running)
    prober.ask(probe)
    assert found(prober)[0][0] == verdict
    assert said in found(prober)[0][1]


# -- which engine


def test_an_engine_that_there_is_not(put: Put) -> None:
    with pytest.raises(CommandError, match="there is no engine 'morse': there are acp"):
        put(parity, engine="morse")


def test_prompts_are_not_sent_to_another_engine_unless_live_is_set(put: Put) -> None:
    prober = put(parity, "memory", engine=kind(MemoryEngine))
    prober.ask_all()
    assert set(verdicts(prober).values()) == {"skipped"}


def test_suites_of_the_wire_are_put_to_the_wire(put: Put, simulator: str) -> None:
    prober = put(cancel, f"{simulator} {SLOWLY}", thresholds={"cancel_seconds": 60.0})
    prober.ask(cancel.as_notification)
    assert verdicts(prober) == {"as_notification": "pass"}
