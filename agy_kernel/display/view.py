"""A transcript as outputs of a notebook cell: pages drawn, updated, and questions put on them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..conversation.transcript import (
    Attachment,
    Entry,
    Message,
    Plan,
    Remark,
    ToolCall,
    Transcript,
)
from ..events import Question
from .ask import LATE, Asking, FrontEnd
from .html import escape, faint, fold, frame
from .markdown import safe, to_html
from .media import describe, picture
from .output import Output
from .pages import Page, Pages, Segment
from .tools import card, request, summary

FRAMES_PER_SECOND = 20
BYTES_PER_SECOND = 300_000
PLAN_MARKS = {"completed": "☑", "in_progress": "◐"}
SEVERITY_MARKS = {"warning": "⚠ ", "error": "✗ "}


class NotebookView:
    """Draws a turn where outputs can be updated.

    Args:
        output: the cell's output area.
        folder: paths inside it are shown relative to it.
        front_end: what is known of the front end.
        use_widgets: whether clicks can arrive while the cell runs.
    """

    def __init__(self, output: Output, folder: str, front_end: FrontEnd, use_widgets: bool) -> None:
        self._output, self._folder = output, folder
        self._front_end, self._use_widgets = front_end, use_widgets
        self._pages = Pages()
        self._entries: tuple[Entry, ...] = ()
        self._asking: dict[int, tuple[Asking, Page]] = {}
        self._retired: list[Asking] = []
        self._late: set[int] = set()
        self._next_draw = 0.0

    # -- drawing

    def due_in(self) -> float:
        """Seconds until it may draw again."""
        return max(0.0, self._next_draw - time.monotonic())

    def draw(self, transcript: Transcript, final: bool = False) -> None:
        """Draw what has changed.

        Args:
            final: also leave a plain text of everything, for front ends without Markdown.
        """
        self._pages.place(transcript.entries)
        self._note_changes(transcript.entries)
        self._entries = transcript.entries
        self._ask_and_retire()
        pages = self._pages.all if final else list(self._pages.dirty)
        self._pages.dirty.clear()
        sent = sum(self._draw_page(page, final) for page in pages)
        pause = max(1 / FRAMES_PER_SECOND, sent / BYTES_PER_SECOND)
        self._next_draw = time.monotonic() + pause

    def status(self, text: str) -> None:
        """Say what is being waited for; the next thing to show takes its place."""
        page = self._pages.spare()
        self._publish(page, {"text/markdown": faint(escape(text))}, text)

    def end(self, footer: str, extra: Mapping[str, Any]) -> None:
        """Add the footer, with what it carries for programs; no click counts any more."""
        page = self._pages.last()
        page.shown = None if page.shown is None else ""
        self._publish(page, {"text/markdown": footer, **extra}, footer)
        for asking in self._retired:
            asking.close()
        self._retired.clear()

    # -- questions

    @property
    def has_open_question(self) -> bool:
        """Whether a person is being waited for."""
        return bool(self._asking)

    def poll(self) -> None:
        """Let open questions look for answers that come as text."""
        for asking, _ in self._asking.values():
            asking.poll(self._output)

    def _ask_and_retire(self) -> None:
        for index, entry in enumerate(self._entries):
            question = entry.question if isinstance(entry, ToolCall) else None
            if question is not None and question.open and index not in self._asking:
                self._ask(index, question)
        for index in [i for i, (asking, _) in self._asking.items() if not asking.question.open]:
            asking, page = self._asking.pop(index)
            self._retired.append(asking)
            self._pages.asked(page)
            self._pages.touch(index)

    def _ask(self, index: int, question: Question) -> None:
        call = self._entries[index]
        assert isinstance(call, ToolCall)
        asking = Asking(
            question,
            request(call, self._folder),
            summary(call, self._folder),
            self._front_end,
            self._use_widgets,
            on_late_click=lambda: self._clicked_late(index),
        )
        self._asking[index] = (asking, self._pages.ask(index))

    def _clicked_late(self, index: int) -> None:
        self._late.add(index)
        self._pages.touch(index)

    # -- pages

    def _note_changes(self, entries: tuple[Entry, ...]) -> None:
        for index, (before, now) in enumerate(zip(self._entries, entries, strict=False)):
            if before is not now:
                self._pages.touch(index)

    def _draw_page(self, page: Page, final: bool) -> int:
        widgets = [a.widget for a, where in self._asking.values() if where is page and a.widget]
        if widgets:
            return self._draw_widgets(page, widgets)
        body = "\n\n".join(part for s in page.segments if (part := self._segment(s)))
        if body == page.shown and not final:
            return 0
        bundle = {"text/markdown": body}
        if final:
            bundle["text/plain"] = self._plain(page)
        return self._publish(page, bundle, body)

    def _draw_widgets(self, page: Page, widgets: list[Any]) -> int:
        key = " ".join(widget.model_id for widget in widgets)
        if page.shown == key:
            return 0
        widget = widgets[0] if len(widgets) == 1 else _stack(widgets)
        bundle = dict(widget._repr_mimebundle_())
        bundle["text/plain"] = "a question of the agent, waiting for an answer"
        return self._publish(page, bundle, key)

    def _publish(self, page: Page, bundle: Mapping[str, Any], shown: str) -> int:
        self._output.publish(bundle, page.display_id, update=page.shown is not None)
        page.shown = shown
        return len(shown)

    # -- what a segment looks like

    def _segment(self, segment: Segment) -> str:
        entry = self._entries[segment.entry]
        if isinstance(entry, Message) and entry.role == "agent":
            return safe(segment.text(entry))
        late = faint(f" ({LATE})") if segment.entry in self._late else ""
        return _html(entry, self._folder) + late

    def _plain(self, page: Page) -> str:
        parts = []
        for segment in page.segments:
            entry = self._entries[segment.entry]
            text = segment.text(entry) if isinstance(entry, Message) else ""
            parts.append(text or plain(entry, self._folder))
        return "\n\n".join(parts)


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


def _html(entry: Entry, folder: str) -> str:
    match entry:
        case ToolCall():
            return card(entry, folder)
        case Message():
            return _thought(entry)
        case Plan(entries):
            lines = (f"{_plan_mark(e.status)} {escape(e.content)}" for e in entries)
            return frame("<b>plan</b><br>" + "<br>".join(lines))
        case Remark(text, severity):
            return frame(faint(SEVERITY_MARKS.get(severity, "") + escape(text)))
        case Attachment(chunk):
            is_image = chunk.content.type == "image"
            return picture(chunk.content) if is_image else describe(chunk.content)


def _thought(message: Message) -> str:
    words = len(message.text.split())
    return fold(faint(f"thought, {words} word{'s' if words != 1 else ''}"), to_html(message.text))


def _plan_mark(status: str) -> str:
    return PLAN_MARKS.get(status, "☐")


def _stack(widgets: list[Any]) -> Any:
    import ipywidgets

    return ipywidgets.VBox(widgets)
