"""The agent's plan, as a checklist that is drawn anew when it changes."""

from __future__ import annotations

from ..errors import shortened
from ..events import PlanEntry, PlanUpdate
from ..text import clean
from .html import code, escape, faint, frame
from .markdown import to_html
from .place import Place

MOST_STEPS = 300  # a plan is drawn anew, as a whole, at each change
MOST_WORDS, MOST_TEXT = 1_000, 20_000  # characters, of a step and of a plan in Markdown
MARKS = {"completed": "☑", "in_progress": "◐"}


def plan_html(plan: PlanUpdate, place: Place) -> str:
    """A plan as HTML."""
    shows_priority = _priorities_differ(plan)
    rows = [_row(entry, shows_priority) for entry in plan.entries[:MOST_STEPS]]
    rows += [faint(escape(left_out))] if (left_out := _left_out(plan)) else []
    rows += [to_html(shortened(plan.text, MOST_TEXT))] if plan.text else []
    rows += [code(shortened(place.relative(plan.uri.removeprefix("file://"))))] if plan.uri else []
    if not rows:
        return frame(faint("plan dropped"))
    done = sum(entry.status == "completed" for entry in plan.entries)
    count = f" {faint(f'{done} of {len(plan.entries)} done')}" if plan.entries else ""
    return frame("<br>".join([f"<b>plan</b>{count}", *rows]))


def plain(plan: PlanUpdate) -> str:
    """A plan as text."""
    rows = [f"{_mark(e)} {shortened(e.content, MOST_WORDS)}" for e in plan.entries[:MOST_STEPS]]
    rows += [left_out] if (left_out := _left_out(plan)) else []
    rows += [part for part in (shortened(plan.text, MOST_TEXT), shortened(plan.uri)) if part]
    return clean("\n".join(rows)) or "[plan dropped]"


def _row(entry: PlanEntry, shows_priority: bool) -> str:
    row = f"{_mark(entry)} {escape(shortened(entry.content, MOST_WORDS))}"
    priority = shortened(entry.priority, MOST_WORDS)
    return f"{row} {faint(f'· {escape(priority)} priority')}" if shows_priority else row


def _mark(entry: PlanEntry) -> str:
    return MARKS.get(entry.status, "☐")


def _left_out(plan: PlanUpdate) -> str:
    more = len(plan.entries) - MOST_STEPS
    return f"… {more:,} more steps are not shown" if more > 0 else ""


def _priorities_differ(plan: PlanUpdate) -> bool:
    """Whether they tell anything: many agents give all steps the same."""
    return len({entry.priority for entry in plan.entries}) > 1
