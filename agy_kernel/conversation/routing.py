"""Which turn an event belongs to.

The current turn is the one whose prompt was written last; it stays current after its end, so that
what comes late goes to the cell that asked. An update of a tool call or a message that began in an
earlier turn goes to that turn.
"""

from __future__ import annotations

from ..events import Asked, ContentChunk, Event, LinkVisited, TextChunk, ToolCallUpdate
from ..questions import Answer, Form, Link, Permission, Question
from .turn import Turn

REMEMBERED_TURNS = 8


class Routes:
    """Remembers which turn saw which id first."""

    def __init__(self) -> None:
        self.current: Turn | None = None
        self._recent: list[Turn] = []
        self._owned: dict[str, Turn] = {}

    def begin(self, turn: Turn) -> None:
        """The prompt of ``turn`` is being written; ids of turns long past are let go."""
        self.current = turn
        self._recent = [*self._recent[1 - REMEMBERED_TURNS :], turn]
        self._owned = {k: owner for k, owner in self._owned.items() if owner in self._recent}

    def is_current(self, turn: Turn) -> bool:
        """Whether its prompt was written, and none after it."""
        return self.current is turn

    def forget(self) -> None:
        """Ids mean nothing any more: another session begins."""
        self._owned.clear()

    def owner(self, event: Event) -> Turn | None:
        """The turn that an event belongs to; None before the first prompt."""
        call = _call(event)
        if call is not None:
            return self._of_call(call)
        if isinstance(event, LinkVisited):
            return self._owned.get(f"link {event.link_id}", self.current)
        if isinstance(event, Asked):
            return self._of_question(event.question)
        if isinstance(event, TextChunk | ContentChunk) and event.message_id:
            return self._own(f"message {event.message_id}")
        return self.current

    def refuse(self, question: Question) -> None:
        """Answer a question that belongs to no turn."""
        question.answer(Answer(None, by="nobody", why="no turn is running that it belongs to"))

    def _of_call(self, call: ToolCallUpdate) -> Turn | None:
        key = f"call {call.id}"
        # Some agents count their calls anew in every turn, and leave those of a cancelled one open.
        if call.announces or call.asked:
            self._owned.pop(key, None)
        return self._own(key)

    def _of_question(self, question: Question) -> Turn | None:
        """Forms and links belong to the call that needs them, if they name one."""
        owner = self.current
        if isinstance(question, Form | Link) and question.call_id:
            owner = self._owned.get(f"call {question.call_id}", owner)
        if isinstance(question, Link) and owner is not None:
            self._owned[f"link {question.id}"] = owner
        return owner

    def _own(self, key: str) -> Turn | None:
        if key not in self._owned and self.current is not None:
            self._owned[key] = self.current
        return self._owned.get(key)


def _call(event: Event) -> ToolCallUpdate | None:
    if isinstance(event, Asked) and isinstance(event.question, Permission):
        return event.question.call
    return event if isinstance(event, ToolCallUpdate) else None
