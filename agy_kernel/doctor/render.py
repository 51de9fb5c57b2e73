"""A report as text for a terminal, as Markdown, and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import asdict

from ..tables import fenced, table
from .checks import Check, Report, Section, Verdict

SIGNS: dict[Verdict, str] = {"ok": "✓", "info": "·", "warn": "!", "fail": "✗"}
SUMMARIES: dict[Verdict, str] = {
    "ok": "Nothing is wrong.",
    "warn": "It works, but see the lines with !.",
    "fail": "Something does not work: see the lines with ✗.",
}


def as_json(report: Report) -> str:
    """``{version, verdict, sections: [{name, checks: [{name, verdict, what, todo}]}]}``."""
    told = {"version": report.version, "verdict": report.verdict}
    sections = [asdict(section) for section in report.sections]
    return json.dumps({**told, "sections": sections}, ensure_ascii=False, indent=1)


def as_text(report: Report) -> str:
    """Lines for a terminal."""
    parts = [f"agy-kernel {report.version}"]
    parts += ["\n".join([section.name, *_lines(section)]) for section in report.sections]
    return "\n\n".join([*parts, SUMMARIES[report.verdict]])


def _lines(section: Section) -> Iterator[str]:
    width = max(len(check.name) for check in section.checks)
    margin = " " * (width + 6)
    for check in section.checks:
        lines = check.what.splitlines() or [""]
        yield f"  {SIGNS[check.verdict]} {check.name:<{width}}  {lines[0]}".rstrip()
        yield from (f"{margin}{line}" for line in lines[1:])
        if check.todo:
            yield textwrap.indent(f"→ {check.todo}", margin)


def as_markdown(report: Report) -> str:
    """Tables, and what has several lines below them."""
    parts = [f"**agy-kernel {report.version}** {SUMMARIES[report.verdict]}"]
    for section in report.sections:
        short = [check for check in section.checks if "\n" not in check.what]
        parts.append(f"**{section.name}**")
        parts += [table([_row(check) for check in short])] if short else []
        parts += [_block(check) for check in section.checks if check not in short]
    return "\n\n".join(parts)


def _row(check: Check) -> tuple[str, str]:
    todo = f" → {check.todo}" if check.todo else ""
    return f"{SIGNS[check.verdict]} {check.name}", check.what + todo


def _block(check: Check) -> str:
    todo = f" → {check.todo}" if check.todo else ""
    return f"{SIGNS[check.verdict]} {check.name}{todo}\n\n{fenced(check.what.rstrip())}"
