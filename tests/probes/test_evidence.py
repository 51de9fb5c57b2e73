"""What builds have answered, recorded with ``make tapes``, leads to the same verdicts again."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tools.tapes import BUILDS, EVIDENCE, ROOT, departures

TAPES = sorted(EVIDENCE.glob("*/*.jsonl"))


@pytest.mark.parametrize("tape", TAPES, ids=lambda tape: f"{tape.parent.name}-{tape.stem}")
def test_a_replay_comes_to_the_same_verdicts_words_and_facts(tape: Path) -> None:
    assert departures(tape) == []


@pytest.mark.parametrize("folder", sorted(EVIDENCE.iterdir()), ids=lambda folder: folder.name)
def test_evidence_is_of_a_known_build_and_names_no_folder_of_a_machine(folder: Path) -> None:
    assert folder.name in BUILDS
    text = "".join(file.read_text("utf-8") for file in folder.iterdir())
    assert re.findall(r"(?<![\w>])/(?:tmp|root|home|Users)/[^\s\"]*", text) == []
    assert [place for place in (str(ROOT), sys.prefix) if place in text] == []
