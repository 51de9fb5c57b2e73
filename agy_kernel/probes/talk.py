"""A conversation as a notebook has it, and the events that come of each prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from ..abilities import Capabilities
from ..conversation.conversation import Conversation
from ..conversation.resends import Resends
from ..conversation.toolcalls import ToolCall, merged
from ..conversation.transcript import Transcript, fold
from ..conversation.turn import Turn
from ..display.footer import problem
from ..errors import (
    AgentError,
    AgentNotFound,
    AgentStartFailed,
    AuthenticationRequired,
    RequestFailed,
    TurnCancelled,
)
from ..events import Event, Notice, TextChunk, ToolCallUpdate, TurnBroken, TurnEnded
from ..questions import Answer, Permission, Question
from ..tapes.reading import TapeError
from .ends import in_a_line
from .probe import NotAsked

ANSWER_SECONDS = 60.0
SIGN_IN = "it wants a sign-in first. `%agy auth` signs in"
NOBODY = "a probe has asked, and no person"
UNTOLD = (TapeError, NotAsked, AgentNotFound, AgentStartFailed)
"""Errors that are no news of a turn: there was no engine for it."""
Allow = Callable[[Sequence[ToolCall]], bool]
"""Whether a tool call is what the probe has asked for: as it is known now, and as it came first."""


class Exchange:
    """A prompt and what comes of it.

    Args:
        conversation: where it is said.
        words: the prompt.
        allow: which tool calls are allowed, once; what is asked besides is refused.
        heard: called with each event, after it was taken.
        began: called once the prompt goes out.
        now: the time, in seconds.
    """

    def __init__(
        self,
        conversation: Conversation,
        words: str,
        allow: Allow,
        heard: Callable[[Exchange, Event], None],
        began: Callable[[], None],
        now: Callable[[], float],
    ) -> None:
        self._allow, self._heard, self._began, self._now = allow, heard, began, now
        self._blocks = [{"type": "text", "text": words}]
        self._news = asyncio.Event()
        self._resends = Resends()
        self.transcript = Transcript()
        self.ending: TurnEnded | TurnBroken | None = None
        self.text = ""
        """What the agent said, less what it said again."""
        self.pieces: list[tuple[float, str]] = []
        """The pieces of it as they came, and when."""
        self.warnings: list[str] = []
        self._first: dict[str, ToolCall] = {}
        self.turn = Turn(self._take, self._decide)
        self._task = asyncio.create_task(conversation.prompt(self._make_blocks, self.turn))

    def _make_blocks(self, _session_id: str, _abilities: Capabilities) -> list[dict[str, str]]:
        self._began()
        return self._blocks

    # -- what has come

    @property
    def is_over(self) -> bool:
        """Whether the turn has ended."""
        return self.ending is not None

    @property
    def is_good(self) -> bool:
        """Whether it has ended as turns should."""
        return self.stop_reason == "end_turn" and self.problem is None

    @property
    def stop_reason(self) -> str:
        """How it ended; empty where it has not, or with an error."""
        return self.ending.stop_reason if isinstance(self.ending, TurnEnded) else ""

    @property
    def problem(self) -> BaseException | None:
        """What a person sees that a cell with this prompt ends with; None for nothing bad."""
        return problem(self.transcript, self.ending, stopped=True) if self.ending else None

    @property
    def how(self) -> str:
        """How it ended, for a sentence."""
        if self.ending is None:
            return "no end"
        error = self.problem
        if error is None or isinstance(error, TurnCancelled):
            return f"{self.stop_reason} and {self.text[:60]!r}"
        if isinstance(error, RequestFailed):
            return f"error {error.code} ({error.message})"
        return in_a_line(error) if isinstance(error, AgentError) else type(error).__name__

    # -- waiting

    async def until(self, came: Callable[[Exchange], bool], within: float = ANSWER_SECONDS) -> bool:
        """Wait until something has come; false where it has not, in time or before the end."""
        try:
            async with asyncio.timeout(within):
                while not came(self) and not self.is_over:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return False
        return came(self)

    async def end(self, within: float = ANSWER_SECONDS) -> Exchange:
        """Wait for the end, for so many seconds.

        Raises:
            NotAsked: somebody has to sign in.
            AgentError: no agent could be started.
        """
        await self.until(lambda e: e.is_over, within)
        error = self.ending.error if isinstance(self.ending, TurnBroken) else None
        if isinstance(error, AuthenticationRequired):
            raise NotAsked(SIGN_IN)
        if isinstance(error, UNTOLD):
            raise error
        return self

    async def is_let_go(self, within: float) -> bool:
        """Whether the engine, too, is done with the prompt; waits for that."""
        await asyncio.wait((self._task,), timeout=within)
        return self._task.done()

    # -- what the agent says and asks

    def _take(self, event: Event) -> None:
        if isinstance(event, TextChunk) and event.role == "agent":
            self.pieces.append((self._now(), event.text))
            self.text += self._resends.take(event.text, lambda: self.text)
        elif isinstance(event, ToolCallUpdate | TurnEnded | TurnBroken):
            self.text += self._resends.rest()
            self._resends = Resends()
            if isinstance(event, ToolCallUpdate):
                self._first.setdefault(event.id, merged(None, event))
        elif isinstance(event, Notice) and event.severity == "warning":
            self.warnings.append(event.text)
        self.transcript = fold(self.transcript, event)
        if isinstance(event, TurnEnded | TurnBroken):
            self.ending = event
        self._heard(self, event)
        self._news.set()

    def _decide(self, question: Question, call: ToolCall | None) -> Answer:
        if not isinstance(question, Permission):
            return Answer(None, by="nobody", why=NOBODY, declined=True)
        once = question.offered("allow_once")
        if once is not None and not question.is_choice and self._is_allowed(call):
            return Answer(once, by="policy", why="the probe has asked for it")
        refusal = question.offered("reject_once", "reject_always")
        return Answer(refusal, by="nobody", why=NOBODY)

    def _is_allowed(self, call: ToolCall | None) -> bool:
        # Codex asks under another title than the one that it has announced the call by.
        return call is not None and self._allow((call, self._first.get(call.id, call)))


class Talk:
    """A conversation, and all that is said in it.

    Args:
        conversation: what stands on the engine.
        prompted: called with each prompt once it goes out.
        now: the time, in seconds.
    """

    def __init__(
        self,
        conversation: Conversation,
        prompted: Callable[[str], None],
        now: Callable[[], float],
    ) -> None:
        self.conversation = conversation
        self._prompted, self._now = prompted, now
        self.heard: list[tuple[Exchange, Event]] = []
        """All events of all exchanges, in the order in which they came."""

    async def open(self) -> None:
        """Start the engine and open the session.

        Raises:
            NotAsked: somebody has to sign in.
            AgentError: there is no agent, or it opens none.
        """
        try:
            await self.conversation.ready()
        except AuthenticationRequired:
            raise NotAsked(SIGN_IN) from None

    def say(self, words: str, allow: Allow = lambda _: False) -> Exchange:
        """Send a prompt as soon as it is its turn, and go on."""
        return Exchange(
            self.conversation,
            words,
            allow,
            lambda exchange, event: self.heard.append((exchange, event)),
            lambda: self._prompted(words),
            self._now,
        )

    async def ask(self, words: str, within: float = ANSWER_SECONDS) -> Exchange:
        """Send a prompt, and wait for the end of its turn, for so many seconds; see ``end``."""
        return await self.say(words).end(within)
