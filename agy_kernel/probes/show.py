"""What a probe's result looks like in a notebook: the verdict, why, and the frames to see it by.

What agents say is shown as text; what is private is left out, as on a tape.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ..acp.privacy import Privacy
from ..display.html import block, code, escape, faint, fold, frame, pre
from ..tapes.frames import with_strings
from ..text import clean
from .lines import lines_of
from .probe import Finding, Verdict
from .recording import Evidence
from .result import Result

MARKS: dict[str, str] = {
    "pass": "✔",
    "fallback": "↪",
    "absent": "○",
    "fail": "✘",
    "skipped": "·",
}
COLOURS = {
    "pass": "46,160,67",
    "fallback": "210,153,34",
    "absent": "128,128,128",
    "fail": "248,81,73",
    "skipped": "128,128,128",
}
FOLDER = "<folder>"


class Show:
    """Shows results.

    Args:
        folder: the scratch folder's path, which is shown as ``<folder>``.
        privacy: leaves out what is private.
    """

    def __init__(self, folder: str, privacy: Privacy) -> None:
        self._folder, self._privacy = folder, privacy

    def result(self, result: Result) -> dict[str, str]:
        """A result as a MIME bundle."""
        finding, probe = result.finding, result.probe
        gate = f"gate {probe.gate}" if probe.gate else ""
        limits = ", ".join(f"{name} = {value:g}" for name, value in result.thresholds.items())
        lines = self.evidence(result.evidence)
        head = f"{_badge(finding.verdict)} {faint(escape(gate))}"
        rows = [("sends", probe.sends), ("looks at", probe.looks_at), ("thresholds", limits)]
        told = "".join(f"<br>{faint(escape(f'{n}: {w}'))}" for n, w in rows if w)
        words = escape(finding.words)
        evidence = fold(f"{len(result.evidence)} frames", pre("\n".join(lines))) if lines else ""
        html = frame(f"{head} {escape(probe.question)}<br>{words}{told}{evidence}")
        plain = [
            f"{finding.verdict}: {probe.question}" + (f" ({gate})" if gate else ""),
            finding.words,
            *(f"  {name}: {words}" for name, words in rows if words),
            *lines,
        ]
        return {"text/markdown": html, "text/plain": clean("\n".join(plain))}

    def table(self, results: Iterable[Result]) -> dict[str, str]:
        """The table at the end of a notebook."""
        rows = [(r.probe.name, r.probe.gate, r.finding.verdict, r.finding.words) for r in results]
        cells = "".join(
            f"<tr><td>{code(name)}</td><td>{escape(gate)}</td>"
            f"<td>{_badge(verdict)}</td><td>{escape(words)}</td></tr>"
            for name, gate, verdict, words in rows
        )
        head = "<tr><th>probe</th><th>gate</th><th>verdict</th><th>what was found</th></tr>"
        plain = "\n".join(f"{v:9} {name:24} {g:4} {words}" for name, g, v, words in rows)
        return {
            "text/markdown": block(f"<table>{head}{cells}</table>"),
            "text/plain": clean(plain),
        }

    def settled(self, finding: Finding) -> Finding:
        """A finding in which the folder has one name on every machine, less what is private."""
        facts = with_strings(dict(finding.facts), self._private)
        first, _, rest = self._private(finding.words).partition("\n")
        return Finding(finding.verdict, f"{first} …" if rest.strip() else first, facts)

    def evidence(self, frames: Sequence[Evidence]) -> list[str]:
        """Frames as lines, less what is private."""
        cleaned = [replace(f, message=self._privacy.frame(f.message)) for f in frames]
        return lines_of(cleaned, self._private)

    def _private(self, words: str) -> str:
        return self._privacy.text(words.replace(self._folder, FOLDER))


def _badge(verdict: Verdict) -> str:
    colour = f"background:rgba({COLOURS[verdict]},.22)"
    style = f"{colour};padding:0 7px;border-radius:9px;white-space:nowrap"
    return f'<b style="{style}">{MARKS[verdict]} {verdict}</b>'


class Shown:
    """A value that Jupyter shows by what it is given here.

    Args:
        bundle: by MIME type.
        value: what it stands for, to be looked at by programs.
    """

    def __init__(self, bundle: dict[str, str], value: Any = None) -> None:
        self._bundle, self.value = bundle, value

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return self._bundle

    def __repr__(self) -> str:
        return self._bundle["text/plain"]
