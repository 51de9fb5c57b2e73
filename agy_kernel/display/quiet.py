"""A turn that shows nothing but its questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..conversation.transcript import Entry, Transcript
from .shown import View


class QuietView:
    """Lets a view see only the tool calls that somebody is asked about.

    Args:
        view: draws those.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._order: list[str] = []

    @property
    def has_open_question(self) -> bool:
        """Whether a person is being waited for."""
        return self._view.has_open_question

    def due_in(self) -> float:
        """Seconds until it may draw again."""
        return self._view.due_in()

    def draw(self, transcript: Transcript, final: bool = False) -> None:
        """Draw the questions, in the order in which they were asked."""
        asked = {c.id: c for c in transcript.tool_calls if c.question is not None}
        self._order += [call_id for call_id in asked if call_id not in self._order]
        entries: tuple[Entry, ...] = tuple(asked[call_id] for call_id in self._order)
        if entries:
            self._view.draw(replace(transcript, entries=entries), final)

    def status(self, text: str) -> None:
        """Nothing is said of waiting."""

    def end(self, footer: str, extra: Mapping[str, Any]) -> None:
        """There is no footer."""

    def poll(self) -> None:
        """Look for answers that come as text."""
        self._view.poll()
