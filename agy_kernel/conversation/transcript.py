"""What a turn has come to: a pure fold of its events.

``fold(transcript, event)`` returns the next transcript; the old one stays as it was. Entries keep
the order in which their first frame arrived, whichever frame that was, and an entry that did not
change is the same object in both, so that a display can see what to draw again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..events import (
    Answered,
    Asked,
    Compaction,
    ContentChunk,
    Event,
    LinkVisited,
    Notice,
    PlanUpdate,
    Replayed,
    Role,
    TextChunk,
    ToolCallUpdate,
    TurnEnded,
    UnknownUpdate,
    Usage,
    UsageChanged,
)
from ..questions import Answer, Confirmation, Form, Link, Permission, Question, SignInPage
from .history import History, history
from .toolcalls import ToolCall, carries_out, merged

NEVER_EXECUTED = "Tool call was approved but never executed."


@dataclass(frozen=True, slots=True)
class Message:
    """Text of the agent, or its thoughts; it goes on until something else comes between."""

    role: Role
    text: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image, audio or a resource in the agent's message."""

    chunk: ContentChunk


@dataclass(frozen=True, slots=True)
class Plan:
    """The agent's plan, as it stands; without anything in it when the agent has dropped it."""

    update: PlanUpdate


@dataclass(frozen=True, slots=True)
class Remark:
    """A notice, or an update of a kind unknown to us.

    Args:
        count: how often it came.
        about: what it tells the state of, if it does: a later remark takes its place.
    """

    text: str
    severity: str = "info"
    count: int = 1
    about: str = ""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question that is no permission, and what became of it.

    Args:
        answer: None while it is open.
        visited: whether the agent says that all is done at the link.
    """

    question: Form | Link | SignInPage | Confirmation = field(compare=False)
    answer: Answer | None = None
    visited: bool = False


Entry = Message | Attachment | ToolCall | Plan | Remark | Inquiry | History


@dataclass(frozen=True, slots=True)
class Transcript:
    """A turn so far.

    Args:
        entries: what came, in order of first arrival.
        context: tokens in use and the window's size, where the agent reports them.
        stop_reason: why the turn ended; None while it runs.
    """

    entries: tuple[Entry, ...] = ()
    context: UsageChanged | None = None
    usage: Usage | None = None
    stop_reason: str | None = None

    @property
    def text(self) -> str:
        """All that the agent said, without its thoughts."""
        return "\n\n".join(
            e.text for e in self.entries if isinstance(e, Message) and e.role == "agent"
        )

    @property
    def inquiries(self) -> tuple[Inquiry, ...]:
        """The forms and links, in order."""
        return tuple(e for e in self.entries if isinstance(e, Inquiry))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(e for e in self.entries if isinstance(e, ToolCall))


def fold(  # noqa: C901, PLR0911, PLR0912  # a case for each event
    transcript: Transcript, event: Event
) -> Transcript:
    """The transcript after one more event; events that are not of a turn leave it as it is."""
    match event:
        case TextChunk():
            return _fold_text(transcript, event)
        case ContentChunk():
            is_echo = event.role == "user"
            return transcript if is_echo else _append(transcript, Attachment(event))
        case ToolCallUpdate():
            return _fold_call(transcript, event)
        case Asked(question):
            return _fold_question(transcript, question)
        case Answered(question, answer):
            return _fold_answer(transcript, question, answer)
        case LinkVisited(link_id):
            return _fold_inquiry(transcript, lambda q: _is_link(q, link_id), visited=True)
        case Replayed(events):
            return _append(transcript, history(events))
        case PlanUpdate():
            return _fold_plan(transcript, event)
        case Notice(text, severity):
            return _fold_remark(transcript, Remark(text, severity))
        case UnknownUpdate(kind):
            return _fold_remark(transcript, Remark(f"update of an unknown kind: {kind}", "debug"))
        case Compaction():
            return _fold_compaction(transcript, event)
        case UsageChanged():
            return replace(transcript, context=event)
        case TurnEnded(stop_reason, usage):
            return close(replace(transcript, stop_reason=stop_reason, usage=usage))
        case _:
            return transcript


def open_message(transcript: Transcript, chunk: TextChunk) -> Message | None:
    """The message that a chunk goes on with; None where it begins another one."""
    entry = transcript.entries[-1] if transcript.entries else None
    if not isinstance(entry, Message) or entry.role != chunk.role:
        return None
    ids = {entry.message_id, chunk.message_id}
    return entry if len(ids) == 1 or None in ids else None


def close(transcript: Transcript) -> Transcript:
    """The transcript when nothing more is awaited: what has no final status is unfinished."""
    entries = tuple(
        replace(e, unfinished=True)
        if isinstance(e, ToolCall) and e.status in ("pending", "in_progress") and not _refused(e)
        else e
        for e in transcript.entries
    )
    return replace(transcript, entries=entries)


def _refused(call: ToolCall) -> bool:
    return call.answer is not None and not call.answer.allowed


def _append(transcript: Transcript, entry: Entry) -> Transcript:
    return replace(transcript, entries=(*transcript.entries, entry))


def _put(transcript: Transcript, index: int, entry: Entry) -> Transcript:
    entries = transcript.entries
    return replace(transcript, entries=(*entries[:index], entry, *entries[index + 1 :]))


def _fold_text(transcript: Transcript, chunk: TextChunk) -> Transcript:
    if not chunk.text or chunk.role == "user":
        return transcript
    if (message := open_message(transcript, chunk)) is None:
        return _append(transcript, Message(chunk.role, chunk.text, chunk.message_id))
    known = message.message_id or chunk.message_id
    longer = Message(message.role, message.text + chunk.text, known)
    return _put(transcript, len(transcript.entries) - 1, longer)


def _fold_plan(transcript: Transcript, update: PlanUpdate) -> Transcript:
    for index, entry in enumerate(transcript.entries):
        if isinstance(entry, Plan) and entry.update.id == update.id:
            return _put(transcript, index, Plan(update))
    return _append(transcript, Plan(update)) if update != PlanUpdate(id=update.id) else transcript


def _fold_remark(transcript: Transcript, remark: Remark) -> Transcript:
    for index, entry in enumerate(transcript.entries):
        if not isinstance(entry, Remark):
            continue
        if remark.about and entry.about == remark.about:
            return _put(transcript, index, remark)
        if not remark.about and replace(entry, count=1) == remark:
            return _put(transcript, index, replace(remark, count=entry.count + 1))
    return _append(transcript, remark)


def _fold_compaction(transcript: Transcript, event: Compaction) -> Transcript:
    about = f"compaction {event.id}"
    known = any(isinstance(e, Remark) and e.about == about for e in transcript.entries)
    if known and event.status == "in_progress":
        return transcript
    text = f"compaction of the context: {event.status.replace('_', ' ')}"
    return _fold_remark(transcript, Remark(text, "debug", about=about))


def _fold_question(transcript: Transcript, question: Question) -> Transcript:
    if isinstance(question, Permission):
        return _fold_call(transcript, question.call, question=question)
    if isinstance(question, Form | Link):
        index, call = _find(transcript, question.call_id)
        if call is not None:
            transcript = _put(transcript, index, replace(call, inquires=True))
    if isinstance(question, Form | Link | SignInPage | Confirmation):
        return _append(transcript, Inquiry(question))
    return transcript


def _fold_inquiry(
    transcript: Transcript, is_meant: Callable[[Question], bool], **changes: Any
) -> Transcript:
    for index, entry in enumerate(transcript.entries):
        if isinstance(entry, Inquiry) and is_meant(entry.question):
            return _put(transcript, index, replace(entry, **changes))
    return transcript


def _is_link(question: Question, link_id: str) -> bool:
    return isinstance(question, Link) and question.id == link_id


def _fold_answer(transcript: Transcript, question: Question, answer: Answer) -> Transcript:
    if not isinstance(question, Permission):
        return _fold_inquiry(transcript, lambda asked: asked is question, answer=answer)
    _, known = _find(transcript, question.call.id)
    is_another = known is not None and known.question not in (None, question)
    if is_another:
        return transcript
    return _fold_call(transcript, ToolCallUpdate(question.call.id), answer=answer)


def _fold_call(
    transcript: Transcript,
    update: ToolCallUpdate,
    question: Permission | None = None,
    answer: Answer | None = None,
) -> Transcript:
    index, known = _find(transcript, update.id)
    call = merged(known, update)
    if question is not None:
        call = replace(call, question=question, answer=None)
    if answer is not None:
        call = replace(call, answer=answer)
    if call.status == "failed" and call.raw_output == NEVER_EXECUTED:
        call = replace(call, superseded=True)
    if known is None:
        return _link(_append(transcript, call))
    same = call == known and question is None
    return transcript if same else _link(_put(transcript, index, call))


def _find(transcript: Transcript, call_id: str) -> tuple[int, ToolCall | None]:
    for index in range(len(transcript.entries) - 1, -1, -1):
        entry = transcript.entries[index]
        if isinstance(entry, ToolCall) and entry.id == call_id:
            return index, entry
    return -1, None


def _link(transcript: Transcript) -> Transcript:
    """Find the later call that carries out a superseded one; either may be told of first."""
    calls = [(i, e) for i, e in enumerate(transcript.entries) if isinstance(e, ToolCall)]
    taken = {call.stands_for for _, call in calls}
    for at, approved in calls:
        if approved.superseded and approved.id not in taken:
            for index, call in calls:
                if index > at and carries_out(call, approved):
                    return _put(transcript, index, replace(call, stands_for=approved.id))
    return transcript
