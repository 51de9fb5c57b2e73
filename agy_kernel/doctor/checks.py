"""A check is a value: what was looked at, how it is, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

Verdict = Literal["ok", "info", "warn", "fail"]
SEVERITY: tuple[Verdict, ...] = ("info", "ok", "warn", "fail")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Args:
        name: what was looked at.
        verdict: ``fail`` where something does not work, ``warn`` where it will not for long or
            not for everybody, ``info`` where there is no good and bad.
        what: what was found; may have several lines.
        todo: what to do; empty where nothing is.
    """

    name: str
    verdict: Verdict
    what: str
    todo: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Checks that belong together."""

    name: str
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """All that a doctor has found.

    Args:
        version: agy-kernel's.
        sections: in the order in which they are read.
    """

    version: str
    sections: tuple[Section, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict; ``ok`` where nothing is wrong."""
        verdicts = [check.verdict for section in self.sections for check in section.checks]
        return max(["ok", *verdicts], key=SEVERITY.index)

    def through(self, change: Callable[[str], str]) -> Report:
        """The report with every found text changed, such as by a mask."""

        def changed(check: Check) -> Check:
            return replace(check, what=change(check.what), todo=change(check.todo))

        sections = (Section(s.name, tuple(map(changed, s.checks))) for s in self.sections)
        return replace(self, sections=tuple(sections))
