"""A confirmation: what would be done, and two buttons."""

from __future__ import annotations

from typing import Any

from ..questions import Answer, Confirmation
from .ask import Give
from .html import escape, frame

YES, NO = ("y", "yes"), ("n", "no")


class ConfirmationFace:
    """The face of a confirmation.

    Args:
        question: what is asked.
    """

    def __init__(self, question: Confirmation) -> None:
        self._question = question
        self._buttons: list[Any] = []

    def build(self, give: Give) -> Any:
        """What would be done, the button that does it, and Cancel."""
        import ipywidgets as widgets

        go = widgets.Button(description=self._question.yes)
        cancel = widgets.Button(description="Cancel")
        go.layout.width = "auto"
        go.on_click(lambda _: give(Answer(None, by="you", values={})))
        cancel.on_click(lambda _: give(Answer(None, by="you", declined=True)))
        self._buttons = [go, cancel]
        return widgets.VBox([widgets.HTML(self._html()), widgets.HBox(self._buttons)])

    def _html(self) -> str:
        lines = "".join(f"<div>{escape(line)}</div>" for line in self._question.details)
        return frame(f"<b>{escape(self._question.message)}</b>{lines}")

    def poll(self) -> None:
        """A click answers at once."""

    def disable(self) -> None:
        """Grey the buttons."""
        for button in self._buttons:
            button.disabled = True

    @property
    def text(self) -> str:
        """What would be done."""
        return "\n".join([self._question.message, *self._question.details])

    @property
    def prompt(self) -> str:
        """The line that is asked for."""
        return f"{self._question.yes}? (yes or no): "

    def read(self, typed: str) -> Answer | None:
        """Yes or no."""
        word = typed.strip().casefold()
        if word in NO:
            return Answer(None, by="you", declined=True)
        return Answer(None, by="you", values={}) if word in YES else None
