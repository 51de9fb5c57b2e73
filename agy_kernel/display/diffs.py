"""A diff, as counted lines and as a block of HTML."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from ..events import Diff
from ..text import revealed
from .html import ADDED, FAINT, REMOVED, fold, pre_lines

CONTEXT = 3
SHOWN_LINES = 60
FOLDED_LINES = 500
LINE_CHARS = 1_000
MOST_PAIRS = 25_000
MOST_STEPS = 1_000_000
DEEPEST = 8
MIXED = "CRLF and LF, mixed"

STYLES: dict[str, str] = {"+": ADDED, "-": REMOVED, "…": FAINT, "\\": FAINT}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a diff, without its newline."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """A diff, line by line."""

    lines: tuple[Line, ...]
    added: int
    removed: int


@lru_cache(maxsize=64)
def compare(diff: Diff) -> Lines:
    """The lines that differ, with three lines of context around them."""
    old, new = _split(diff.old or ""), _split("" if diff.deleted else diff.new)
    script = list(_script(old, new))
    lines = (*_near_changes(script), *_about_the_end(diff))
    counts = Counter(line.sign for line in script)
    return Lines(lines, counts["+"], counts["-"])


def render(diff: Diff, full: str) -> str:
    """The diff as HTML; what is long is folded, with its number of lines, or left out.

    Args:
        full: the command that shows all of it.
    """
    lines = compare(diff).lines
    if not lines:
        return pre_lines([("(no change)" if diff.old and not diff.deleted else "(empty)", FAINT)])
    if len(lines) <= SHOWN_LINES + 5:
        return _block(lines)
    rest, left_out = lines[SHOWN_LINES:][:FOLDED_LINES], len(lines) - SHOWN_LINES - FOLDED_LINES
    if left_out > 0:
        rest = (*rest, Line("…", f"{left_out:,} lines are not shown here: {full}"))
    count = len(lines) - SHOWN_LINES
    return _block(lines[:SHOWN_LINES]) + fold(f"{count:,} more lines", _block(rest))


def plain(diff: Diff) -> str:
    """The diff as text, of which everything can be seen: it is what would be written."""
    return "\n".join(_text(line) for line in compare(diff).lines)


def stat(diff: Diff) -> str:
    """How much changes: ``+3 −1``."""
    compared = compare(diff)
    return f"+{compared.added} −{compared.removed}"


def _block(lines: tuple[Line, ...]) -> str:
    return pre_lines([(_shown(line), STYLES.get(line.sign, "")) for line in lines])


def _shown(line: Line) -> str:
    text = _text(line)
    return text if len(text) <= LINE_CHARS else f"{text[:LINE_CHARS]}…"


def _text(line: Line) -> str:
    return f"{line.sign} {revealed(line.text)}" if line.text else line.sign


def _split(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if not lines[-1] else lines


# -- comparing


def _script(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    """All lines of both: kept, removed and added ones."""
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    most = shorter - head
    tail = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    end_old, end_new = len(old) - tail, len(new) - tail
    yield from (Line(" ", text) for text in old[:head])
    yield from _matched(old[head:end_old], new[head:end_new])
    yield from (Line(" ", text) for text in old[end_old:])


def _matched(old: Sequence[str], new: Sequence[str], depth: int = 0) -> Iterator[Line]:
    """Compare; large texts piecewise, between lines that both have once and in the same order."""
    if _is_quick(old, new):
        yield from _by_difflib(old, new)
        return
    landmarks = _landmarks(old, new) if depth < DEEPEST else []
    if not landmarks:
        yield from (Line("-", text) for text in old)
        yield from (Line("+", text) for text in new)
        return
    i = j = 0
    for next_i, next_j in landmarks:
        yield from _matched(old[i:next_i], new[j:next_j], depth + 1)
        yield Line(" ", old[next_i])
        i, j = next_i + 1, next_j + 1
    yield from _matched(old[i:], new[j:], depth + 1)


def _by_difflib(old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
    opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for tag, i1, i2, j1, j2 in opcodes:
        if tag == "equal":
            yield from (Line(" ", text) for text in old[i1:i2])
        else:
            yield from (Line("-", text) for text in old[i1:i2])
            yield from (Line("+", text) for text in new[j1:j2])


def _is_quick(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether difflib is: it looks at each pair of equal lines, and at all lines for each match."""
    counts = Counter(new)
    pairs = sum(counts[line] for line in old)
    return pairs <= MOST_PAIRS and min(pairs, len(old)) * len(old) <= MOST_STEPS


def _landmarks(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    in_old, in_new = Counter(old), Counter(new)
    place = {line: j for j, line in enumerate(new) if in_new[line] == 1}
    pairs = [(i, place[line]) for i, line in enumerate(old) if in_old[line] == 1 and line in place]
    return longest_rising(pairs)


def longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose second members rise."""
    ends: list[int] = []  # of the best subsequence of each length, the last second member
    last: list[int] = []  # and the index of that pair
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [index]
    found = []
    at = last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


# -- showing


def _near_changes(script: Sequence[Line]) -> Iterator[Line]:
    changed = [i for i, line in enumerate(script) if line.sign != " "]
    shown = {i for at in changed for i in range(at - CONTEXT, at + CONTEXT + 1)}
    before = -1
    for i, line in enumerate(script):
        if i in shown:
            if i > before + 1:
                yield Line("…", "")
            yield line
            before = i


def _about_the_end(diff: Diff) -> list[Line]:
    """What a comparison by lines does not show: the last newline, and the kind of newlines."""
    if diff.old is None or diff.deleted or not diff.new or not diff.old:
        return []
    notes = []
    if diff.old.endswith("\n") != diff.new.endswith("\n"):
        side = "after" if diff.old.endswith("\n") else "before"
        notes.append(Line("\\", f"no newline at the end of the file {side} the change"))
    before, after = _line_ends(diff.old), _line_ends(diff.new)
    if before != after and before and after:
        notes.append(Line("\\", f"the kind of line ends changes ({before} → {after})"))
    elif before == after == MIXED and _split(diff.old) == _split(diff.new) and diff.old != diff.new:
        notes.append(Line("\\", "the kind of some line ends changes (CRLF, LF)"))
    return notes


def _line_ends(text: str) -> str:
    """The kinds of line ends in a text, by name; nothing where it has none."""
    windows, all_ends = text.count("\r\n"), text.count("\n")
    if windows and windows < all_ends:
        return MIXED
    return ("CRLF" if windows else "LF") if all_ends else ""
