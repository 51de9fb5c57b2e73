"""A tool call, merged from all that was said of it; a part of the transcript."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ..events import Diff, Location, ToolCallUpdate, ToolContent
from ..questions import Answer, Permission

HARMLESS_KINDS = {"read", "search", "think", "switch_mode"}
RUNNING = ("in_progress", "completed", "failed")
FINAL = ("completed", "failed")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call, merged from all that was said of it.

    Args:
        status: ``pending``, ``in_progress``, ``completed``, ``failed`` or an unknown one.
        changes: the diffs that it showed last; they outlive the content, which some agents
            replace by a word of success.
        question: the question that was asked about it, if one was.
        answer: how that was answered; None while it is open.
        printed: what its terminal printed, in parts that grow by doubling: adding a little to a
            lot costs little.
        exit_status: of the command in its terminal.
        stands_for: id of an approved call that the agent ran under this id instead.
        superseded: whether the work was done under another id (Antigravity RC01, seed run 6, 7).
        unfinished: whether the turn ended without a final status.
        inquires: whether a form or a link was shown in its name.
    """

    id: str
    title: str = ""
    kind: str = "other"
    status: str = "pending"
    content: tuple[ToolContent, ...] = ()
    changes: tuple[Diff, ...] = ()
    locations: tuple[Location, ...] = ()
    raw_input: Any = None
    raw_output: Any = None
    printed: tuple[str, ...] = ()
    exit_status: int | None = None
    meta: Any = field(default_factory=dict, compare=False)
    question: Permission | None = field(default=None, compare=False)
    answer: Answer | None = None
    stands_for: str | None = None
    superseded: bool = False
    unfinished: bool = False
    inquires: bool = False

    @property
    def unasked(self) -> bool:
        """Whether it ran although nobody was asked, and could have changed something."""
        is_inquiry = self.inquires and self.kind == "other"  # claude's AskUserQuestion
        asked = self.question is not None or self.stands_for is not None or is_inquiry
        return self.status in RUNNING and self.kind not in HARMLESS_KINDS and not asked

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it touches."""
        changed = [diff.path for diff in self.changes]
        return tuple(dict.fromkeys([*changed, *(loc.path for loc in self.locations)]))


def merged(known: ToolCall | None, update: ToolCallUpdate) -> ToolCall:
    """A tool call after one more frame about it."""
    call = known or ToolCall(update.id)
    # A permission request tells the status as it was when it was made: never take a call back.
    status = call.status if update.asked and call.status in RUNNING else update.status
    changed = {
        "title": update.title,
        "kind": update.kind,
        "status": status,
        "content": update.content,
        "changes": tuple(c for c in update.content or () if isinstance(c, Diff)) or None,
        "locations": update.locations,
        "raw_input": update.raw_input,
        "raw_output": update.raw_output,
        "printed": _longer(call.printed, update.printed) if update.printed else None,
        "exit_status": update.exit_status,
        "meta": {**call.meta, **update.meta} if update.meta else None,
    }
    now = replace(call, **{k: v for k, v in changed.items() if v is not None})
    unfinished = call.unfinished and now.status not in FINAL
    return replace(now, unfinished=unfinished, stands_for=None)  # which is found out anew


def _longer(parts: tuple[str, ...], text: str) -> tuple[str, ...]:
    while parts and len(parts[-1]) <= len(text):
        parts, text = parts[:-1], parts[-1] + text
    return (*parts, text)


def carries_out(call: ToolCall, approved: ToolCall) -> bool:
    """Whether a call does what another one was approved for (Antigravity RC01, seed run 6, 7)."""
    if call.question is not None or call.stands_for is not None or call.superseded:
        return False
    if call.kind != approved.kind or approved.answer is None or not approved.answer.allowed:
        return False
    if not (approved.paths or call.paths):
        return bool(approved.raw_input == call.raw_input)
    texts = [{diff.path: diff.new for diff in c.changes} for c in (approved, call)]
    # Leave was given to write a certain text, not just to that file.
    same_text = not all(texts) or texts[0] == texts[1]
    return same_text and set(approved.paths) == set(call.paths)
