"""One conversation with an agent, across turns, sessions and processes.

The agent is started by the first prompt. What the user chose (model, mode) is kept and applied
again whenever a session is opened, since agents forget it. When the process is gone, the next
prompt starts another and loads the session; where that fails, a new session begins and this is
said. Everything here runs on the agent's loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from ..errors import AgentError, AgentExited, CommandError, RequestFailed
from ..events import (
    AgentInfo,
    Capabilities,
    Choices,
    Command,
    Event,
    Notice,
    Progress,
    Selector,
    TurnBroken,
    TurnEnded,
    UsageChanged,
)
from .chosen import match
from .engine import Engine, EngineFactory
from .ladder import CLOSE, KILL, TERMINATE, Rung, climb
from .listener import Listener
from .turn import Turn

T = TypeVar("T")
MakeBlocks = Callable[[str, Capabilities], Sequence[dict[str, Any]]]
QUIET, QUIET_TRIES = 0.1, 20  # seconds without a word, and how often to wait for them


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
        self.engine: Engine | None = None
        self.info = AgentInfo(name)
        self._listener = Listener()
        self._replacement: Notice | None = None
        self._news: list[Notice] = []
        self._one_at_a_time = asyncio.Lock()
        self._callers: set[asyncio.Task[Any]] = set()
        self._farewells: set[asyncio.Task[Any]] = set()

    # -- what is known

    @property
    def session_id(self) -> str | None:
        """The session; None before there is one."""
        return self._listener.session_id

    @property
    def choices(self) -> dict[Selector, Choices]:
        """The models and modes on offer, and what is chosen."""
        return self._listener.chosen.known

    @property
    def commands(self) -> tuple[Command, ...]:
        """The agent's slash commands."""
        return self._listener.commands

    @property
    def title(self) -> str | None:
        """The session's title."""
        return self._listener.title

    @property
    def context(self) -> UsageChanged | None:
        """How full the context window is, as last reported."""
        return self._listener.context

    # -- a turn

    async def prompt(self, make_blocks: MakeBlocks, turn: Turn) -> None:
        """Send a prompt; everything that comes of it goes to ``turn``, errors too.

        Args:
            make_blocks: called with the session's id and the agent's capabilities once they are
                known; must not wait for long.
        """
        turn.task = asyncio.current_task()
        try:
            async with self._alone():
                engine, session_id = await self._ready(turn)
                blocks = make_blocks(session_id, engine.capabilities)
                self._tell_news(turn)
                self._listener.routes.begin(turn)
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
        engine, session_id = self.engine, self.session_id
        if not self._listener.routes.is_current(turn) or engine is None or session_id is None:
            if turn.task is not None:
                turn.task.cancel()
            return
        self._settle(engine, await climb(turn, engine, session_id))
        turn.take(TurnEnded("cancelled"))

    def _settle(self, engine: Engine, rung: Rung) -> None:
        """See to what a climbed ladder has left behind."""
        if rung is CLOSE:
            self._listener.is_open = False
            self._news.append(Notice("The last turn ended only when its session was closed."))
        elif rung in (TERMINATE, KILL):
            how = f"The last turn did not stop when asked to, so the agent was ended ({rung.name})."
            self._let_go(engine)
            self._replacement = Notice(how, "warning")
            self._say_farewell(engine.close())

    # -- what the person chooses

    async def choose(self, what: Selector, value: str) -> str:
        """Choose a model or a mode, by id or name; returns the name of what is chosen now.

        Raises:
            CommandError: there is no such choice; names the nearest ones.
        """
        async with self._alone():
            engine, session_id = await self._ready(_silent_turn())
            if (choices := self.choices.get(what)) is None:
                raise CommandError(f"{self.name} offers no choice of {what}.")
            value = match(what, value, choices)
            chosen = await engine.choose(session_id, what, choices, value)
            self._listener.chosen.want(what, chosen)
            return chosen.name()

    async def ready(self) -> None:
        """Start the agent and open a session, unless that is done already."""
        async with self._alone():
            await self._ready(_silent_turn())

    def new_session(self) -> None:
        """Let the next prompt begin a new session; the agent will not remember this one."""
        self._listener.forget_session()

    async def close(self) -> None:
        """End the agent and everything of this conversation."""
        if (turn := self._listener.routes.current) is not None:
            turn.stop()
        for task in self._callers:
            task.cancel()
        async with self._one_at_a_time:
            engine, self.engine = self.engine, None
            if engine is not None:
                await engine.close()
        await asyncio.gather(*self._farewells, return_exceptions=True)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """One prompt or choice at a time; ``close`` ends those that wait, too."""
        task = asyncio.current_task()
        assert task is not None
        self._callers.add(task)
        try:
            async with self._one_at_a_time:
                yield
        finally:
            self._callers.discard(task)

    # -- getting ready

    async def _ready(self, turn: Turn) -> tuple[Engine, str]:
        if self.engine is not None and not self.engine.alive:
            self._lost(self.engine, await self.engine.wait_lost())
        engine = self.engine or await self._start(turn)
        if not self._listener.is_open:
            await self._open_session(engine, turn)
        assert self.session_id is not None
        for what, wanted in list(self._listener.chosen.missing()):
            await self._choose_again(engine, self.session_id, what, wanted)
        return engine, self.session_id

    # -- getting ready: the process

    async def _start(self, turn: Turn) -> Engine:
        engine = self._make_engine(lambda session_id, event: self._hear(engine, session_id, event))
        self.engine = engine
        try:
            await self._with_progress(turn, f"starting {self.name}", engine.start())
        except BaseException:
            self._let_go(engine)
            raise
        if engine.info.name:
            self.info = engine.info
        self._say_farewell(self._bury(engine))
        return engine

    def _hear(self, engine: Engine, session_id: str, event: Event) -> None:
        if engine is self.engine:  # of an agent that was replaced, nothing is heard any more
            self._listener.hear(session_id, event)

    async def _bury(self, engine: Engine) -> None:
        self._lost(engine, await engine.wait_lost())
        await engine.close()

    def _lost(self, engine: Engine, error: AgentError) -> None:
        if self._let_go(engine):
            why = f"A new agent process was started: {_first_sentence(error)}"
            self._replacement = Notice(why)

    def _let_go(self, engine: Engine) -> bool:
        """Let the next prompt start another; whether it was the current one until now."""
        if self.engine is not engine:
            return False
        self.engine = None
        self._listener.is_open = False
        return True

    def _say_farewell(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="agy farewell")
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)

    # -- getting ready: the session

    async def _open_session(self, engine: Engine, turn: Turn) -> None:
        self._listener.chosen.begin()
        if self.session_id is not None and await self._load(engine, self.session_id, turn):
            return
        self._listener.forget_session()
        await self._with_progress(turn, "opening a session", engine.new_session(self.cwd))

    async def _load(self, engine: Engine, session_id: str, turn: Turn) -> bool:
        self._listener.is_replaying = True
        loading = engine.load_session(session_id, self.cwd)
        try:
            await self._with_progress(turn, "loading the session", loading)
            await self._quiet()
        except RequestFailed as error:
            self._cannot_load(error)
            return False
        except AgentExited as error:
            # It may well end again, each time that this session is loaded.
            self._cannot_load(error)
            self._listener.forget_session()
            raise
        finally:
            self._listener.is_replaying = False
        self._listener.is_open = True
        return True

    def _cannot_load(self, error: AgentError) -> None:
        why = f"The earlier session could not be loaded: {_first_sentence(error)}"
        now = "This is a new one: the agent does not remember what was said before."
        self._news.append(Notice(f"{why} {now}", "warning"))

    async def _quiet(self) -> None:
        """Wait until the line is quiet: gemini-cli replays history after it has answered."""
        for _ in range(QUIET_TRIES):
            self._listener.has_heard = False
            await asyncio.sleep(QUIET)
            if not self._listener.has_heard:
                return

    async def _choose_again(
        self, engine: Engine, session_id: str, what: Selector, wanted: str
    ) -> None:
        chosen = self._listener.chosen
        try:
            chosen.want(what, await engine.choose(session_id, what, self.choices[what], wanted))
        except RequestFailed as error:
            chosen.give_up(what)
            self._news.append(Notice(f"The {what} {wanted} could not be set: {error}", "warning"))

    # -- what is told meanwhile

    async def _with_progress(self, turn: Turn, text: str, work: Awaitable[T]) -> T:
        ticking = asyncio.create_task(_tick(turn, text), name="agy progress")
        try:
            return await work
        finally:
            ticking.cancel()

    def _tell_news(self, turn: Turn) -> None:
        news = [self._replacement, *self._news, *self._listener.take_early()]
        self._replacement, self._news = None, []
        for notice in news:
            if notice is not None:
                turn.take(notice)


def _silent_turn() -> Turn:
    return Turn(lambda _: None)


async def _tick(turn: Turn, text: str) -> None:
    start = asyncio.get_running_loop().time()
    while True:
        await asyncio.sleep(1.0)
        waited = asyncio.get_running_loop().time() - start
        turn.take(Progress(f"{text} ({waited:.0f} s)"))


def _first_sentence(error: AgentError) -> str:
    return str(error).partition(". ")[0].partition("\n")[0].rstrip(".") + "."
