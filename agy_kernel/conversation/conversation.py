"""One conversation with an agent, across turns, sessions and processes.

The agent is started by the first prompt. What the user chose (model, mode) is kept here and
applied again whenever a session is opened, since agents forget it. When the process is gone, the
next prompt starts another and loads the session; where that fails, a new session begins and this
is said. Everything here runs on the agent's loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from ..errors import AgentError, AuthenticationRequired, CommandError, RequestFailed
from ..events import (
    Asked,
    Choices,
    Command,
    CommandsChanged,
    ConfigChanged,
    Event,
    ModeChanged,
    Notice,
    Progress,
    Selector,
    SessionInfoChanged,
    SessionOpened,
    SessionState,
    TextChunk,
    TurnBroken,
    TurnEnded,
    UsageChanged,
)
from .engine import Engine, EngineFactory
from .ladder import CANCEL, CANCEL_REQUEST, CLOSE, Rung, climb
from .routing import Routes
from .turn import Turn

T = TypeVar("T")
HELD_EVENTS = 1_000
QUIET, QUIET_TRIES = 0.1, 20  # seconds without a word, and how often to wait for them
SELECTORS: tuple[Selector, Selector] = ("model", "mode")


class Conversation:
    """A conversation.

    Args:
        make_engine: makes an engine that is not started yet.
        cwd: absolute path of the folder that the agent works in.
        name: what to call the agent before it has said who it is.
    """

    def __init__(self, make_engine: EngineFactory, cwd: str, name: str) -> None:
        self._make_engine = make_engine
        self.cwd, self.name = cwd, name
        self.session_id: str | None = None
        self.choices: dict[Selector, Choices] = {}
        self.commands: tuple[Command, ...] = ()
        self.title: str | None = None
        self.context: UsageChanged | None = None
        self.engine: Engine | None = None
        self.last_rung: Rung | None = None
        self.starts = 0
        self._wanted: dict[Selector, str] = {}
        self._is_open = False
        self._replaying = self._heard_anything = False
        self._news: list[Notice] = []
        self._early = ""
        self._routes = Routes()
        self._held: list[tuple[str, Event]] = []
        self._one_at_a_time = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()

    # -- a turn

    async def prompt(self, blocks: Sequence[dict[str, Any]], turn: Turn) -> None:
        """Send a prompt; everything that comes of it goes to ``turn``, errors too."""
        turn.task = asyncio.current_task()
        try:
            async with self._one_at_a_time:
                engine, session_id = await self._ready(turn)
                self._tell_news(turn)
                self._routes.begin(turn)
                await engine.prompt(session_id, blocks)
        except asyncio.CancelledError:
            turn.take(TurnEnded("cancelled"))
        except Exception as error:
            turn.take(TurnEnded("cancelled") if turn.stopping else TurnBroken(error))
        # An answer without the event would leave the cell waiting for ever.
        turn.take(TurnEnded("unknown"))

    async def stop(self, turn: Turn) -> None:
        """Stop a turn; it ends within five seconds, whatever the agent does."""
        if turn.ended or turn.stopping:
            return
        turn.stop()
        if not self._routes.is_current(turn) or self.engine is None or self.session_id is None:
            if turn.task is not None:
                turn.task.cancel()
            return
        self.last_rung = await climb(turn, self.engine, self.session_id)
        if self.last_rung not in (CANCEL, CANCEL_REQUEST):
            self._is_open = False
            self._news.append(Notice(_what_it_took(self.last_rung), "warning"))
        turn.take(TurnEnded("cancelled"))

    # -- what the person chooses

    async def choose(self, what: Selector, value: str) -> str:
        """Choose a model or a mode, by id or name; returns the name of what is chosen now.

        Raises:
            CommandError: there is no such choice; names the nearest ones.
        """
        async with self._one_at_a_time:
            engine, session_id = await self._ready(_silent_turn())
            choices = self._offered(what)
            self._wanted[what] = _match(what, value, choices)
            await self._apply(engine, session_id, what)
            return self.choices[what].name()

    async def ready(self) -> None:
        """Start the agent and open a session, unless that is done already."""
        async with self._one_at_a_time:
            await self._ready(_silent_turn())

    def new_session(self) -> None:
        """Let the next prompt begin a new session; the agent will not remember this one."""
        self.session_id = self.title = self.context = None
        self._is_open = False
        self._routes.forget()

    async def close(self) -> None:
        """End the agent and everything of this conversation."""
        for task in list(self._tasks):
            task.cancel()
        if self._routes.current is not None:
            self._routes.current.stop()
        engine, self.engine = self.engine, None
        if engine is not None:
            await engine.close()

    # -- getting ready

    async def _ready(self, turn: Turn) -> tuple[Engine, str]:
        if self.engine is None or not self.engine.alive:
            await self._start(turn)
        assert self.engine is not None
        if not self._is_open:
            await self._open_session(self.engine, turn)
        assert self.session_id is not None
        for what in SELECTORS:
            await self._apply_wanted(self.engine, self.session_id, what)
        return self.engine, self.session_id

    async def _start(self, turn: Turn) -> None:
        engine = self._make_engine(lambda session_id, event: self._hear(engine, session_id, event))
        self._is_open = False
        self.engine = engine
        self.starts += 1
        try:
            await self._with_progress(turn, f"starting {self.name}", engine.start())
        except BaseException:
            self.engine = None
            raise
        self._spawn(self._watch(engine), "agy watch")

    async def _watch(self, engine: Engine) -> None:
        error = await engine.wait_lost()
        if self.engine is engine:
            self.engine = None
            self._is_open = False
            self._news.append(Notice(f"A new agent process was started: {_first_line(error)}"))
        await engine.close()

    async def _open_session(self, engine: Engine, turn: Turn) -> None:
        if self.session_id is not None and await self._load(engine, self.session_id, turn):
            return
        self.session_id = None
        await self._with_progress(turn, "opening a session", engine.new_session(self.cwd))

    async def _load(self, engine: Engine, session_id: str, turn: Turn) -> bool:
        self._replaying = True
        loading = engine.load_session(session_id, self.cwd)
        try:
            await self._with_progress(turn, "loading the session", loading)
            await self._quiet()
        except AuthenticationRequired:
            raise
        except RequestFailed as error:
            self._news.append(
                Notice(
                    f"The earlier session could not be loaded ({error}). This is a new one: the "
                    "agent does not remember what was said before.",
                    "warning",
                )
            )
            return False
        finally:
            self._replaying = False
        return True

    async def _quiet(self) -> None:
        """Wait until the line is quiet: gemini-cli replays history after it has answered."""
        for _ in range(QUIET_TRIES):
            self._heard_anything = False
            await asyncio.sleep(QUIET)
            if not self._heard_anything:
                return

    async def _apply_wanted(self, engine: Engine, session_id: str, what: Selector) -> None:
        wanted, choices = self._wanted.get(what), self.choices.get(what)
        if not wanted or choices is None or choices.current == wanted:
            return
        try:
            await self._apply(engine, session_id, what)
        except RequestFailed as error:
            self._news.append(Notice(f"The {what} {wanted} could not be set: {error}", "warning"))

    async def _apply(self, engine: Engine, session_id: str, what: Selector) -> None:
        choices = self.choices[what]
        self.choices[what] = await engine.choose(session_id, what, choices, self._wanted[what])

    def _offered(self, what: Selector) -> Choices:
        if choices := self.choices.get(what):
            return choices
        raise CommandError(f"{self.name} offers no choice of {what}.")

    async def _with_progress(self, turn: Turn, text: str, work: Awaitable[T]) -> T:
        ticking = asyncio.create_task(_tick(turn, text), name="agy progress")
        try:
            return await work
        finally:
            ticking.cancel()

    def _tell_news(self, turn: Turn) -> None:
        news, self._news = self._news, []
        early, self._early = self._early.strip(), ""
        if early:
            news.append(Notice(f"Before the first prompt the agent said: {early}"))
        for notice in news:
            turn.take(notice)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- what the agent says

    def _hear(self, engine: Engine, session_id: str, event: Event) -> None:
        """Take an event where it belongs; of an agent that was replaced, none does."""
        if engine is not self.engine:
            return
        self._heard_anything = True
        if isinstance(event, SessionOpened):
            self._opened(event.state)
        elif session_id != self.session_id or not (self._is_open or self._replaying):
            # Before the answer to session/new its session is unknown; others stay unknown.
            self._held = [*self._held[-HELD_EVENTS:], (session_id, event)]
            if isinstance(event, Asked):
                self._routes.refuse(event.question)
        else:
            self._take(event)

    def _opened(self, state: SessionState) -> None:
        if state.id != self.session_id:
            self._routes.forget()
        self.session_id, self._is_open = state.id, True
        known: dict[Selector, Choices | None] = {"model": state.models, "mode": state.modes}
        self.choices |= {what: choices for what, choices in known.items() if choices}
        held, self._held = self._held, []
        for session_id, event in held:
            if session_id == state.id:
                self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case CommandsChanged(commands):
                self.commands = commands
            case ModeChanged(mode_id):
                self._told("mode", mode_id)
            case ConfigChanged(models, modes):
                told: dict[Selector, Choices | None] = {"model": models, "mode": modes}
                self.choices |= {what: choices for what, choices in told.items() if choices}
            case SessionInfoChanged(title):
                self.title = title
            case UsageChanged():
                self.context = event
                self._pass_on(event)
            case _:
                self._pass_on(event)

    def _pass_on(self, event: Event) -> None:
        if self._replaying:
            return
        if (turn := self._routes.owner(event)) is not None:
            turn.take(event)
        elif isinstance(event, TextChunk) and event.role == "agent":
            self._early += event.text
        elif isinstance(event, Asked):
            self._routes.refuse(event.question)

    def _told(self, what: Selector, value: str) -> None:
        before = self.choices.get(what, Choices())
        self.choices[what] = Choices(value, before.available, before.option_id)


def _silent_turn() -> Turn:
    return Turn(lambda _: None)


async def _tick(turn: Turn, text: str) -> None:
    start = asyncio.get_running_loop().time()
    while True:
        await asyncio.sleep(1.0)
        waited = asyncio.get_running_loop().time() - start
        turn.take(Progress(f"{text} ({waited:.0f} s)"))


def _what_it_took(rung: Rung) -> str:
    if rung is CLOSE:
        return "The last turn ended only when its session was closed; the session was loaded again."
    return f"The last turn did not stop when asked to, so the agent was ended ({rung.name})."


def _first_line(error: AgentError) -> str:
    return str(error).partition(". ")[0].partition("\n")[0] + "."


def _match(what: Selector, value: str, choices: Choices) -> str:
    for choice in choices.available:
        if value.casefold() in (choice.id.casefold(), choice.name.casefold()):
            return choice.id
    ids = [choice.id for choice in choices.available]
    near = get_close_matches(value, ids, n=3, cutoff=0.4) or ids
    raise CommandError(f"There is no {what} {value!r}. Nearest: {', '.join(near)}.")
