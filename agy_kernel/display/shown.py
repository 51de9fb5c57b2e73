"""A turn as it is shown: its transcript, and the view that draws it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from ..conversation.resends import Resends
from ..conversation.transcript import Attachment, Message, Transcript, close, fold, open_message
from ..events import Event, Notice, Progress, TextChunk, TurnBroken, TurnEnded, UsageChanged

JOINED = 1_000_000  # characters; what waits to be drawn is in memory three times when it is folded


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
    text as often. What an agent says again, because it sends the whole text so far, is left out.

    Args:
        view: draws it.
        is_prompt: whether the agent should say something in it.
    """

    def __init__(self, view: View, is_prompt: bool = True) -> None:
        self.view, self._is_prompt = view, is_prompt
        self.transcript = Transcript()
        self.ending: TurnEnded | TurnBroken | None = None
        self.is_dirty = False
        self._open: TextChunk | None = None
        """The chunk that the open message began with, as far as this was joined."""
        self._joined: list[str] = []
        self._joined_size = 0
        self._resends = Resends()
        self._is_certain = False
        """Whether nothing has come since that could have ended the open message."""

    @property
    def is_full(self) -> bool:
        """Whether so much has come that it is to be drawn at once."""
        return self._joined_size > JOINED

    def take(self, event: Event) -> None:
        """Take an event; nothing is drawn yet, but for what is only being waited for."""
        if isinstance(event, TextChunk):
            self._join(event)
            return
        if isinstance(event, Progress):
            self.view.status(event.text)
            return
        if isinstance(event, UsageChanged):
            self._put(fold(self.transcript, event))  # it ends no message, however often it comes
            return
        self._fold_joined()
        if isinstance(event, TurnEnded | TurnBroken):
            self._fold_rest()
            self.ending = event
        self._fold(event)

    def draw(self) -> None:
        """Draw what has come since the last time."""
        self._fold_joined()
        if self.ending is not None:
            self._fold_rest()  # nothing may come any more that could decide about it
        if self.is_dirty:
            self.is_dirty = False
            self.view.draw(self.transcript)

    def finish(self) -> None:
        """Draw everything for good; the turn has ended."""
        self._fold_joined()
        self.transcript = close(self.transcript)
        is_silent = not _says_something(self.transcript) and isinstance(self.ending, TurnEnded)
        if is_silent and self._is_prompt:
            self._fold(Notice("The agent ended the turn without any text."))
        self.view.draw(self.transcript, final=True)

    def _join(self, chunk: TextChunk) -> None:
        if not chunk.text or chunk.role == "user":
            return
        if not self._is_certain or self._open is None or not _same_message(self._open, chunk):
            self._go_on_with(chunk)
        if text := self._resends.take(chunk.text, self._text_so_far):
            self._joined.append(text)
            self._joined_size += len(text)
            self.is_dirty = True

    def _go_on_with(self, chunk: TextChunk) -> None:
        self._fold_joined()
        if open_message(self.transcript, chunk) is None:
            self._fold_rest()
            self._resends = Resends()
        self._open, self._is_certain = chunk, True

    def _text_so_far(self) -> str:
        self._fold_joined()
        last = self.transcript.entries[-1]
        assert isinstance(last, Message)
        return last.text

    def _fold_rest(self) -> None:
        """Fold what was held back, as it came."""
        if rest := self._resends.rest():
            self._joined.append(rest)
            self._fold_joined()

    def _fold_joined(self) -> None:
        if self._joined and self._open is not None:
            text = "".join(self._joined)
            self._joined.clear()
            self._joined_size = 0
            self._put(fold(self.transcript, replace(self._open, text=text)))

    def _fold(self, event: Event) -> None:
        after = fold(self.transcript, event)
        if self._resends.holds and len(after.entries) > len(self.transcript.entries):
            self._fold_rest()
            after = fold(self.transcript, event)
        self._is_certain = False
        self._put(after)

    def _put(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.is_dirty = True


def _same_message(one: TextChunk, other: TextChunk) -> bool:
    return one.role == other.role and one.message_id == other.message_id


def _says_something(transcript: Transcript) -> bool:
    text = transcript.text
    has_block = any(isinstance(entry, Attachment) for entry in transcript.entries)
    return has_block or bool(text and not text.isspace())
