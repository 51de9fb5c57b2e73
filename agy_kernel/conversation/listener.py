"""Whatever the agent says, taken where it belongs: a turn, the session, or nowhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from ..events import (
    MODE,
    Asked,
    Command,
    CommandsChanged,
    ConfigChanged,
    Event,
    ModeChanged,
    Notice,
    SessionInfoChanged,
    SessionOpened,
    SessionState,
    TextChunk,
    ToolCallUpdate,
    UsageChanged,
)
from ..questions import SignInPage
from .chosen import Chosen
from .routing import Routes
from .turn import Turn

HELD_EVENTS, EARLY_CHARS = 1_000, 20_000


class Listener:
    """What is known of the session, and whose its events are.

    Updates may come before the answer that opens their session, between turns, and long after
    the turn that they belong to; history comes while a session is being loaded, and is not shown.
    """

    def __init__(self, chosen: Chosen) -> None:
        self.session_id: str | None = None
        self.is_open = False
        self.is_replaying = False
        self.has_heard = False
        self.has_page = False
        """Whether the agent has shown a page to sign in at, and listens for what comes of it."""
        self.commands: tuple[Command, ...] = ()
        self.title: str | None = None
        self.context: UsageChanged | None = None
        self.chosen = chosen
        self.routes = Routes()
        self.waiting: Turn | None = None
        self._held: deque[tuple[str, Event]] = deque(maxlen=HELD_EVENTS)
        self._replayed: deque[Event] = deque(maxlen=HELD_EVENTS)
        self._early_words = ""
        self._early_notices: list[Notice] = []

    def hear(self, session_id: str, event: Event) -> None:
        """Take the next event."""
        self.has_heard = True
        if isinstance(event, Asked) and isinstance(event.question, SignInPage):
            self.has_page = True
        if isinstance(event, SessionOpened):
            self._opened(event.state)
        elif isinstance(event, Asked | Notice) and not session_id and self.waiting is not None:
            self.waiting.take(event)
        elif session_id == self.session_id and (self.is_open or self.is_replaying):
            self._take(event)
        else:
            # Before the answer to session/new its session is unknown; others stay unknown.
            if not self.is_open:
                self._held.append((session_id, event))
            self._refuse(event)

    @contextmanager
    def waits(self, turn: Turn) -> Iterator[None]:
        """While a turn waits for its session, it is asked what belongs to no session."""
        self.waiting = turn
        try:
            yield
        finally:
            self.waiting = None

    def forget_session(self) -> None:
        """The next session will be a new one."""
        self.session_id = self.title = self.context = None
        self.is_open = False
        self.routes.forget()

    def take_replayed(self) -> tuple[Event, ...]:
        """The history that came while the session was being loaded; asked again, it is nothing."""
        replayed = tuple(self._replayed)
        self._replayed.clear()
        return replayed

    def take_early(self) -> list[Notice]:
        """What the agent said before the first prompt; asked again, it is nothing."""
        early, self._early_notices = self._early_notices, []
        words, self._early_words = self._early_words.strip(), ""
        if words:
            early.append(Notice(f"Before the first prompt the agent said: {words}"))
        return early

    def _opened(self, state: SessionState) -> None:
        if state.id != self.session_id:
            self.routes.forget()
        self.session_id = state.id
        self.is_open = not self.is_replaying
        self.chosen.told(state.choices)
        held = [event for session_id, event in self._held if session_id == state.id]
        self._held.clear()
        for event in held:
            self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case CommandsChanged(commands):
                self.commands = commands
            case ModeChanged() | ConfigChanged():
                self._choose(event)
            case SessionInfoChanged(title):
                self.title = title
            case UsageChanged():
                self.context = event
                self._pass_on(event)
            case _:
                self._pass_on(event)

    def _choose(self, event: ModeChanged | ConfigChanged) -> None:
        before = self.chosen.known.get(MODE)
        if isinstance(event, ModeChanged):
            self.chosen.told_mode(event.mode_id)
        else:
            self.chosen.told(event.choices)
        mode, turn = self.chosen.known.get(MODE), self.routes.current
        if before is None or mode is None or before.current in ("", mode.current):
            return
        if turn is not None and not turn.ended:
            turn.take(Notice(f"The agent has changed to mode {mode.name()}.", "debug"))

    def _pass_on(self, event: Event) -> None:
        if isinstance(event, Notice) and (self.is_replaying or self.waiting is not None):
            self._early_notices.append(event)
        elif self.is_replaying:
            self._refuse(event)
            self._remember(event)
        elif (turn := self.routes.owner(event)) is not None:
            turn.take(event)
        else:
            self._keep_for_the_first(event)

    def _remember(self, event: Event) -> None:
        """Keep what is told of history: not what its tools returned, nor its pictures."""
        if isinstance(event, ToolCallUpdate):
            self._replayed.append(ToolCallUpdate(event.id, event.title))
        elif isinstance(event, TextChunk):
            self._replayed.append(event)

    def _keep_for_the_first(self, event: Event) -> None:
        if isinstance(event, TextChunk) and event.role == "agent":
            self._early_words = (self._early_words + event.text)[:EARLY_CHARS]
        elif isinstance(event, Notice):
            self._early_notices.append(event)
        else:
            self._refuse(event)

    def _refuse(self, event: Event) -> None:
        if isinstance(event, Asked):
            self.routes.refuse(event.question)
