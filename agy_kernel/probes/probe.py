"""What a probe is: a question to a build of an agent, how it is put, and what was found."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal

Verdict = Literal["pass", "fallback", "absent", "fail", "skipped"]
"""``fallback``: not as hoped, but there is a way around. ``absent``: there is no such thing."""

WORST_FIRST: tuple[Verdict, ...] = ("fail", "absent", "fallback", "pass", "skipped")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a probe has found.

    Args:
        verdict: in a word.
        words: in a sentence or two, with figures.
        facts: names and values worth comparing between builds; JSON.
    """

    verdict: Verdict
    words: str
    facts: Mapping[str, Any] = field(default_factory=dict)


def worst(*verdicts: Verdict) -> Verdict:
    """The worst of several verdicts."""
    return min(verdicts, key=WORST_FIRST.index)


class NotAsked(Exception):
    """The question could not be put to this build; says why."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One question to an agent's build.

    Args:
        name: unique in its suite.
        question: what one wants to know.
        sends: what goes over the wire.
        looks_at: what decides.
        gate: which gate of the seed's plan (section 8) it decides; empty for none.
        prompts: how many prompts it may send, each of which spends a model's quota.
        ask: puts it to the build; its keyword-only parameters are thresholds.
    """

    name: str
    question: str
    sends: str
    looks_at: str
    gate: str
    prompts: int
    ask: Callable[..., Awaitable[Finding]]

    @property
    def thresholds(self) -> dict[str, float]:
        """What decides between pass and fail, by name, with the values they have unless changed."""
        parameters = inspect.signature(self.ask).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def probe(
    question: str, *, sends: str, looks_at: str, gate: str = "", prompts: int = 0
) -> Callable[[Callable[..., Awaitable[Finding]]], Probe]:
    """Make a probe of a function that takes the subject, and thresholds by keyword."""

    def make(ask: Callable[..., Awaitable[Finding]]) -> Probe:
        return Probe(getattr(ask, "__name__", ""), question, sends, looks_at, gate, prompts, ask)

    return make


def probes_of(suite: ModuleType) -> list[Probe]:
    """The probes of a suite, which is a module, in the order in which they stand there."""
    return [each for each in vars(suite).values() if isinstance(each, Probe)]


def thresholds_of(suite: ModuleType) -> dict[str, float]:
    """The thresholds of a suite's probes, by name."""
    return {name: value for p in probes_of(suite) for name, value in p.thresholds.items()}


def suite_name(suite: ModuleType) -> str:
    """A suite's name, which is its notebook's too."""
    return suite.__name__.rpartition(".")[2].replace("_", "-")
