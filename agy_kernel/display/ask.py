"""A question, put to a person: as buttons where the front end shows them, else as text.

The ladder: a widget, with a handshake (the front end reports that it has a view of it); when no
view has appeared within two seconds, a line of text as well, without waiting for it, so that a
late click still wins. Once a view was seen there is no second step, and once none was seen there
is no waiting. Lines of text are asked for one at a time: an answer does not tell its question.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..events import Answer, Option, Question
from .html import escape, frame
from .output import Output

VIEW_GRACE = 2.0
LATE = "expired: this question has been answered"


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
        html: what exactly would run.
        text: the same in one line.
        front_end: what is known of the front end; updated by what is seen here.
        use_widgets: whether clicks can arrive at all.
        on_late_click: called when somebody clicks after the question was answered.
    """

    def __init__(
        self,
        question: Question,
        html: str,
        text: str,
        front_end: FrontEnd,
        use_widgets: bool,
        on_late_click: Callable[[], None],
    ) -> None:
        self.question = question
        self._text, self._front_end = text, front_end
        self._on_late_click = on_late_click
        self.widget: Any = None
        if use_widgets:
            self._build(html)
        self._deadline = time.monotonic() + VIEW_GRACE

    def poll(self, output: Output) -> None:
        """Fall back to text when it is time, and look for what was typed."""
        if not self.question.open:
            return
        if self._front_end.at_the_line is self:
            self._read(output)
        elif self._line_is_free() and self._no_view_will_come():
            self._front_end.at_the_line = self
            self._ask_as_text(output)

    def close(self) -> None:
        """Take the widget away; later clicks go nowhere."""
        if self.widget is not None:
            _close_tree(self.widget)
            self.widget = None

    # -- as a widget

    def _build(self, html: str) -> None:
        import ipywidgets as widgets

        buttons = [self._button(option) for option in self.question.options]
        row = widgets.HBox(buttons, layout=widgets.Layout(flex_flow="row wrap"))
        what = widgets.HTML(html + _warnings(self.question))
        self.widget = widgets.VBox([what, row])
        # Documented as experimental: set before the display, the front end counts its views.
        self.widget._view_count = 0
        self.widget.observe(self._seen, "_view_count")

    def _button(self, option: Option) -> Any:
        import ipywidgets as widgets

        label = f"⚠ {option.name}" if option.warning else option.name
        button = widgets.Button(description=label, tooltip=option.warning or option.name)
        button.layout.width = "auto"
        button.on_click(lambda _: self._clicked(option))
        return button

    def _seen(self, change: Any) -> None:
        if change["new"]:
            self._front_end.shows_widgets = True

    def _clicked(self, option: Option) -> None:
        self._front_end.shows_widgets = True
        if not self.question.answer(Answer(option, by="you")):
            self._on_late_click()
        self._disable()

    def _disable(self) -> None:
        if self.widget is not None:
            for button in self.widget.children[1].children:
                button.disabled = True

    # -- as text

    def _line_is_free(self) -> bool:
        other = self._front_end.at_the_line
        return other is None or not other.question.open

    def _no_view_will_come(self) -> bool:
        if self.widget is None:
            return True
        if self._front_end.shows_widgets is None and time.monotonic() > self._deadline:
            self._front_end.shows_widgets = False
        return self._front_end.shows_widgets is False

    def _ask_as_text(self, output: Output) -> None:
        warning = f"\nWarning: {self.question.warning}" if self.question.warning else ""
        output.write(f"\n{self._text}{warning}\n")
        for number, option in enumerate(self.question.options, 1):
            note = f"  (warning: {option.warning})" if option.warning else ""
            output.write(f"  {number}. {option.name}{note}\n")
        self._prompt(output)

    def _prompt(self, output: Output) -> None:
        output.ask(f"Answer with a number from 1 to {len(self.question.options)}: ")

    def _read(self, output: Output) -> None:
        typed = output.typed()
        if typed is None:
            return
        option = _chosen(typed, self.question.options)
        if option is None:
            self._prompt(output)
        else:
            self.question.answer(Answer(option, by="you"))


def _chosen(typed: str, options: tuple[Option, ...]) -> Option | None:
    typed = typed.strip()
    if typed.isdecimal() and 1 <= int(typed) <= len(options):
        return options[int(typed) - 1]
    named = [o for o in options if o.name.casefold() == typed.casefold()]
    return named[0] if len(named) == 1 else None


def _warnings(question: Question) -> str:
    lines = [question.warning] if question.warning else []
    lines += [f"{option.name}: {option.warning}" for option in question.options if option.warning]
    return "".join(frame(f"⚠ <b>{escape(line)}</b>") for line in lines)


def _close_tree(widget: Any) -> None:
    for child in getattr(widget, "children", ()):
        _close_tree(child)
    parts = [widget.layout, getattr(widget, "style", None)]
    for one in (widget, *(part for part in parts if part is not None)):
        one.close()
