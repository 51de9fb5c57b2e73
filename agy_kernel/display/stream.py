"""A turn on a console, where nothing that was shown can be changed: text, line after line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..conversation.toolcalls import ToolCall
from ..conversation.transcript import (
    Entry,
    Inquiry,
    Message,
    Plan,
    Transcript,
)
from ..text import clean
from .ask import Asking, FrontEnd
from .entries import plain
from .faces import face_of, question_of
from .output import Output
from .place import Place
from .tools import as_text

# The beginning of what may go on in the next chunk: a newline of two signs, a pair of surrogates,
# an ANSI sequence. Alone each would be shown as something else than what it is a part of.
HALF = re.compile("(?:\r|[\ud800-\udbff]|\x1b(?:\\[[0-?]{0,40}[ -/]{0,40})?)\\Z")


class StreamView:
    """Writes a turn as a stream.

    Args:
        output: the output area.
        place: where the turn is shown.
        front_end: what is known of the front end.
    """

    def __init__(self, output: Output, place: Place, front_end: FrontEnd) -> None:
        self._output, self._place, self._front_end = output, place, front_end
        self._written: dict[int, int] = {}
        self._plans: dict[int, Plan] = {}
        self._asking: dict[int, Asking] = {}
        self._at_line_start = True

    def due_in(self) -> float:
        """A stream can be written to at any time."""
        return 0.0

    def draw(self, transcript: Transcript, final: bool = False) -> None:
        """Write what is new and will not change any more."""
        for index, entry in enumerate(transcript.entries):
            if isinstance(entry, Message):
                self._continue(index, entry, is_last=final or entry is not transcript.entries[-1])
            elif isinstance(entry, Plan):
                self._put_plan(index, entry, final)
            elif index not in self._written and (final or _is_settled(entry)):
                self._written[index] = 1
                self._line(self._text(index, entry))
            self._ask(index, entry)

    def status(self, text: str) -> None:
        """A console shows no passing words."""

    def end(self, footer: str, extra: Mapping[str, Any]) -> None:
        """Write the footer, if any."""
        if text := extra.get("text/plain", "") or footer:
            self._line(text)

    @property
    def has_open_question(self) -> bool:
        """Whether a person is being waited for."""
        return any(asking.question.open for asking in self._asking.values())

    def poll(self) -> None:
        """Look for what was typed."""
        asking = next((a for a in self._asking.values() if a.question.open), None)
        if asking is not None:
            asking.poll(self._output)

    def _ask(self, index: int, entry: Entry) -> None:
        question = question_of(entry)
        if question is None or not question.open or index in self._asking:
            return
        face = face_of(entry, self._place, on_a_console=True)
        self._asking[index] = Asking(question, face, self._front_end)

    def _continue(self, index: int, message: Message, is_last: bool) -> None:
        come = message.text[self._written.get(index, 0) :]
        half = None if is_last else HALF.search(come)
        come = come[: half.start()] if half else come
        new = clean(come)
        if not new or message.role != "agent":
            return
        if index not in self._written:
            self._line("")
        self._written[index] = self._written.get(index, 0) + len(come)
        self._output.write(new)
        self._at_line_start = new.endswith("\n")

    def _put_plan(self, index: int, plan: Plan, final: bool) -> None:
        """A plan when it first comes, and as it stands in the end."""
        known = self._plans.get(index)
        if known is None or (final and known != plan):
            self._plans[index] = plan
            self._line(self._text(index, plan))

    def _text(self, index: int, entry: Entry) -> str:
        if not isinstance(entry, ToolCall):
            return clean(plain(entry, self._place))
        # Asked about, it was shown in full; and what carries it out does the same once more.
        is_known = index in self._asking or entry.superseded or entry.stands_for is not None
        return as_text(entry, self._place, is_known)

    def _line(self, text: str) -> None:
        start = "" if self._at_line_start else "\n"
        self._output.write(f"{start}{text}\n" if text else start)
        self._at_line_start = True


def _is_settled(entry: Entry) -> bool:
    if isinstance(entry, Inquiry):
        return entry.answer is not None
    return not isinstance(entry, ToolCall) or entry.status in ("completed", "failed")
