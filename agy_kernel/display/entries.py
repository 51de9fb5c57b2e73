"""What an entry of the transcript looks like: as Markdown for a page, and as plain text."""

from __future__ import annotations

from ..conversation.transcript import Attachment, Entry, Message, Plan, Remark, ToolCall
from .html import escape, faint, fold, frame
from .markdown import safe, to_html
from .media import describe, picture
from .pages import Segment
from .tools import card, summary

PLAN_MARKS = {"completed": "☑", "in_progress": "◐"}
SEVERITY_MARKS = {"warning": "⚠ ", "error": "✗ "}


def markdown(entry: Entry, segment: Segment, folder: str) -> str:
    """A part of an entry, as Markdown that is safe in a trusted output."""
    match entry:
        case Message() if entry.role == "agent":
            return safe(segment.text(entry))
        case Message():
            return _thought(segment.text(entry))
        case ToolCall():
            return card(entry, folder)
        case Plan(entries):
            lines = (f"{_plan_mark(e.status)} {escape(e.content)}" for e in entries)
            return frame("<b>plan</b><br>" + "<br>".join(lines))
        case Remark(text, severity):
            return frame(faint(SEVERITY_MARKS.get(severity, "") + escape(text)))
        case Attachment(chunk):
            is_image = chunk.content.type == "image"
            return frame(picture(chunk.content) if is_image else describe(chunk.content))


def plain(entry: Entry, folder: str) -> str:
    """An entry as plain text."""
    match entry:
        case Message():
            return entry.text
        case ToolCall():
            return f"[{summary(entry, folder)}]"
        case Plan(entries):
            return "\n".join(f"{_plan_mark(e.status)} {e.content}" for e in entries)
        case Remark(text):
            return f"[{text}]"
        case Attachment(chunk):
            return f"[{chunk.content.type}]"


def _thought(text: str) -> str:
    words = len(text.split())
    return fold(faint(f"thought, {words} word{'s' if words != 1 else ''}"), to_html(text))


def _plan_mark(status: str) -> str:
    return PLAN_MARKS.get(status, "☐")
