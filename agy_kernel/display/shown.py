"""A turn as it is shown: its transcript, and the view that draws it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..conversation.transcript import Transcript, close, fold
from ..events import Event, Notice, Progress, TextChunk, TurnBroken, TurnEnded


class View(Protocol):
    """Draws a transcript."""

    @property
    def has_open_question(self) -> bool:
        """Whether a person is being waited for."""

    def due_in(self) -> float:
        """Seconds until it may draw again."""

    def draw(self, transcript: Transcript, final: bool = False) -> None:
        """Draw what has changed."""

    def status(self, text: str) -> None:
        """Say what is being waited for."""

    def end(self, footer: str, extra: Mapping[str, Any]) -> None:
        """Add the footer."""

    def poll(self) -> None:
        """Look for answers that come as text."""


class Shown:
    """One turn on the screen.

    Chunks are joined before they are folded: folding each of a hundred thousand would copy the
    text as often.

    Args:
        view: draws it.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.transcript = Transcript()
        self.ending: TurnEnded | TurnBroken | None = None
        self._joined: list[TextChunk] = []
        self.is_dirty = False

    def take(self, event: Event) -> None:
        """Take an event; nothing is drawn yet, but for what is only being waited for."""
        if isinstance(event, TextChunk):
            self._join(event)
            return
        if isinstance(event, Progress):
            self.view.status(event.text)
            return
        self._fold_joined()
        if isinstance(event, TurnEnded | TurnBroken):
            self.ending = event
        self._fold(event)

    def draw(self) -> None:
        """Draw what has come since the last time."""
        self._fold_joined()
        if self.is_dirty:
            self.is_dirty = False
            self.view.draw(self.transcript)

    def finish(self) -> None:
        """Draw everything for good; the turn has ended."""
        self._fold_joined()
        self.transcript = close(self.transcript)
        if not self.transcript.text.strip() and isinstance(self.ending, TurnEnded):
            self._fold(Notice("The agent ended the turn without any text."))
        self.view.draw(self.transcript, final=True)

    def _join(self, chunk: TextChunk) -> None:
        if self._joined and not _same_message(self._joined[0], chunk):
            self._fold_joined()
        self._joined.append(chunk)
        self.is_dirty = True

    def _fold_joined(self) -> None:
        if self._joined:
            first = self._joined[0]
            text = "".join(chunk.text for chunk in self._joined)
            self._joined.clear()
            self._fold(TextChunk(first.role, text, first.message_id))

    def _fold(self, event: Event) -> None:
        self.transcript = fold(self.transcript, event)
        self.is_dirty = True


def _same_message(one: TextChunk, other: TextChunk) -> bool:
    return one.role == other.role and one.message_id == other.message_id
