"""What a client sends to a replay, and what it is told where it departs from the tape."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import INTERNAL_ERROR, RequestFailed
from .frames import Frame

SAYS = b"replay: "
"""How a replay begins what it says itself on stderr."""
PLACE = {"line", "expected", "got", "difference"}
"""What the data of a departure tells."""


@dataclass(eq=False)
class Arrived:
    """A request or notification of the client's; a request has an answer to be given."""

    method: str
    params: Any
    answer: asyncio.Future[Any] | None = None
    written: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def name(self) -> str:
        """What to call it."""
        return self.method if self.answer else f"the notification {self.method}"


def is_departure(error: RequestFailed) -> bool:
    """Whether an error is a replay's own, and not one that an agent has answered with."""
    return isinstance(error.data, dict) and error.data.keys() >= PLACE


def settle(arrived: Arrived, result: Any) -> None:
    """Answer a request, with an error where that is the result; a notification needs none."""
    if arrived.answer is None or arrived.answer.done():
        return
    if isinstance(result, RequestFailed):
        arrived.answer.set_exception(result)
    else:
        arrived.answer.set_result(result)


class Departures:
    """Where the client departed from the tape.

    Args:
        say: told each of them in words.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self.count = say, 0

    def add(self, expected: Frame, got: str, why: str) -> RequestFailed:
        """The client has sent something else than the tape has.

        Args:
            expected: what the tape has.
            got: what the client sent.
            why: in what they differ, where they are of one kind.

        Returns:
            The error to answer with; its data has the line, and what was expected there.
        """
        line, wanted = expected.entry.line, _taped(expected)
        if why:
            words = f"the client departs from the tape at line {line} with {got}: {why}"
        else:
            words = f"at line {line} the tape has {wanted}, and the client sent {got}"
        return self._failed(words, line=line, expected=wanted, got=got, difference=why or None)

    def add_behind_the_end(self, line: int, got: str) -> RequestFailed:
        """The tape has ended, and the client goes on."""
        words = f"the tape ends at line {line}, and the client sent {got}"
        return self._failed(words, line=line, expected=None, got=got, difference=None)

    def without_answer(self, line: int, asked: str) -> RequestFailed:
        """The tape has ended, and a request waits: no departure, and no answer of the agent's."""
        words = f"the tape ends at line {line}, without an answer"
        self._say(f"{SAYS.decode()}{words} to {asked}")
        place = {"line": line, "expected": None, "got": asked, "difference": None}
        return RequestFailed(INTERNAL_ERROR, words, place)

    def _failed(self, words: str, **place: Any) -> RequestFailed:
        self.count += 1
        self._say(f"{SAYS.decode()}{words}")
        return RequestFailed(INTERNAL_ERROR, words, place)


def _taped(frame: Frame) -> str:
    words = {"response": "an answer to ", "notification": "the notification "}.get(frame.kind, "")
    return f"{words}{frame.method}"
