"""Which face a question has."""

from __future__ import annotations

from ..conversation.transcript import Entry, Inquiry, ToolCall
from ..questions import Form, Question
from .ask import Face
from .buttons import Buttons
from .form import FormFace
from .headings import summary
from .link import LinkFace
from .place import Place
from .tools import request


def question_of(entry: Entry) -> Question | None:
    """The question that an entry asks, open or not."""
    return entry.question if isinstance(entry, ToolCall | Inquiry) else None


def face_of(entry: Entry, place: Place, text: str = "") -> Face:
    """The face of an entry's question.

    Args:
        entry: one that asks.
        place: where it is asked.
        text: what exactly would run, as text; a line where it is empty.
    """
    if isinstance(entry, Inquiry):
        return (
            FormFace(entry.question)
            if isinstance(entry.question, Form)
            else LinkFace(entry.question)
        )
    assert isinstance(entry, ToolCall)
    assert entry.question is not None
    return Buttons(entry.question, request(entry, place), text or summary(entry, place))
