"""Probers that end with their test."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from agy_kernel.probes import Prober

SLOWLY = "--chunk-delay 0.1"
"""The simulator counts for more than half a minute: time enough to stop it on a busy machine."""


class Put(Protocol):
    """Makes a prober; agents and what they hold end with the test."""

    def __call__(self, suite: Any, agent: str = ..., **more: Any) -> Prober: ...


@pytest.fixture
def simulator(tmp_path: Path) -> str:
    """The command line of a simulator with sessions of its own; flags may be put behind it."""
    words = [
        sys.executable,
        "-m",
        "agy_kernel.agents.simulator",
        "--state",
        str(tmp_path / "state"),
    ]
    return shlex.join(words)


@pytest.fixture
def put(tmp_path: Path, simulator: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Put]:
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    probers: list[Prober] = []

    def make(suite: Any, agent: str = simulator, **more: Any) -> Prober:
        probers.append(Prober(suite, agent, **more))
        return probers[-1]

    yield make
    for prober in probers:
        prober.close()


def verdicts(prober: Prober) -> dict[str, str]:
    """The verdicts so far, by probe."""
    return {result.probe.name: result.finding.verdict for result in prober.results}
