"""A transcript as outputs of a notebook cell: pages drawn, updated, and questions put on them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from ..conversation.transcript import Entry, Message, Transcript
from ..questions import Question, SignInPage
from ..text import clean
from .ask import LATE, Asking, FrontEnd
from .entries import plain
from .faces import face_of, question_of
from .html import block, escape, faint
from .output import Output
from .pages import BLOCK, Page, Pages, Segment
from .place import Place
from .rendered import Rendered

FRAMES_PER_SECOND = 20
BYTES_PER_SECOND = 300_000
SHORT_KINDS = ("work", "question", "slot")
NOTHING = hash("")


class NotebookView:
    """Draws a turn where outputs can be updated.

    Args:
        output: the cell's output area.
        place: where the turn is shown.
        front_end: what is known of the front end.
        use_widgets: whether clicks can arrive while the cell runs.
        clock: tells the seconds.
    """

    def __init__(
        self,
        output: Output,
        place: Place,
        front_end: FrontEnd,
        use_widgets: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._output, self._place = output, place
        self._front_end, self._use_widgets = front_end, use_widgets
        self._pages = Pages(lambda segment: len(self._markdown(segment)))
        self._entries: tuple[Entry, ...] = ()
        self._rendered = Rendered(place)
        self._asking: dict[int, tuple[Asking, Page]] = {}
        self._retired: list[Asking] = []
        self._stacks: dict[Page, Any] = {}
        self._late: set[int] = set()
        self._clock, self._next_draw = clock, 0.0
        self._is_final = False

    # -- drawing

    def due_in(self) -> float:
        """Seconds until it may draw again."""
        return max(0.0, self._next_draw - self._clock())

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
        """Add the footer, if any, with what it carries for programs; no click counts any more."""
        if footer:
            self._publish(self._pages.footer(), {"text/markdown": footer, **extra}, footer)
        else:
            self._clear_status()
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
            question = question_of(entry)
            if question is not None and question.open and index not in self._asking:
                self._ask(index, question)

    def _ask(self, index: int, question: Question) -> None:
        asking = Asking(
            question,
            face_of(self._entries[index], self._place),
            self._front_end,
            self._use_widgets,
            on_late_answer=lambda: self._answered_late(index),
        )
        self._asking[index] = (asking, self._pages.ask(index))

    def _retire(self) -> None:
        for index in [i for i, (asking, _) in self._asking.items() if not asking.question.open]:
            asking, page = self._asking.pop(index)
            self._retired.append(asking)
            self._pages.asked(page)
            self._pages.touch(index)

    def _answered_late(self, index: int) -> None:
        self._late.add(index)
        self._pages.touch(index)

    # -- pages

    def _take(self, entries: tuple[Entry, ...]) -> None:
        before, self._entries = self._entries, entries
        for index, (old, new) in enumerate(zip(before, entries, strict=False)):
            if old is not new:
                self._pages.touch(index)
        self._pages.place(entries)

    def _draw_pages(self) -> None:
        now = self._clock()
        pages = self._pages.changed(math.inf if self._is_final else now)
        sent = sum(self._draw_page(page, now) for page in pages)
        if sent:
            self._clear_status()
        self._next_draw = now + max(1 / FRAMES_PER_SECOND, sent / BYTES_PER_SECOND)

    def _draw_page(self, page: Page, now: float) -> int:
        asking = [a for a, where in self._asking.values() if where is page and a.widget]
        if asking:
            return self._draw_widgets(page, asking)
        self._close_stack(page)
        body = self._body(page)
        is_sealed = self._is_final or self._pages.is_sealed(page)
        with_plain = is_sealed or page.kind in SHORT_KINDS
        if is_sealed:
            self._rendered.forget(page.segments)
        page.rests_until = now + _rest(len(body), is_sealed)
        is_as_shown = hash(body) == (NOTHING if page.shown is None else page.shown)
        if is_as_shown and (page.has_plain or not with_plain or not body):
            return 0
        page.has_plain = with_plain
        plain_text = {"text/plain": self._plain(page)} if with_plain else {}
        return self._publish(page, {"text/markdown": body, **plain_text}, body)

    def _body(self, page: Page) -> str:
        return "\n\n".join(part for s in page.segments if (part := self._markdown(s)))

    def _draw_widgets(self, page: Page, asking: list[Asking]) -> int:
        widgets = [a.widget for a in asking]
        key = " ".join(widget.model_id for widget in widgets)
        if page.shown == hash(key):
            return 0
        self._close_stack(page)
        widget = widgets[0] if len(widgets) == 1 else self._stack(page, widgets)
        bundle = dict(widget._repr_mimebundle_())
        bundle["text/plain"] = "a question of the agent, waiting for an answer"
        if any(isinstance(a.question, SignInPage) for a in asking):
            # Where widgets are not shown, here is the link; text could not be taken back.
            bundle["text/markdown"] = self._body(page)
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
        if page.shown not in (None, NOTHING):
            self._publish(page, {"text/markdown": ""}, "")

    def _publish(self, page: Page, bundle: Mapping[str, Any], shown: str) -> int:
        self._output.publish(bundle, page.display_id, update=page.shown is not None)
        page.shown = hash(shown)
        return len(shown)

    # -- segments

    def _markdown(self, segment: Segment) -> str:
        text = self._rendered.markdown(self._entries[segment.entry], segment)
        return text + faint(f" ({LATE})") if segment.entry in self._late else text

    def _plain(self, page: Page) -> str:
        parts: list[str] = []
        last = -1
        for segment in page.segments:
            entry = self._entries[segment.entry]
            text = segment.exact(entry) if isinstance(entry, Message) else plain(entry, self._place)
            if segment.entry == last:
                parts[-1] += text
            else:
                parts.append(text)
            last = segment.entry
        return clean("\n\n".join(parts))


def _rest(size: int, is_sealed: bool) -> float:
    """Seconds until a page may be drawn again; a browser renders it anew each time, as a whole.

    By the square, so that news of a call costs less on a large page than on a small one, and
    longer where no text is read as it comes.
    """
    return (size / BLOCK) ** 2 / (FRAMES_PER_SECOND / 4 if is_sealed else FRAMES_PER_SECOND)
