"""A probe that was put to a build, with what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .probe import Finding, Probe
from .recording import Evidence


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a probe.

    Args:
        probe: the question.
        finding: what was found.
        thresholds: as they were this time.
        evidence: the frames that passed meanwhile.
    """

    probe: Probe
    finding: Finding
    thresholds: Mapping[str, float]
    evidence: tuple[Evidence, ...] = ()

    def record(self) -> dict[str, Any]:
        """It as JSON, less the evidence, which is on the tape."""
        return {
            "verdict": self.finding.verdict,
            "words": self.finding.words,
            "gate": self.probe.gate,
            "question": self.probe.question,
            "thresholds": dict(self.thresholds),
            "facts": dict(self.finding.facts),
            "frames": len(self.evidence),
        }
