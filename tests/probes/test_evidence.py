"""What builds have answered, recorded with ``make tapes``, leads to the same verdicts again."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from agy_kernel.probes.probe import probes_of
from agy_kernel.probes.suites import find_suite
from agy_kernel.probes.verdicts import load
from tools.tapes import BUILDS, EVIDENCE, ROOT, departures

TAPES = sorted(EVIDENCE.glob("*/*.jsonl"))


@pytest.mark.parametrize("tape", TAPES, ids=lambda tape: f"{tape.parent.name}-{tape.stem}")
def test_a_replay_comes_to_the_same_verdicts_words_and_facts(tape: Path) -> None:
    assert departures(tape) == []


def test_every_build_has_its_suites_and_all_their_probes() -> None:
    for name, build in BUILDS.items():
        kept = load(EVIDENCE / name).suites
        wanted = {suite: [p.name for p in probes_of(find_suite(suite))] for suite in build.suites}
        assert {suite: list(probes) for suite, probes in kept.items()} == wanted
        assert {tape.stem for tape in (EVIDENCE / name).glob("*.jsonl")} == set(wanted)


@pytest.mark.parametrize("folder", sorted(EVIDENCE.iterdir()), ids=lambda folder: folder.name)
def test_evidence_is_of_a_known_build_and_names_no_folder_of_a_machine(folder: Path) -> None:
    assert folder.name in BUILDS
    text = "".join(file.read_text("utf-8") for file in folder.iterdir())
    assert re.findall(r"(?<![\w>])/(?:tmp|root|home|Users)/[^\s\"]*", text) == []
    assert [place for place in (str(ROOT), sys.prefix) if place in text] == []
