"""A suite put to an agent, and then to its own tape."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

from agy_kernel.probes import Prober
from agy_kernel.probes.probe import Finding, probes_of, thresholds_of
from agy_kernel.probes.suites import find_suite
from tests.agents import scripted

SIMULATOR = "agy_kernel.agents.simulator"
PATIENT = {
    "answer_seconds": 60.0,
    "cancel_seconds": 60.0,
    "commands_seconds": 60.0,
    "first_text_seconds": 60.0,
    "session_seconds": 60.0,
    "start_seconds": 100.0,
}
"""Thresholds that an agent keeps on a busy machine too: what comes is no question of time."""


def simulator(folder: Path, *flags: str) -> str:
    """The command line of a simulator that is quick, and keeps its sessions in a folder."""
    words = [sys.executable, "-m", SIMULATOR, "--chunk-delay", "0", "--state", str(folder)]
    return shlex.join([*words, *flags])


def script(*steps: Iterable[scripted.Step]) -> str:
    """The command line of a scripted agent."""
    return shlex.join(scripted.command(*(step for each in steps for step in each)))


def found(
    suite: str, agent: str, folder: Path, *only: str, live: bool = True, **thresholds: float
) -> dict[str, Finding]:
    """What a suite finds, which its tape confirms.

    Args:
        suite: its name.
        agent: its command line.
        folder: for the tape.
        only: the names of the probes to ask; all unless given.
        live: whether prompts are sent.
        thresholds: others than the patient ones, where nothing is to come in time.
    """
    out = folder / "out"
    known = thresholds_of(find_suite(suite))
    limits = {name: value for name, value in PATIENT.items() if name in known} | thresholds
    told = _ask(Prober(suite, agent, out=out, live=live, thresholds=limits), only)
    again = _ask(Prober(suite, replay=out / f"{suite}.jsonl"), only)
    assert again == told
    return told


def verdicts(findings: dict[str, Finding]) -> dict[str, str]:
    """The verdicts alone."""
    return {name: finding.verdict for name, finding in findings.items()}


def _ask(prober: Prober, only: tuple[str, ...]) -> dict[str, Finding]:
    try:
        for probe in probes_of(find_suite(prober.name)):
            if not only or probe.name in only:
                prober.ask(probe)
        return {result.probe.name: result.finding for result in prober.results}
    finally:
        prober.close()
