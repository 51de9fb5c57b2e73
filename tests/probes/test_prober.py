"""A prober and its subject: what is asked, what is kept, and whatever an agent does meanwhile."""

from __future__ import annotations

import json
import shlex
import signal
import stat
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agy_kernel.errors import AgentNotFound, AgyError, CommandError
from agy_kernel.probes import Prober
from agy_kernel.probes.probe import Finding, probe, probes_of
from agy_kernel.probes.subject import Subject
from agy_kernel.probes.suites import cancel, handshake
from agy_kernel.probes.verdicts import keep, load
from agy_kernel.tapes.reading import TapeError
from tests.agents import scripted
from tests.agents.scripted import answer, chunk, expect, hello, hold, opening, send
from tests.probes.conftest import SLOWLY, Put, verdicts


def words(prober: Prober, name: str) -> str:
    return next(r.finding.words for r in prober.results if r.probe.name == name)


def scripted_agent(*steps: Any) -> str:
    return shlex.join(scripted.command(*steps))


def suite(*probes: Any) -> ModuleType:
    made = ModuleType("agy_kernel.probes.suites.made_up")
    vars(made).update({probe.name: probe for probe in probes})
    return made


@probe("Is it there?", sends="initialize", looks_at="the answer")
async def is_there(agent: Subject, *, patience: float = 7.0) -> Finding:
    await agent.wire()
    return Finding("pass", f"it is there, within {patience:g}", {"patience": patience})


@probe("Does it answer a prompt?", sends="a prompt", looks_at="the answer", prompts=1)
async def answers(agent: Subject) -> Finding:
    session = await agent.session()
    turn = (await agent.wire()).prompt(session, "Say hello")
    reply = await turn.answer(60)
    return Finding("pass" if reply.is_result else "fail", f"{reply.words}: {turn.text}")


# -- verdicts


@pytest.mark.parametrize(
    ("flags", "goes_on", "ends"),
    [
        ("", "- absent - - -", "pass - pass pass pass"),
        ("--cancel ignored", "fail absent - fail -", "- - fallback - pass"),
        ("--cancel with-id", "fail - - - -", "- fallback fallback pass pass"),
        ("--cancel leaks", "- absent - - -", "fallback - pass pass pass"),
    ],
)
def test_verdicts_on_cancelling_follow_the_flags(
    put: Put, simulator: str, tmp_path: Path, flags: str, goes_on: str, ends: str
) -> None:
    probes = (
        *(cancel.as_notification, cancel.with_id, cancel.while_asking),
        *(cancel.by_closing, cancel.kill_and_load),
    )
    # That a turn goes on is soon seen; one that ends may need its time.
    for expected, seconds in ((goes_on, 0.5), (ends, 60.0)):
        agent, out = f"{simulator} {SLOWLY} {flags}", tmp_path / f"{seconds:g}"
        prober = put(cancel, agent, out=out, thresholds={"cancel_seconds": seconds})
        wanted = dict(zip((probe.name for probe in probes), expected.split(), strict=True))
        asked = [probe for probe in probes if wanted[probe.name] != "-"]
        shown = [repr(prober.ask(each)) for each in asked]
        assert verdicts(prober) == {each.name: wanted[each.name] for each in asked}
        replayed = put(cancel, replay=out / "cancel.jsonl")
        assert [repr(replayed.ask(each)) for each in asked] == shown


def test_a_threshold_decides_and_is_shown(put: Put) -> None:
    prober = put(handshake, thresholds={"start_seconds": 0.0})
    shown = repr(prober.ask(handshake.start_time))
    assert shown.startswith("fail: How soon does it answer? (gate E)")
    assert "thresholds: start_seconds = 0" in shown
    patient = put(handshake, thresholds={"start_seconds": 100.0})
    assert repr(patient.ask(handshake.start_time)).startswith("pass: ")


def test_prompts_are_sent_only_where_that_was_said(put: Put) -> None:
    agent = scripted_agent(*hello(), hold())
    prober = put(suite(is_there, answers), agent)
    assert "Those that send prompts (1 in all) are skipped: live is not set." in repr(prober)
    prober.ask_all()
    assert verdicts(prober) == {"is_there": "pass", "answers": "skipped"}
    assert words(prober, "answers") == "it sends 1 prompts, and live is not set"
    live = put(
        suite(is_there, answers),
        scripted_agent(
            *opening(),
            expect("session/prompt"),
            send(chunk("hello")),
            answer("session/prompt", {"stopReason": "end_turn"}),
        ),
        live=True,
    )
    live.ask_all()
    assert verdicts(live) == {"is_there": "pass", "answers": "pass"}
    assert words(live, "answers") == "an answer: hello"


# -- whatever happens


def test_an_agent_that_dies_is_a_finding_and_the_others_are_asked(put: Put, tmp_path: Path) -> None:
    prober = put(suite(answers, is_there), "simulator", out=tmp_path)
    crash = probe("Does it survive?", sends="Crash", looks_at="its end", prompts=1)(_crash)
    assert repr(prober.ask(crash)).startswith("fail: Does it survive?")
    assert words(prober, "_crash") == (
        "the agent broke off: it has ended (exit status 3); "
        "its last words: simulator: crashed, as the prompt asked"
    )
    prober.ask_all()
    assert verdicts(prober) == {"_crash": "fail", "answers": "pass", "is_there": "pass"}
    replayed = put(suite(answers, is_there), replay=tmp_path / "made-up.jsonl")
    replayed.ask(crash)
    replayed.ask_all()
    assert verdicts(replayed) == verdicts(prober)
    assert "exit status 3" in words(replayed, "_crash")


async def _crash(agent: Subject) -> Finding:
    turn = (await agent.wire()).prompt(await agent.session(), "Crash")
    await turn.answer(60)
    return Finding("pass", "it answered")


def test_an_agent_that_cannot_be_started_is_a_finding(put: Put) -> None:
    prober = put(handshake, "/no/such/agent --acp")
    prober.ask_all()
    assert set(verdicts(prober).values()) == {"fail"}
    assert "there is no program '/no/such/agent'" in words(prober, "minimal")
    with pytest.raises(AgentNotFound, match="/no/such/agent"):
        put(handshake, "/no/such/agent")


def test_an_agent_that_keeps_silent_is_waited_for_once(
    put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agy_kernel.probes.subject.START_SECONDS", 0.3)
    prober = put(suite(is_there, answers), scripted_agent(hold()), live=True)
    prober.ask_all()
    assert verdicts(prober) == {"is_there": "skipped", "answers": "skipped"}
    assert words(prober, "answers") == "initialize got no answer in 0.3 s"


@pytest.mark.parametrize(
    ("limit", "letters", "words"),
    [("MOST_FRAMES", "x", "2,000 frames"), ("MOST_BYTES", "x" * 100_000, "10 MB")],
)
def test_an_agent_that_never_stops_is_ended(
    put: Put, monkeypatch: pytest.MonkeyPatch, limit: str, letters: str, words: str
) -> None:
    most = {"MOST_FRAMES": 2_000, "MOST_BYTES": 10_000_000}[limit]
    monkeypatch.setattr(f"agy_kernel.probes.wire.{limit}", most)

    @probe("Does it stop?", sends="a flood", looks_at="nothing", prompts=1)
    async def flood(agent: Subject) -> Finding:
        session = await agent.session()
        steps = [{"chunks": [300_000, letters]}, {"wait": None}]
        turn = (await agent.wire()).prompt(session, f"SIM: {json.dumps(steps)}")
        return Finding("pass", (await turn.answer(60)).words)

    prober = put(suite(flood, is_there))
    prober.ask_all()
    assert verdicts(prober) == {"flood": "fail", "is_there": "pass"}
    said = next(r.finding.words for r in prober.results if r.probe.name == "flood")
    assert said == f"the agent broke off: it was ended, having sent more than {words}"


def test_a_probe_that_breaks_says_so_and_the_others_are_asked(put: Put) -> None:
    @probe("What is this?", sends="nothing", looks_at="nothing")
    async def broken(_: Subject) -> Finding:
        raise KeyError("unheard of")

    prober = put(suite(broken, is_there))
    prober.ask_all()
    assert verdicts(prober) == {"broken": "skipped", "is_there": "pass"}
    assert "the probe itself broke, please report it: KeyError('unheard of')" in words(
        prober, "broken"
    )


def test_stop_ends_a_probe_and_its_turn_and_the_next_is_asked(put: Put) -> None:
    begun = threading.Event()

    @probe("Does it end?", sends="Wait", looks_at="nothing", prompts=1)
    async def endless(agent: Subject) -> Finding:
        turn = (await agent.wire()).prompt(await agent.session(), "Wait")
        begun.set()
        return Finding("fail", (await turn.answer(60)).words)

    def stop() -> None:
        begun.wait(30)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    prober = put(suite(is_there, endless))
    stopper = threading.Thread(target=stop, name="stop")
    before_it = signal.signal(signal.SIGINT, signal.default_int_handler)
    stopper.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            prober.ask(endless)
    finally:
        stopper.join()
        signal.signal(signal.SIGINT, before_it)
    before = prober._subject
    assert isinstance(before, Subject)
    prober.ask(is_there)
    assert verdicts(prober) == {"is_there": "pass"}
    assert before._wire is not None
    assert not before._wire.is_busy


def test_a_sign_in_that_needs_a_person_skips_what_needs_a_session(put: Put, simulator: str) -> None:
    prober = put(suite(is_there, answers), f"{simulator} --signed-out")
    prober.ask_all()
    assert verdicts(prober) == {"is_there": "pass", "answers": "skipped"}
    assert "it wants a sign-in first" in words(prober, "answers")


def test_a_sign_in_by_variables_needs_nobody(
    put: Put, simulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "not-a-key-of-anyone")
    prober = put(suite(is_there, answers), f"{simulator} --signed-out", out=tmp_path)
    prober.ask_all()
    assert verdicts(prober) == {"is_there": "pass", "answers": "pass"}
    monkeypatch.delenv("GEMINI_API_KEY")
    replayed = put(suite(is_there, answers), replay=tmp_path / "made-up.jsonl")
    replayed.ask_all()
    assert verdicts(replayed) == {"is_there": "pass", "answers": "pass"}


# -- what was asked for


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"suite": "handshakes"}, r"there are no probes 'handshakes': there are handshake, "),
        (
            {"thresholds": {"start_second": 3}},
            r"handshake has no threshold 'start_second': they have memory_mb",
        ),
    ],
)
def test_wrong_words_are_named(more: dict[str, Any], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        Prober(**{"suite": "handshake", "agent": "simulator", **more})


def test_a_suite_goes_by_its_name_too(put: Put) -> None:
    prober = put("handshake")
    assert [r.probe.name for r in prober.ask_all()] == [p.name for p in probes_of(handshake)]


# -- what is kept


def test_tape_and_verdicts_are_kept_for_their_owner(put: Put, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    prober = put(handshake, "simulator", out=out)
    prober.ask(handshake.minimal)
    for name in ("handshake.jsonl", "verdicts.json"):
        assert stat.S_IMODE((out / name).stat().st_mode) == 0o600
    kept = load(out)
    assert (kept.agent, kept.build["name"]) == ("simulator", "antigravity-acp")
    record = kept.suites["handshake"]["minimal"]
    assert (record["verdict"], record["gate"]) == ("pass", "")
    assert "loadSession" in record["facts"]["capabilities"]


def test_suites_of_one_agent_share_a_file_and_another_agent_takes_its_place(
    put: Put, tmp_path: Path, simulator: str
) -> None:
    put(handshake, out=tmp_path).ask(handshake.minimal)
    put(suite(is_there), out=tmp_path).ask(is_there)
    assert list(load(tmp_path).suites) == ["handshake", "made-up"]
    put(suite(is_there), f"{simulator} --usage", out=tmp_path).ask(is_there)
    assert list(load(tmp_path).suites) == ["made-up"]


def test_another_version_of_an_agent_takes_the_place_of_the_first(tmp_path: Path) -> None:
    for version, suite in (("1", "one"), ("", "two"), ("1", "three")):
        keep(tmp_path, "an-agent", {"name": "x", "version": version}, suite, [])
    assert list(load(tmp_path).suites) == ["one", "two", "three"]
    odd: list[Any] = ["2", ["agents", "say", "anything"]]
    for version in odd:
        keep(tmp_path, "an-agent", {"name": "x", "version": version}, "four", [])
        assert list(load(tmp_path).suites) == ["four"]


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"format": 1'])
def test_verdicts_that_cannot_be_read_are_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "verdicts.json").write_text(text)
    with pytest.raises(AgyError, match=r"verdicts\.json"):
        load(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(put: Put, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AgyError, match="cannot be made"):
        put(handshake, out=tmp_path / "file" / "out")


def test_the_folder_that_the_agent_worked_in_goes_with_the_prober(put: Put) -> None:
    prober = put(suite(is_there))
    prober.ask_all()
    folder = prober._folder
    assert folder.is_dir()
    prober.close()
    assert not folder.exists()


def test_a_prober_that_is_made_again_takes_the_place_of_the_first(put: Put, tmp_path: Path) -> None:
    first = put(suite(is_there), out=tmp_path)
    first.ask(is_there)
    put(suite(is_there), out=tmp_path).ask(is_there)
    assert isinstance(first._subject, Subject)
    assert first._subject._wire is None
    assert not first._folder.exists()
    put(suite(is_there), replay=tmp_path / "made-up.jsonl").ask(is_there)


def test_a_prober_ends_with_its_block(tmp_path: Path, simulator: str) -> None:
    with Prober(suite(is_there), simulator) as prober:
        prober.ask(is_there)
    assert not prober._folder.exists()


# -- replays


def recorded(put: Put, out: Path) -> Path:
    put(suite(is_there, answers), "simulator", out=out, thresholds={"patience": 5}).ask_all()
    return out / "made-up.jsonl"


def test_a_replay_takes_the_thresholds_of_its_tape_unless_others_are_given(
    put: Put, tmp_path: Path
) -> None:
    tape = recorded(put, tmp_path)
    replayed = put(suite(is_there, answers), replay=tape)
    replayed.ask_all()
    assert words(replayed, "is_there") == "it is there, within 5"
    other = put(suite(is_there, answers), replay=tape, thresholds={"patience": 9})
    assert "within 9" in repr(other.ask(is_there))


def test_a_replay_skips_what_was_skipped(put: Put, tmp_path: Path) -> None:
    put(suite(is_there, answers), scripted_agent(*hello(), hold()), out=tmp_path).ask_all()
    replayed = put(suite(is_there, answers), replay=tmp_path / "made-up.jsonl", live=True)
    replayed.ask_all()
    assert verdicts(replayed) == {"is_there": "pass", "answers": "skipped"}


def test_a_replay_skips_all_where_nothing_was_sent(put: Put, tmp_path: Path) -> None:
    put(suite(answers), scripted_agent(*hello(), hold()), out=tmp_path).ask_all()
    replayed = put(suite(answers), replay=tmp_path / "made-up.jsonl")
    replayed.ask_all()
    assert verdicts(replayed) == {"answers": "skipped"}


def test_a_cut_tape_answers_as_far_as_it_goes(put: Put, tmp_path: Path) -> None:
    tape = recorded(put, tmp_path)
    lines = tape.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if "session/prompt" in line)
    tape.write_text("\n".join(lines[: at + 1])[:-9])
    replayed = put(suite(is_there, answers), replay=tape)
    replayed.ask_all()
    assert verdicts(replayed) == {"is_there": "pass", "answers": "skipped"}
    assert "the tape ends at line" in words(replayed, "answers")


def test_a_tape_that_was_edited_skips_what_it_cannot_answer(put: Put, tmp_path: Path) -> None:
    tape = recorded(put, tmp_path)
    lines = tape.read_text().splitlines()
    tape.write_text("\n".join([*lines[:4], '{"t": 1}', *lines[4:], ""]))
    replayed = put(suite(is_there, answers), replay=tape)
    replayed.ask_all()
    assert verdicts(replayed) == {"is_there": "skipped", "answers": "skipped"}
    assert "line 5: no line of a tape" in words(replayed, "answers")


def test_a_client_that_asks_otherwise_is_told_where(put: Put, tmp_path: Path) -> None:
    tape = recorded(put, tmp_path)
    tape.write_text(tape.read_text().replace('"Say hello"', '"Say something else"'))
    replayed = put(suite(is_there, answers), replay=tape)
    replayed.ask_all()
    assert verdicts(replayed)["answers"] == "skipped"
    assert "the client departs from the tape at line" in words(replayed, "answers")


def _shuffled(lines: list[str]) -> list[str]:
    return [lines[0], *reversed(lines[1:])]


def _of_another_version(lines: list[str]) -> list[str]:
    return [json.dumps(json.loads(lines[0]) | {"tape": 2}), *lines[1:]]


def _not_by_probes(lines: list[str]) -> list[str]:
    return [line for line in lines if '"note"' not in line]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (_shuffled, "the lines were shuffled|earlier than the line before"),
        (_of_another_version, "the tape is of format 2"),
        (_not_by_probes, "was not recorded by probes"),
        (lambda lines: lines[:1], "holds no frames"),
    ],
    ids=["shuffled", "version", "not by probes", "empty"],
)
def test_a_tape_that_cannot_be_used_says_why(
    put: Put, tmp_path: Path, edit: Any, words: str
) -> None:
    tape = recorded(put, tmp_path)
    tape.write_text("\n".join([*edit(tape.read_text().splitlines()), ""]))
    with pytest.raises(TapeError, match=words):
        put(suite(is_there, answers), replay=tape)
