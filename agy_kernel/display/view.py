"""A transcript as outputs of a notebook cell: pages drawn, updated, and questions put on them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..conversation.transcript import Entry, Message, ToolCall, Transcript
from ..events import Question
from .ask import LATE, Asking, FrontEnd
from .entries import markdown, plain
from .html import block, escape, faint
from .markdown import clean
from .output import Output
from .pages import Page, Pages, Segment
from .tools import request, summary

FRAMES_PER_SECOND = 20
BYTES_PER_SECOND = 300_000
SHORT_KINDS = ("work", "question", "slot")


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
        self._pages = Pages(lambda segment: len(self._markdown(segment)))
        self._entries: tuple[Entry, ...] = ()
        self._drawn: dict[tuple[int, int], tuple[Entry, int | None, str]] = {}
        self._asking: dict[int, tuple[Asking, Page]] = {}
        self._retired: list[Asking] = []
        self._stacks: dict[Page, Any] = {}
        self._late: set[int] = set()
        self._next_draw = 0.0
        self._is_final = False

    # -- drawing

    def due_in(self) -> float:
        """Seconds until it may draw again."""
        return max(0.0, self._next_draw - time.monotonic())

    def draw(self, transcript: Transcript, final: bool = False) -> None:
        """Draw what has changed.

        Args:
            final: from now on, leave a plain text of everything, for front ends without Markdown.
        """
        self._take(transcript.entries)
        self._retire()
        self._ask_what_is_new()
        if final:
            self._is_final = True
            self._pages.finish()
        self._draw_pages()

    def status(self, text: str) -> None:
        """Say what is being waited for; the next thing to show takes its place."""
        self._publish(self._pages.spare(), {"text/markdown": block(faint(escape(text)))}, text)

    def end(self, footer: str, extra: Mapping[str, Any]) -> None:
        """Add the footer, with what it carries for programs; no click counts any more."""
        self._publish(self._pages.footer(), {"text/markdown": footer, **extra}, footer)
        for asking in self._retired:
            asking.close()
        self._retired.clear()

    # -- questions

    @property
    def has_open_question(self) -> bool:
        """Whether a person is being waited for."""
        return bool(self._asking)

    def poll(self) -> None:
        """Let open questions look for answers that come as text, and draw what a click changed."""
        for asking, _ in self._asking.values():
            asking.poll(self._output)
        self._retire()
        if self._pages.has_changes and self.due_in() == 0:
            self._draw_pages()

    def _ask_what_is_new(self) -> None:
        for index, entry in enumerate(self._entries):
            question = entry.question if isinstance(entry, ToolCall) else None
            if question is not None and question.open and index not in self._asking:
                self._ask(index, question)

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

    def _retire(self) -> None:
        for index in [i for i, (asking, _) in self._asking.items() if not asking.question.open]:
            asking, page = self._asking.pop(index)
            self._retired.append(asking)
            self._pages.asked(page)
            self._change(index)

    def _clicked_late(self, index: int) -> None:
        self._late.add(index)
        self._change(index)

    # -- pages

    def _take(self, entries: tuple[Entry, ...]) -> None:
        before, self._entries = self._entries, entries
        for index, (old, new) in enumerate(zip(before, entries, strict=False)):
            if old is not new:
                self._pages.touch(index)
        self._pages.place(entries)

    def _change(self, index: int) -> None:
        self._drawn.pop((index, 0), None)
        self._pages.touch(index)

    def _draw_pages(self) -> None:
        sent = sum(self._draw_page(page) for page in self._pages.changed())
        if sent:
            self._clear_status()
        pause = max(1 / FRAMES_PER_SECOND, sent / BYTES_PER_SECOND)
        self._next_draw = time.monotonic() + pause

    def _draw_page(self, page: Page) -> int:
        widgets = [a.widget for a, where in self._asking.values() if where is page and a.widget]
        if widgets:
            return self._draw_widgets(page, widgets)
        self._close_stack(page)
        body = "\n\n".join(part for s in page.segments if (part := self._markdown(s)))
        is_short = page.kind in SHORT_KINDS
        with_plain = self._is_final or is_short or self._pages.is_sealed(page)
        if body == (page.shown or "") and (page.has_plain or not with_plain or not body):
            return 0
        page.has_plain = with_plain
        plain_text = {"text/plain": self._plain(page)} if with_plain else {}
        return self._publish(page, {"text/markdown": body, **plain_text}, body)

    def _draw_widgets(self, page: Page, widgets: list[Any]) -> int:
        key = " ".join(widget.model_id for widget in widgets)
        if page.shown == key:
            return 0
        self._close_stack(page)
        widget = widgets[0] if len(widgets) == 1 else self._stack(page, widgets)
        bundle = dict(widget._repr_mimebundle_())
        bundle["text/plain"] = "a question of the agent, waiting for an answer"
        return self._publish(page, bundle, key)

    def _stack(self, page: Page, widgets: list[Any]) -> Any:
        import ipywidgets

        self._stacks[page] = ipywidgets.VBox(widgets)
        return self._stacks[page]

    def _close_stack(self, page: Page) -> None:
        if (stack := self._stacks.pop(page, None)) is not None:
            layout = stack.layout
            stack.close()
            layout.close()

    def _clear_status(self) -> None:
        page = self._pages.spare()
        if page.shown:
            self._publish(page, {"text/markdown": ""}, "")

    def _publish(self, page: Page, bundle: Mapping[str, Any], shown: str) -> int:
        self._output.publish(bundle, page.display_id, update=page.shown is not None)
        page.shown = shown
        return len(shown)

    # -- segments

    def _markdown(self, segment: Segment) -> str:
        """The Markdown of a segment; made once for each state of what it shows."""
        entry, key = self._entries[segment.entry], (segment.entry, segment.start)
        drawn, end, text = self._drawn.get(key, (None, None, ""))
        is_sealed = segment.end is not None and segment.end == end
        if drawn is not entry and not is_sealed:
            text = markdown(entry, segment, self._folder)
            text += faint(f" ({LATE})") if segment.entry in self._late else ""
            self._drawn[key] = (entry, segment.end, text)
        return text

    def _plain(self, page: Page) -> str:
        parts: list[str] = []
        last = -1
        for segment in page.segments:
            entry = self._entries[segment.entry]
            if isinstance(entry, Message):
                text = segment.exact(entry)
            else:
                text = plain(entry, self._folder)
            if segment.entry == last:
                parts[-1] += text
            else:
                parts.append(text)
            last = segment.entry
        return clean("\n\n".join(parts))
