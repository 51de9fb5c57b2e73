"""What an entry of the transcript looks like: as Markdown for a page, and as plain text."""

from __future__ import annotations

from ..conversation.history import History
from ..conversation.toolcalls import ToolCall
from ..conversation.transcript import (
    Attachment,
    Entry,
    Inquiry,
    Message,
    Plan,
    Remark,
)
from ..errors import shortened
from . import contents, earlier, inquiries, plans
from .headings import summary
from .html import escape, faint, fold, frame
from .inquiries import inquiry_html
from .markdown import safe, to_html
from .pages import Segment
from .place import Place
from .tools import card

SEVERITY_MARKS = {"warning": "⚠ ", "error": "✗ "}


def markdown(  # noqa: C901, PLR0911  # a case for each entry
    entry: Entry, segment: Segment, place: Place
) -> str:
    """A part of an entry, as Markdown that is safe in a trusted output."""
    match entry:
        case Inquiry():
            return inquiry_html(entry)
        case History():
            return earlier.html(entry)
        case Message() if entry.role == "agent":
            return safe(segment.text(entry))
        case Message():
            return _thought(segment.text(entry))
        case ToolCall():
            return card(entry, place)
        case Plan(update):
            return plans.plan_html(update, place)
        case Remark():
            mark = SEVERITY_MARKS.get(entry.severity, "")
            return frame(faint(mark + escape(_remark(entry))))
        case Attachment(chunk):
            return frame(contents.block(chunk.content, place, id(entry)))


def plain(  # noqa: PLR0911  # a case for each entry
    entry: Entry, place: Place
) -> str:
    """An entry as plain text."""
    match entry:
        case Inquiry():
            return f"[{inquiries.plain(entry)}]"
        case History():
            return f"[{earlier.plain(entry)}]"
        case Message():
            return entry.text
        case ToolCall():
            return f"[{summary(entry, place)}]"
        case Plan(update):
            return plans.plain(update)
        case Remark():
            return f"[{_remark(entry)}]"
        case Attachment(chunk):
            return f"[{contents.line(chunk.content, place)}]"


def _thought(text: str) -> str:
    words = len(text.split())
    return fold(faint(f"thought, {words} word{'s' if words != 1 else ''}"), to_html(text))


def _remark(remark: Remark) -> str:
    text = shortened(remark.text)
    return f"{text} (× {remark.count:,})" if remark.count > 1 else text
