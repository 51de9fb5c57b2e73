"""Which face a question has."""

from __future__ import annotations

from ..conversation.transcript import Entry, Inquiry, ToolCall
from ..questions import Form, Question
from .ask import Face
from .buttons import Buttons
from .form import FormFace
from .link import LinkFace
from .place import Place
from .tools import as_text, request


def question_of(entry: Entry) -> Question | None:
    """The question that an entry asks, open or not."""
    return entry.question if isinstance(entry, ToolCall | Inquiry) else None


def face_of(entry: Entry, place: Place) -> Face:
    """The face of an entry's question.

    Args:
        entry: one that asks.
        place: where it is asked.
    """
    if isinstance(entry, Inquiry):
        return (
            FormFace(entry.question)
            if isinstance(entry.question, Form)
            else LinkFace(entry.question)
        )
    assert isinstance(entry, ToolCall)
    assert entry.question is not None
    return Buttons(entry.question, request(entry, place), as_text(entry, place))
