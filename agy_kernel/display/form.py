"""A form, to be filled in as widgets or line by line."""

from __future__ import annotations

import time
from typing import Any

from ..forms import Field, Value, bounds, check
from ..forms import read as read_value
from ..questions import Answer, Form
from .ask import Give
from .html import escape, faint
from .inputs import Input, make_input
from .inquiries import form_html

SETTLED = 0.15  # seconds; what was typed last may come behind the click on Send
DECLINE = "/decline"


class FormFace:
    """The face of a form.

    Args:
        form: what is asked.
    """

    def __init__(self, form: Form) -> None:
        self._form = form
        self._inputs: list[Input] = []
        self._buttons: list[Any] = []
        self._problems: list[Any] = []
        self._sent_at: float | None = None
        self._typed: dict[str, Value] = {}
        self._remark = ""
        self._at = 0

    # -- as a widget

    def build(self, give: Give) -> Any:
        """The message, an input for each field, and the buttons Send and Decline."""
        import ipywidgets as widgets

        self._give = give
        send = widgets.Button(description="Send", button_style="primary")
        decline = widgets.Button(description="Decline")
        send.on_click(lambda _: self._sent())
        decline.on_click(lambda _: give(Answer(None, by="you", declined=True)))
        self._buttons = [send, decline]
        rows = [row for field in self._form.fields for row in self._row(field)]
        return widgets.VBox(
            [widgets.HTML(form_html(self._form)), *rows, widgets.HBox(self._buttons)]
        )

    def _row(self, field: Field) -> list[Any]:
        import ipywidgets as widgets

        made = make_input(field)
        problem = widgets.HTML()
        self._inputs.append(made)
        self._problems.append(problem)
        return [widgets.HTML(_label(field)), made.widget, problem]

    def _sent(self) -> None:
        self._sent_at = time.monotonic()

    def poll(self) -> None:
        """Read the inputs a moment after Send was clicked, and answer if all is well."""
        if self._sent_at is None or time.monotonic() - self._sent_at < SETTLED:
            return
        self._sent_at = None
        values = self._collect()
        if values is not None:
            self._give(Answer(None, by="you", values=values))

    def _collect(self) -> dict[str, Value] | None:
        values: dict[str, Value] = {}
        is_good = True
        for field, made, shown in zip(self._form.fields, self._inputs, self._problems, strict=True):
            value, problem = _checked(field, made)
            shown.value = f"<b>⚠ {escape(problem)}</b>" if problem else ""
            is_good = is_good and not problem
            if value is not None:
                values[field.name] = value
        return values if is_good else None

    def disable(self) -> None:
        """Grey the inputs and the buttons."""
        for made in self._inputs:
            made.disable()
        for button in self._buttons:
            button.disabled = True

    # -- as text

    @property
    def text(self) -> str:
        """The message, and how to answer."""
        form = self._form
        parts = [form.message, form.title, form.description]
        parts.append(f"(Enter takes what is in brackets or leaves it out; {DECLINE} ends this.)")
        return "\n".join(part for part in parts if part)

    @property
    def prompt(self) -> str:
        """The next field's line."""
        if self._at >= len(self._form.fields):
            return f"Send? (yes, or {DECLINE}): "
        field = self._form.fields[self._at]
        lines = [self._remark] if self._remark else []
        lines += [field.description] if field.description else []
        lines += [f"  {n}. {_item_line(i)}" for n, i in enumerate(field.items, 1)]
        return "\n".join([*lines, _line(field)])

    def read(self, typed: str) -> Answer | None:
        """Take a line; the last field's completes the form."""
        if typed.strip() == DECLINE:
            return Answer(None, by="you", declined=True)
        if self._at < len(self._form.fields):
            self._take(self._form.fields[self._at], typed.rstrip("\r\n"))
        is_done = self._at >= len(self._form.fields)
        if not is_done or not (self._form.fields or _is_yes(typed)):
            return None
        return Answer(None, by="you", values=dict(self._typed))

    def _take(self, field: Field, typed: str) -> None:
        try:
            value = read_value(field, typed)
            value = field.default if value is None else value
            self._remark = check(field, value)
        except ValueError as error:
            self._remark = str(error)
        if self._remark:
            self._remark = f"{field.label}: {self._remark}"
            return
        if value is not None:
            self._typed[field.name] = value
        self._at += 1


def _checked(field: Field, made: Input) -> tuple[Value | None, str]:
    try:
        value = made.value()
    except ValueError as error:
        return None, str(error)
    return value, check(field, value)


def _label(field: Field) -> str:
    star = "" if field.required else faint(" (optional)")
    notes = " · ".join(note for note in (field.description, bounds(field)) if note)
    more = f"<br>{faint(escape(notes))}" if notes else ""
    return f"<b>{escape(field.label)}</b>{star}{more}"


def _line(field: Field) -> str:
    notes = [note for note in (bounds(field), "" if field.required else "optional") if note]
    several = "numbers or names, with commas" if field.kind == "choices" else ""
    what = {"yes_no": "yes or no", "choice": "a number or a name"}.get(field.kind, several)
    inside = "; ".join(note for note in (what, *notes) if note)
    default = f" [{_shown(field.default)}]" if field.default is not None else ""
    return f"{field.label}{f' ({inside})' if inside else ''}{default}: "


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)


def _item_line(item: Any) -> str:
    return f"{item.title}: {item.description}" if item.description else str(item.title)


def _is_yes(typed: str) -> bool:
    return typed.strip().casefold() in ("y", "yes")
