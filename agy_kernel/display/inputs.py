"""The widget for one field of a form, and the value that it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..forms import Field, Value, read
from ..text import clean
from .html import escape, faint

NONE = "(none)"
LONG_TEXT = 200  # characters
MOST_BOXES = 40  # each is five widgets, and a thousand of them stop a front end for minutes
LIST_ROWS = 10


@dataclass(frozen=True, slots=True)
class Input:
    """A widget, and how to read it.

    Args:
        value: the value; None for nothing. Raises ValueError with words for the person.
        disable: lets it take no more input.
    """

    widget: Any
    value: Callable[[], Value | None]
    disable: Callable[[], None]


def make_input(field: Field) -> Input:
    """The input that fits a field."""
    if field.kind == "choices":
        return _checkboxes(field) if len(field.items) <= MOST_BOXES else _list(field)
    if field.kind == "choice":
        return _dropdown(field, [(_words(i.title), i.value) for i in field.items])
    if field.kind == "yes_no":
        return _dropdown(field, [("Yes", True), ("No", False)])
    return _text(field)


def _text(field: Field) -> Input:
    import ipywidgets as widgets

    kind = widgets.Textarea if (field.most or 0) > LONG_TEXT else widgets.Text
    default = "" if field.default is None else str(field.default)
    widget = kind(value=default, layout=widgets.Layout(width="min(100%, 40em)"))
    return Input(widget, lambda: read(field, widget.value), lambda: _disable(widget))


def _dropdown(field: Field, options: list[tuple[str, Any]]) -> Input:
    import ipywidgets as widgets

    options = _told_apart(options)
    values = [value for _, value in options]
    has_default = field.default in values
    if not has_default or not field.required:
        options = [(NONE, None), *options]
    widget = widgets.Dropdown(
        options=options,
        index=[value for _, value in options].index(field.default if has_default else None),
        layout=widgets.Layout(width="max-content", min_width="12em", max_width="100%"),
    )
    return Input(widget, lambda: widget.value, lambda: _disable(widget))


def _told_apart(options: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Options with labels of their own: a widget knows its options by these."""
    if len({label for label, _ in options}) == len(options):
        return options
    return [(f"{label} ({value})", value) for label, value in options]


def _list(field: Field) -> Input:
    import ipywidgets as widgets

    options = _told_apart([(_words(item.title), item.value) for item in field.items])
    chosen = field.default if isinstance(field.default, list) else []
    widget = widgets.SelectMultiple(
        options=options,
        index=[n for n, item in enumerate(field.items) if item.value in chosen],
        rows=LIST_ROWS,
        layout=widgets.Layout(width="max-content", min_width="12em", max_width="100%"),
    )
    box = widgets.VBox([widget, widgets.HTML(faint("Ctrl or ⌘ with a click chooses several."))])
    return Input(box, lambda: _several(field, widget.value), lambda: _disable(widget))


def _several(field: Field, found: Sequence[str]) -> list[str] | None:
    return list(found) or ([] if field.required and not field.least else None)


def _checkboxes(field: Field) -> Input:
    import ipywidgets as widgets

    chosen = field.default if isinstance(field.default, list) else []
    narrow = widgets.Layout(width="auto")
    boxes = [
        widgets.Checkbox(value=item.value in chosen, indent=False, layout=narrow)
        for item in field.items
    ]
    # Not as descriptions: ipywidgets looks for mathematics in those, and mathematics can load.
    words = [widgets.HTML(escape(_words(item.title))) for item in field.items]
    rows = [widgets.HBox(row) for row in zip(boxes, words, strict=True)]

    def value() -> list[str] | None:
        pairs = zip(field.items, boxes, strict=True)
        return _several(field, [item.value for item, box in pairs if box.value])

    layout = widgets.Layout(max_height="14em", overflow="auto")
    return Input(widgets.VBox(rows, layout=layout), value, lambda: _disable(*boxes))


def _disable(*widgets: Any) -> None:
    for widget in widgets:
        widget.disabled = True


def _words(text: str) -> str:
    return clean(text).replace("\n", " ")
