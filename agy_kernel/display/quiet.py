"""A turn that shows nothing but its questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..conversation.toolcalls import ToolCall
from ..conversation.transcript import (
    Entry,
    Transcript,
)
from .faces import question_of
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
        asked = {_key(e): e for e in transcript.entries if question_of(e) is not None}
        self._order += [key for key in asked if key not in self._order]
        entries: tuple[Entry, ...] = tuple(asked[key] for key in self._order)
        if entries:
            self._view.draw(replace(transcript, entries=entries), final)

    def status(self, text: str) -> None:
        """Nothing is said of waiting."""

    def end(self, footer: str, extra: Mapping[str, Any]) -> None:
        """There is no footer."""

    def poll(self) -> None:
        """Look for answers that come as text."""
        self._view.poll()


def _key(entry: Entry) -> str:
    """What stays the same of an entry while it changes."""
    return f"call {entry.id}" if isinstance(entry, ToolCall) else f"{id(question_of(entry))}"
