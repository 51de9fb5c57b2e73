"""A permission request, as a row of buttons or a numbered list."""

from __future__ import annotations

from typing import Any

from ..questions import Answer, Option, Permission
from ..rules import Rule
from .ask import Give
from .html import escape, frame
from .labels import Label, labels, visible
from .place import Place

AGAIN = "!"
LONGEST = 80  # characters


class Buttons:
    """The face of a permission request.

    Args:
        question: what is asked.
        html: what exactly would run.
        summary: the same in one line of text.
        place: paths inside it are shown relative to it.
    """

    def __init__(self, question: Permission, html: str, summary: str, place: Place) -> None:
        self._question, self._html, self._summary = question, html, summary
        self._place = place
        self._labelled = list(zip(question.options, labels(question.options), strict=True))
        self._buttons: list[Any] = []
        self._box: Any = None

    def build(self, give: Give) -> Any:
        """What is asked, and a button for each option."""
        import ipywidgets as widgets

        self._buttons = [self._button(option, label, give) for option, label in self._labelled]
        row = widgets.HBox(self._buttons, layout=widgets.Layout(flex_flow="row wrap"))
        what = widgets.HTML(self._html + self._warnings())
        if self._question.again is None:
            return widgets.VBox([what, row])
        layout = widgets.Layout(width="auto")
        words = f"Don't ask again in this session about {_about(self._question.again, self._place)}"
        self._box = widgets.Checkbox(description=words, indent=False, layout=layout)
        return widgets.VBox([what, self._box, row])

    def poll(self) -> None:
        """A click answers at once."""

    def disable(self) -> None:
        """Grey the buttons."""
        for widget in (*self._buttons, *([self._box] if self._box is not None else [])):
            widget.disabled = True

    @property
    def text(self) -> str:
        """What is asked, and the options with their numbers."""
        lines = [self._summary]
        lines += [f"Warning: {self._question.warning}"] if self._question.warning else []
        for number, (option, label) in enumerate(self._labelled, 1):
            note = f"  (warning: {option.warning})" if option.warning else ""
            lines.append(f"  {number}. {label.text}{note}")
        if self._question.again is not None:
            about = _about(self._question.again, self._place)
            lines.append(f"  A ! behind the number: don't ask again in this session about {about}")
        return "\n".join(lines)

    @property
    def prompt(self) -> str:
        """The line that is asked for."""
        return f"Answer with a number from 1 to {len(self._question.options)}: "

    def read(self, typed: str) -> Answer | None:
        """The option that is meant by its number or its label."""
        typed = typed.strip()
        again = self._question.again is not None and typed.endswith(AGAIN)
        option = self._chosen(typed.removesuffix(AGAIN).strip() if again else typed)
        return None if option is None else Answer(option, by="you", again=again)

    def _chosen(self, typed: str) -> Option | None:
        if typed.isdecimal() and 1 <= int(typed) <= len(self._labelled):
            return self._labelled[int(typed) - 1][0]
        # Not by its name: the agent may call "Deny" what allows.
        meant = (o for o, label in self._labelled if label.text.casefold() == typed.casefold())
        return next(meant, None)

    def _warnings(self) -> str:
        lines = [self._question.warning] if self._question.warning else []
        lines += [f"{label.text}: {o.warning}" for o, label in self._labelled if o.warning]
        return "".join(frame(f"⚠ <b>{escape(line)}</b>") for line in lines)

    def _button(self, option: Option, label: Label, give: Give) -> Any:
        import ipywidgets as widgets

        text = f"⚠ {label.text}" if option.warning else label.text
        button = widgets.Button(description=text, tooltip=label.tooltip)
        button.layout.width = "auto"
        button.on_click(lambda _: give(Answer(option, by="you", again=self._is_for_good)))
        return button

    @property
    def _is_for_good(self) -> bool:
        return self._box is not None and bool(self._box.value)


def _about(rule: Rule, place: Place) -> str:
    """What a rule is about, in a few words of ours."""
    if rule.command:
        return "this very command"
    if rule.server:
        return _short(f"the tool {rule.tool} of {rule.server}")
    return _short(f"{rule.kind} of {place.relative(rule.path)}")


def _short(text: str) -> str:
    text = visible(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
