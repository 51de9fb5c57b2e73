"""Two tapes compared by meaning: how a new build of an agent is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..text import clean
from .frames import Frames
from .reading import read
from .shapes import Facts

MOST_SHOWN = 300


def diff(one: Path, other: Path, on_cut: Callable[[str], None]) -> list[str]:
    """What only one of two tapes says: capabilities, methods, fields, shapes, names of choices.

    Args:
        one: a tape; what only it says begins with ``-`` and ends with the number of its line.
        other: another; ``+``.
        on_cut: told that a last line is cut.

    Returns:
        Lines to print; none where the tapes mean the same.

    Raises:
        TapeError: a tape cannot be used.
    """
    before, after = facts(one, on_cut), facts(other, on_cut)
    gone = _topmost(before.all.keys() - after.all.keys())
    new = _topmost(after.all.keys() - before.all.keys())
    if not gone and not new:
        return []
    rows = sorted([*((f, "-", before) for f in gone), *((f, "+", after) for f in new)], key=_key)
    lines = [f"{sign} {fact}   (line {found.all[fact]})" for fact, sign, found in rows]
    cut = [f"… and {len(lines) - MOST_SHOWN} more"] if len(lines) > MOST_SHOWN else []
    heads = [f"{sign * 3} {_title(f)}" for sign, f in (("-", before), ("+", after))]
    return [clean(line) for line in [*heads, *lines[:MOST_SHOWN], *cut]]


def facts(path: Path, on_cut: Callable[[str], None]) -> Facts:
    """The facts of a tape."""
    found, frames = Facts(), Frames()
    for line in read(path, on_cut):
        for frame in frames.of(line):
            found.add(frame)
    return found


def _topmost(facts: set[str]) -> list[str]:
    """Without the fields of what is itself only on one tape: it says enough."""
    kept: list[str] = []
    for fact in sorted(facts):
        if not (kept and _is_within(fact, kept[-1])):
            kept.append(fact)
    return kept


def _is_within(fact: str, other: str) -> bool:
    """Whether a fact is about a part of what the other one names: a frame, or an object."""
    parts = f"{other.removesuffix(' object')}.", f"{other.removesuffix(' list')}[]"
    return fact.startswith((f"{other} ", *parts))


def _key(row: tuple[str, str, Facts]) -> tuple[str, str]:
    return row[0], "-+".index(row[1]) * "+"


def _title(facts: Facts) -> str:
    name, version = facts.agent.get("name", "an agent"), facts.agent.get("version", "?")
    return f"{name} {version}"
