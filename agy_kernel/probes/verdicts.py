"""What is left of a run: ``verdicts.json``, one for each build, with a section for each suite."""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import __version__
from ..acp.fields import as_mapping, mapping, text
from ..errors import AgyError
from ..files import Damaged, locked, read_object, write_object
from .probe import WORST_FIRST, Verdict
from .result import Result

FORMAT = 1
FILE = "verdicts.json"
GATES = ("A", "B", "C", "D", "E", "F", "F.7")
"""The gates of the seed's plan (section 8)."""
GATE_NAMES = {
    "A": "model and effort can be switched",
    "B": "tokens are reported",
    "C": "tool calls tell enough",
    "D": "a turn can be cancelled",
    "E": "it starts soon, in sane memory",
    "F": "MCP servers are reached",
    "F.7": "a leading slash",
}
RC01 = {
    "A": "pass",
    "B": "absent",
    "C": "pass",
    "D": "fail (sent with an id; killing and loading works)",
    "E": "pass (5 to 6 s; 327 MB)",
    "F": "pass",
    "F.7": "fallback (leading commands are intercepted)",
}
"""What the second seed's section 8.1 says of Google's RC01; no run of these probes."""


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on one build.

    Args:
        agent: the command as the person gave it.
        build: ``name``, ``title`` and ``version``, as the agent says.
        suites: suite, probe, record (``Result.record``).
        about: date, platform, the version of agy-kernel.
    """

    agent: str
    build: Mapping[str, Any]
    suites: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name and version."""
        name, version = self.build.get("name") or self.agent, self.build.get("version") or ""
        return f"{name} {version}".strip()

    def with_suites(self, suites: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Verdicts:
        """The same with other suites."""
        return replace(self, suites=suites)

    def gates(self) -> dict[str, Verdict]:
        """The verdict on each gate: the worst of its probes'; none where none was asked."""
        found: dict[str, set[str]] = {}
        for probes in self.suites.values():
            for record in probes.values():
                found.setdefault(str(record.get("gate")), set()).add(str(record.get("verdict")))
        worst = {g: [v for v in WORST_FIRST if v in found.get(g, ())] for g in GATES}
        return {gate: verdicts[0] for gate, verdicts in worst.items() if verdicts}


def keep(
    folder: Path, agent: str, build: Mapping[str, Any], suite: str, told: Iterable[Result]
) -> None:
    """Write a suite's results into a folder's verdicts.

    Args:
        folder: one for each build; what it has of another agent, or of another version, is
            replaced.
        agent: the command, as the person gave it.
        build: as in ``Verdicts``.
        suite: its name.
        told: its results so far.

    Raises:
        AgyError: the file cannot be written.
    """
    path = folder / FILE
    records = {result.probe.name: result.record() for result in told}
    try:
        with locked(path):
            before = _earlier(path, agent, build)
            suites = {**before.suites, suite: records}
            write_object(path, as_object(Verdicts(agent, build or before.build, suites, _now())))
    except OSError as error:
        raise AgyError(f"{path} cannot be written: {error.strerror}") from None


def as_object(verdicts: Verdicts) -> dict[str, Any]:
    """Verdicts as JSON."""
    return {
        "format": FORMAT,
        "agent": verdicts.agent,
        "build": dict(verdicts.build),
        "about": dict(verdicts.about),
        "suites": dict(verdicts.suites),
    }


def load(path: Path) -> Verdicts:
    """Read the verdicts in a file, or in a folder that has one.

    Raises:
        AgyError: they cannot be read.
    """
    file = path / FILE if path.is_dir() else path
    try:
        told = read_object(file)
    except (OSError, Damaged) as error:
        raise AgyError(f"{file} cannot be read: {error}") from None
    if told is None or told.get("format") != FORMAT:
        raise AgyError(f"{file} holds no verdicts that this agy-kernel reads.")
    suites = {
        suite: {probe: as_mapping(record) for probe, record in as_mapping(probes).items()}
        for suite, probes in mapping(told, "suites").items()
    }
    return Verdicts(text(told, "agent"), mapping(told, "build"), suites, mapping(told, "about"))


def _earlier(path: Path, agent: str, build: Mapping[str, Any]) -> Verdicts:
    """What a file has of a build already."""
    with contextlib.suppress(AgyError):
        told = load(path)
        versions = {str(each.get("version") or "") for each in (told.build, build)} - {""}
        if told.agent == agent and len(versions) <= 1:
            return told
    return Verdicts(agent, {})


def _now() -> dict[str, str]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "platform": platform.platform(),
        "agy-kernel": __version__,
    }
