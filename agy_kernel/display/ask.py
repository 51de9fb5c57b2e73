"""A question, put to a person: as a widget where the front end shows them, else as text.

The ladder: a widget, with a handshake (the front end reports that it has a view of it); when no
view has appeared within two seconds, a line of text as well, without waiting for it, so that a
late click still wins. Once a view was seen there is no second step, and once none was seen there
is no waiting. Lines of text are asked for one at a time: an answer does not tell its question.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ..questions import Answer, Question, SignInPage
from ..text import clean
from .output import Output

VIEW_GRACE = 2.0
LATE = "expired: this question has been answered"

Give = Callable[[Answer], None]
"""Called with the answer that a person gave at a widget."""


class Face(Protocol):
    """What a question looks like, as a widget and as text; one for each kind of question."""

    def build(self, give: Give) -> Any:
        """The widget, which calls ``give`` with the answer."""

    def poll(self) -> None:
        """Look whether the widget has come to an answer."""

    def disable(self) -> None:
        """The question is answered: no input counts any more."""

    @property
    def text(self) -> str:
        """The whole question, as text."""

    @property
    def prompt(self) -> str:
        """The line of text that is asked for next."""

    def read(self, typed: str) -> Answer | None:
        """Take a line of text; None asks for the next one."""


@dataclass(slots=True)
class FrontEnd:
    """What is known of a front end, for the kernel's life.

    Args:
        shows_widgets: None while nobody has tried.
        at_the_line: who asked last for a line of text.
    """

    shows_widgets: bool | None = None
    at_the_line: Asking | None = None


class Asking:
    """One question while it is open.

    Args:
        question: what is asked.
        face: what it looks like.
        front_end: what is known of the front end; updated by what is seen here.
        use_widgets: whether clicks can arrive at all.
        on_late_answer: called when somebody answers after the question was answered.
    """

    def __init__(
        self,
        question: Question,
        face: Face,
        front_end: FrontEnd,
        use_widgets: bool = False,
        on_late_answer: Callable[[], None] = lambda: None,
    ) -> None:
        self.question = question
        self._face, self._front_end = face, front_end
        self._on_late_answer = on_late_answer
        self.widget: Any = None
        if use_widgets:
            self.widget = face.build(self._given)
            # Documented as experimental: set before the display, the front end counts its views.
            self.widget._view_count = 0
            self.widget.observe(self._seen, "_view_count")
        self._deadline = time.monotonic() + VIEW_GRACE

    def poll(self, output: Output) -> None:
        """Fall back to text when it is time, and look for what was typed."""
        if not self.question.open:
            return
        if self.widget is not None:
            self._face.poll()
        if self._front_end.at_the_line is self:
            self._read(output)
        elif self._line_is_free() and self._no_view_will_come():
            self._front_end.at_the_line = self
            output.write(f"\n{clean(self._face.text)}\n")
            self._ask(output)

    def close(self) -> None:
        """Take the widget away; later clicks go nowhere."""
        if self.widget is not None:
            _close_tree(self.widget)
            self.widget = None

    def _seen(self, change: Any) -> None:
        if change["new"]:
            self._front_end.shows_widgets = True

    def _given(self, answer: Answer) -> None:
        self._front_end.shows_widgets = True
        if not self.question.answer(answer):
            self._on_late_answer()
        self._face.disable()

    def _line_is_free(self) -> bool:
        other = self._front_end.at_the_line
        return other is None or not other.question.open

    def _no_view_will_come(self) -> bool:
        if self.widget is None:
            return True
        if self._front_end.shows_widgets is None and time.monotonic() > self._deadline:
            self._front_end.shows_widgets = False
        return self._front_end.shows_widgets is False

    def _read(self, output: Output) -> None:
        typed = output.typed()
        if typed is None:
            return
        answer = self._face.read(typed)
        if answer is None:
            self._ask(output)
        else:
            self.question.answer(answer)

    def _ask(self, output: Output) -> None:
        output.ask(clean(self._face.prompt), isinstance(self.question, SignInPage))


def _close_tree(widget: Any) -> None:
    for child in getattr(widget, "children", ()):
        _close_tree(child)
    parts = [widget.layout, getattr(widget, "style", None)]
    for one in (widget, *(part for part in parts if part is not None)):
        one.close()
