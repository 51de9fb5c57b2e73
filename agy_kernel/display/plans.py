"""The agent's plan, as a checklist that is drawn anew when it changes."""

from __future__ import annotations

from ..events import PlanEntry, PlanUpdate
from ..text import clean
from .html import code, escape, faint, frame
from .markdown import to_html
from .place import Place

MARKS = {"completed": "☑", "in_progress": "◐"}


def plan_html(plan: PlanUpdate, place: Place) -> str:
    """A plan as HTML."""
    rows = [_row(entry, _priorities_differ(plan)) for entry in plan.entries]
    rows += [to_html(plan.text)] if plan.text else []
    rows += [code(place.relative(plan.uri.removeprefix("file://")))] if plan.uri else []
    if not rows:
        return frame(faint("plan dropped"))
    done = sum(entry.status == "completed" for entry in plan.entries)
    count = f" {faint(f'{done} of {len(plan.entries)} done')}" if plan.entries else ""
    return frame("<br>".join([f"<b>plan</b>{count}", *rows]))


def plain(plan: PlanUpdate) -> str:
    """A plan as text."""
    rows = [f"{MARKS.get(e.status, '☐')} {e.content}" for e in plan.entries]
    rows += [part for part in (plan.text, plan.uri) if part]
    return clean("\n".join(rows)) or "[plan dropped]"


def _row(entry: PlanEntry, shows_priority: bool) -> str:
    row = f"{MARKS.get(entry.status, '☐')} {escape(entry.content)}"
    return f"{row} {faint(f'· {escape(entry.priority)} priority')}" if shows_priority else row


def _priorities_differ(plan: PlanUpdate) -> bool:
    """Whether they tell anything: many agents give all steps the same."""
    return len({entry.priority for entry in plan.entries}) > 1
