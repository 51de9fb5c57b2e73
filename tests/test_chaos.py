"""A kernel whose agent fails at random moments: some of the seeded runs of ``make chaos``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tools.chaos.faults import FAULTS
from tools.chaos.page import PAGE, section
from tools.chaos.plan import plan
from tools.chaos.run import Run, Tally, stage
from tools.chaos.scene import Stage
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


def test_the_page_says_what_came_of_the_last_runs() -> None:
    told = section(PAGE.read_text("utf-8"))
    counts = dict(line.strip("| ").split(" | ") for line in told.splitlines() if " | " in line)
    for what in ("hangs", "orphans", "letters lost", "questions not answered exactly once"):
        assert counts[what] == "0"
    assert int(counts["runs"]) >= 200
    for fault in FAULTS.values():
        assert int(counts[fault.what]) > 0
