"""One prompt until its stop reason, as the conversation sees it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial

from ..events import (
    Answered,
    Asked,
    ContentChunk,
    Event,
    Progress,
    TextChunk,
    ToolCallUpdate,
    TurnBroken,
    TurnEnded,
)
from ..questions import Answer, Permission, Question
from .toolcalls import (
    ToolCall,
    merged,
)

# What Antigravity's builds let slip into the reply when they are cancelled (acp-v1.md, 2.2).
LEAKS = ("context canceled", "The request was cancelled by the client.")
WORDS = (TextChunk, ContentChunk, ToolCallUpdate, Asked)


class Turn:
    """A turn: takes events in order, passes them on, and knows when it is over.

    Lives on the agent's loop; only ``emit`` crosses to another thread.

    Args:
        emit: called with each event, on the agent's loop; must not wait. The last one in order is
            a ``TurnEnded`` or a ``TurnBroken``; what comes after that is late. Every ``Asked`` is
            followed by its ``Answered``, before the end at the latest.
        decide: the answer to a question that needs no person, or None; gets what is known of the
            call that leave is asked for.
    """

    def __init__(
        self,
        emit: Callable[[Event], None],
        decide: Callable[[Question, ToolCall | None], Answer | None] = lambda *_: None,
    ) -> None:
        self._emit, self._decide = emit, decide
        self._ended = asyncio.Event()
        self._questions: list[Question] = []
        self._calls: dict[str, ToolCall] = {}
        self.stopping = False
        self.is_doubtful = False
        """Whether an end without a word means that the agent has lost the session."""
        self.is_lost = False
        self.events = 0
        self.outcome = ""
        """How it ended: the stop reason, or the error's name."""
        self._has_words = False
        self.task: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self._ended.is_set()

    @property
    def is_asking(self) -> bool:
        """Whether a person is being waited for."""
        return any(question.open for question in self._questions)

    @property
    def has_words(self) -> bool:
        """Whether the agent has said or done anything."""
        return self._has_words

    async def ends_within(self, seconds: float) -> bool:
        """Wait for its end, at most ``seconds``."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()
        return self.ended

    def take(self, event: Event) -> None:
        """Take the next event."""
        if not isinstance(event, Progress):
            self.events += 1
        self._has_words = self._has_words or isinstance(event, WORDS)
        if isinstance(event, ToolCallUpdate):
            self._calls[event.id] = merged(self._calls.get(event.id), event)
        if isinstance(event, TurnEnded | TurnBroken):
            self._finish(event)
        elif isinstance(event, Asked):
            self._ask(event)
        elif not (self.stopping and _is_leak(event)):
            self._emit(event)

    def stop(self) -> None:
        """From here on the turn is being stopped: every question is answered 'cancelled'."""
        self.stopping = True
        self._cancel_questions("stop", "the turn was stopped")

    def _ask(self, event: Asked) -> None:
        question = event.question
        if self.stopping or self.ended:
            question.answer(Answer(None, by="stop", why="the turn is over"))
        elif (answer := self._decide(question, self._call_of(question))) is not None:
            question.answer(answer)
        self._questions.append(question)
        self._emit(event)
        # It may be answered in any thread.
        tell = partial(asyncio.get_running_loop().call_soon_threadsafe, self._tell_answer, question)
        question.reply.add_done_callback(lambda _: tell())

    def _call_of(self, question: Question) -> ToolCall | None:
        """What is asked about: a request often says less than the call's earlier frames."""
        if not isinstance(question, Permission):
            return None
        return merged(self._calls.get(question.call.id), question.call)

    def _tell_answer(self, question: Question) -> None:
        if question in self._questions:
            self._questions.remove(question)
            self._emit(Answered(question, question.reply.result()))

    def _finish(self, event: TurnEnded | TurnBroken) -> None:
        if self.ended:
            return
        if self.is_doubtful and isinstance(event, TurnEnded) and self._is_no_answer(event):
            self.is_lost = True
            return
        self.outcome = (
            event.stop_reason if isinstance(event, TurnEnded) else type(event.error).__name__
        )
        self._cancel_questions("agent", "the turn ended before an answer was given")
        self._ended.set()
        self._emit(event)

    def _is_no_answer(self, end: TurnEnded) -> bool:
        return not (self.stopping or self._has_words) and end.stop_reason in ("end_turn", "refusal")

    def _cancel_questions(self, by: str, why: str) -> None:
        for question in list(self._questions):
            question.answer(Answer(None, by=by, why=why))
            self._tell_answer(question)


def _is_leak(event: Event) -> bool:
    return isinstance(event, TextChunk) and event.text.rstrip().endswith(LEAKS)
