"""A kernel whose agent fails at random moments: some of the seeded runs of ``make chaos``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents import scripted
from tests.agents.scripted import chunk
from tests.support.notebook import Json
from tools.chaos.faults import FAULTS
from tools.chaos.page import PAGE, section
from tools.chaos.plan import plan
from tools.chaos.run import Run, Tally, stage
from tools.chaos.scene import Stage
from tools.chaos.wire import Heard, Wire
from tools.chaos.words import LETTERS, common, letters, words

SEEDS = range(15)


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("chaos")) as where:
        yield where


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_happens_no_turn_hangs_nothing_is_lost_and_the_next_cell_works(
    where: Stage, seed: int
) -> None:
    tally = Tally()
    Run(where, seed, tally).go()
    assert not tally.troubles, f"again: make chaos SEED={seed}"
    assert tally.turns


def test_a_seed_is_a_plan_and_every_fault_has_its_turn() -> None:
    assert plan(17) == plan(17)
    first = Counter(plan(seed)[0].fault for seed in range(len(FAULTS)))
    assert set(first) == set(FAULTS)


def test_words_are_all_different_and_nothing_else_is_made_of_their_letters() -> None:
    said = words(0, 3_000)
    assert len(set(said.split())) == 3_000
    assert letters(f"<b>{said}</b> by *agent*, 3 s") == "".join(said.split())
    assert common("abc", "abd") == common("ab", "abc") == 2
    assert len(set(LETTERS)) == len(LETTERS)


SAID = LETTERS[:3]


def test_a_tape_tells_what_came_of_each_prompt(tmp_path: Path) -> None:
    def ask(text: str) -> Json:
        blocks = [{"type": "text", "text": text}]
        return scripted.request(3, "session/prompt", {"sessionId": "s1", "prompt": blocks})

    end = {"id": 3, "result": {"stopReason": "end_turn"}}
    stop = {"method": "session/cancel", "params": {}}
    tape = tape_of(
        tmp_path,
        [("c2a", ask("one")), ("a2c", chunk(SAID[0])), ("c2a", stop), ("a2c", chunk(SAID[1]))],
        [("c2a", scripted.request(4, "session/load")), ("a2c", chunk(SAID))],
        [("c2a", ask("two")), ("a2c", chunk(SAID[2])), ("a2c", chunk(SAID, "s2")), ("a2c", end)],
    )
    assert dict(Wire(tape).heard()) == {
        "one": Heard(SAID[:2], before_stop=1, session="s1"),
        "two": Heard(SAID[2], ended=True, session="s1"),
    }


@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_tape_tells_how_often_a_question_was_answered(tmp_path: Path, times: int) -> None:
    answer = {"id": "q", "result": {"outcome": {"outcome": "cancelled"}}}
    hello = scripted.request(1, "initialize")
    asked: list[tuple[str, Json]] = [("c2a", hello), ("a2c", scripted.permission("q"))]
    tape = tape_of(tmp_path, asked, [("c2a", answer)] * times)
    assert list(Wire(tape).replies()) == [(times, True)]
    tape = tape_of(tmp_path, asked, [("c2a", answer)] * times, [("c2a", hello)])
    assert list(Wire(tape).replies()) == [(times, False)]


def tape_of(folder: Path, *parts: list[tuple[str, Json]]) -> Path:
    frames = [{"t": 0, "dir": way, "msg": frame} for part in parts for way, frame in part]
    path = folder / "tape.jsonl"
    path.write_text("".join(json.dumps(frame) + "\n" for frame in frames))
    return path


def test_the_page_says_what_came_of_the_last_runs() -> None:
    told = section(PAGE.read_text("utf-8"))
    counts = dict(line.strip("| ").split(" | ") for line in told.splitlines() if " | " in line)
    for what in ("hangs", "orphans", "letters lost", "questions not answered exactly once"):
        assert counts[what] == "0"
    assert int(counts["runs"]) >= 200
    for fault in FAULTS.values():
        assert int(counts[fault.what]) > 0
