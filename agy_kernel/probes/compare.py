"""Two builds compared: verdicts and facts that changed, and what only one of the tapes shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..acp.fields import mapping
from ..tapes.diff import diff
from ..text import clean
from .verdicts import load

Record = Mapping[str, Any]
MOST_FACTS = 40  # of a suite's tapes


def compare(one: Path, other: Path, on_cut: Callable[[str], None]) -> list[str]:
    """What differs between two builds, for the eye; nothing where nothing does.

    Args:
        one: the folder of a build, with its verdicts and tapes.
        other: another one's.
        on_cut: told that a tape's last line is cut.

    Raises:
        AgyError: verdicts cannot be read, or a tape not be used.
    """
    before, after = load(one), load(other)
    lines = []
    for suite in dict.fromkeys([*before.suites, *after.suites]):
        told = list(_of_suite(before.suites.get(suite, {}), after.suites.get(suite, {})))
        told += _of_tapes(one / f"{suite}.jsonl", other / f"{suite}.jsonl", on_cut)
        lines += [suite, *(f"  {line}" for line in told)] if told else []
    head = [f"--- {before.title}", f"+++ {after.title}"]
    return [clean(line) for line in [*head, *lines]] if lines else []


def _of_tapes(one: Path, other: Path, on_cut: Callable[[str], None]) -> list[str]:
    if not all(tape.is_file() and tape.stat().st_size for tape in (one, other)):
        return []  # nothing was sent
    facts = diff(one, other, on_cut)[2:]  # the two names come first
    cut = [f"… {len(facts) - MOST_FACTS} more: agy-kernel tape diff"]
    return [*facts[:MOST_FACTS], *(cut if len(facts) > MOST_FACTS else [])]


def _of_suite(before: Mapping[str, Record], after: Mapping[str, Record]) -> Iterator[str]:
    for probe in dict.fromkeys([*before, *after]):
        one, other = before.get(probe), after.get(probe)
        if one is None or other is None:
            yield f"{probe}: only in the {'first' if other is None else 'second'}"
            continue
        if one.get("verdict") != other.get("verdict"):
            yield f"{probe}: {one.get('verdict')} -> {other.get('verdict')}"
            yield f"  - {one.get('words')}"
            yield f"  + {other.get('words')}"
        yield from _facts(probe, mapping(one, "facts"), mapping(other, "facts"))


def _facts(probe: str, before: Record, after: Record) -> Iterator[str]:
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield f"{probe}: {name}: {before.get(name)} -> {after.get(name)}"
