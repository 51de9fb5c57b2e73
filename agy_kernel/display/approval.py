"""Whether a call that was allowed is still the one that the person was asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..conversation.toolcalls import ToolCall
from ..events import Diff
from .calls import command_of

Lines = Counter[tuple[str, str, str]]


def strayed(call: ToolCall) -> bool:
    """Whether a call became another after it was allowed: another command, or other changes.

    Agents add to a call what they know later; only what was asked about has to stay as it was
    (public report 82).
    """
    if call.question is None or call.answer is None or not call.answer.allowed:
        return False
    asked = call.question.call
    command = command_of(ToolCall(call.id, raw_input=asked.raw_input))
    changes = [item for item in asked.content or () if isinstance(item, Diff)]
    is_other_command = bool(command) and command != command_of(call)
    return is_other_command or bool(changes and not _lines(call.changes) <= _lines(changes))


def _lines(changes: Iterable[Diff]) -> Lines:
    """The lines that go and come; agents show the same change with more or less around it."""
    lines: Lines = Counter()
    for change in changes:
        old, new = Counter((change.old or "").splitlines()), Counter(change.new.splitlines())
        for sign, some in (("-", old - new), ("+", new - old)):
            lines.update({(change.path, sign, line): count for line, count in some.items()})
    return lines
