"""A diff, as counted lines and as a block of HTML."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from ..events import Diff
from .html import ADDED, FAINT, REMOVED, fold, pre_lines

CONTEXT = 3
SHOWN_LINES = 60
MATCHED_LINES = 4_000

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


def what(diff: Diff) -> str:
    """What happens to the file: ``new file``, ``deleted`` or ``changed``."""
    if diff.deleted:
        return "deleted"
    return "new file" if diff.old is None else "changed"


def compare(diff: Diff) -> Lines:
    """The lines that differ, with three lines of context around them."""
    old, new = _split(diff.old or ""), _split("" if diff.deleted else diff.new)
    lines: list[Line] = []
    for group in _groups(old, new):
        if lines or group[0][1] > 0:
            lines.append(Line("…", ""))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [Line(" ", text) for text in old[i1:i2]]
            else:
                lines += [Line("-", text) for text in old[i1:i2]]
                lines += [Line("+", text) for text in new[j1:j2]]
    lines += _about_the_end(diff)
    counts = [sum(line.sign == sign for line in lines) for sign in "+-"]
    return Lines(tuple(lines), counts[0], counts[1])


def render(diff: Diff) -> str:
    """The diff as HTML; what is long is folded, with its number of lines."""
    lines = compare(diff).lines
    if not lines:
        return pre_lines([("(no change)", FAINT)])
    if len(lines) <= SHOWN_LINES + 5:
        return _block(lines)
    rest = lines[SHOWN_LINES:]
    return _block(lines[:SHOWN_LINES]) + fold(f"{len(rest)} more lines", _block(rest))


def plain(diff: Diff) -> str:
    """The diff as text."""
    return "\n".join(_text(line) for line in compare(diff).lines)


def stat(diff: Diff) -> str:
    """How much changes: ``+3 −1``."""
    compared = compare(diff)
    return f"+{compared.added} −{compared.removed}"


def _block(lines: tuple[Line, ...]) -> str:
    return pre_lines([(_text(line), STYLES.get(line.sign, "")) for line in lines])


def _text(line: Line) -> str:
    return f"{line.sign} {line.text}".rstrip() if line.sign != " " else f"  {line.text}"


def _split(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if not lines[-1] else lines


def _groups(old: list[str], new: list[str]) -> list[list[tuple[str, int, int, int, int]]]:
    # Matching is quadratic at worst; beyond this size only the common ends are taken off.
    if len(old) + len(new) > MATCHED_LINES:
        return _ends_only(old, new)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [list(group) for group in matcher.get_grouped_opcodes(CONTEXT)]


def _ends_only(old: list[str], new: list[str]) -> list[list[tuple[str, int, int, int, int]]]:
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    most = shorter - head
    tail = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    end_old, end_new = len(old) - tail, len(new) - tail
    if head == end_old and head == end_new:
        return []
    before, after = max(0, head - CONTEXT), min(tail, CONTEXT)
    return [
        [
            ("equal", before, head, before, head),
            ("replace", head, end_old, head, end_new),
            ("equal", end_old, end_old + after, end_new, end_new + after),
        ]
    ]


def _about_the_end(diff: Diff) -> list[Line]:
    """What a comparison by lines does not show: the last newline, and the kind of newlines."""
    if diff.old is None or diff.deleted or not diff.new or not diff.old:
        return []
    notes = []
    if diff.old.endswith("\n") != diff.new.endswith("\n"):
        side = "after" if diff.old.endswith("\n") else "before"
        notes.append(Line("\\", f"no newline at the end of the file {side} the change"))
    if ("\r\n" in diff.old) != ("\r\n" in diff.new):
        notes.append(Line("\\", "the kind of line ends changes (CRLF, LF)"))
    return notes
