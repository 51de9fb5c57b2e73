"""Which face a question has."""

from __future__ import annotations

from ..conversation.toolcalls import ToolCall
from ..conversation.transcript import (
    Entry,
    Inquiry,
)
from ..questions import Confirmation, Form, Link, Question, SignInPage
from .ask import Face
from .buttons import Buttons
from .form import FormFace
from .place import Place
from .signin_page import SignInFace
from .tools import as_text, request
from .yes_no import YesNoFace, confirmation_words, link_words


def question_of(entry: Entry) -> Question | None:
    """The question that an entry asks, open or not."""
    return entry.question if isinstance(entry, ToolCall | Inquiry) else None


def face_of(entry: Entry, place: Place, on_a_console: bool = False) -> Face:
    """The face of an entry's question.

    Args:
        entry: one that asks.
        place: where it is asked.
        on_a_console: whether all that there is to see is text.
    """
    if isinstance(entry, Inquiry):
        return _face_of_inquiry(entry.question, on_a_console)
    assert isinstance(entry, ToolCall)
    assert entry.question is not None
    return Buttons(entry.question, request(entry, place), as_text(entry, place), place)


def _face_of_inquiry(question: Form | Link | SignInPage | Confirmation, on_a_console: bool) -> Face:
    match question:
        case Form():
            return FormFace(question)
        case Link():
            return YesNoFace(link_words(question))
        case SignInPage():
            return SignInFace(question, with_link=on_a_console)
        case Confirmation():
            return YesNoFace(confirmation_words(question))
