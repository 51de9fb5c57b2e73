"""One conversation with an agent, across turns, sessions and processes.

The agent is started by the first prompt. What the user chose (model, mode, ...) is kept and applied
again whenever a session is opened, since agents forget it. When the process is gone, the next
prompt starts another and opens the session again; where that fails, a new session begins and this
is said. Everything here runs on the agent's loop.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    MutableMapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from ..errors import AgentExited, AuthenticationRequired, CommandError, RequestFailed
from ..events import (
    AgentInfo,
    Capabilities,
    Choices,
    Command,
    Event,
    Notice,
    Progress,
    Replayed,
    SessionInfo,
    TurnBroken,
    TurnEnded,
    UsageChanged,
)
from .chosen import Chosen, match
from .engine import Engine, EngineFactory
from .ladder import CANCEL, CLOSE, KILL, TERMINATE, climb
from .lifecycle import Lifecycle
from .listener import Listener
from .opening import Openings
from .processes import Processes
from .turn import Turn

MakeBlocks = Callable[[str, Capabilities], Sequence[dict[str, Any]]]
ABOUT_SESSIONS = ("session", "conversation", "checkpoint")
INTERNAL_ERROR = -32603
GREETING = "The session that this notebook had before goes on. `%agy new` begins another."
FAREWELL = 0.3  # seconds for session/close, of the two that Jupyter gives a kernel to end


class Conversation:
    """A conversation.

    Args:
        make_engine: makes an engine that is not started yet.
        cwd: absolute path of the folder that the agent works in.
        name: what to call the agent before it has said who it is.
        session_id: an earlier session to go on with; None begins a new one.
        wishes: what the user wanted there: id of the choice by what it is of.
        rungs: by agent build, the rung of the ladder that was needed to stop it; learned here.
    """

    def __init__(
        self,
        make_engine: EngineFactory,
        cwd: str,
        name: str,
        *,
        session_id: str | None = None,
        wishes: dict[str, str] | None = None,
        rungs: MutableMapping[str, str] | None = None,
    ) -> None:
        self.cwd, self.name = cwd, name
        self._listener = Listener(Chosen(wishes))
        self._listener.session_id = session_id
        self.life = Lifecycle()
        self._processes = Processes(make_engine, name, self._listener.hear, self._let_go, self.life)
        self._openings = Openings(self._listener, cwd)
        self._openings.greeting = GREETING if session_id else ""
        self._doubt = ""
        self.rungs = {} if rungs is None else rungs
        self._one_at_a_time = asyncio.Lock()
        self._callers: set[asyncio.Task[Any]] = set()

    # -- what is known

    @property
    def engine(self) -> Engine | None:
        """The agent that runs; None where none does."""
        return self._processes.engine

    @property
    def info(self) -> AgentInfo:
        """Who the agent says it is."""
        return self._processes.info

    @property
    def build(self) -> str:
        """The agent's name and version."""
        return f"{self.info.name} {self.info.version}".strip()

    @property
    def restarts(self) -> Sequence[str]:
        """Why processes were replaced, the last one last."""
        return self._processes.ends

    @property
    def bad_frames(self) -> Counter[str]:
        """How many frames of all its processes were passed over, by what was wrong with them."""
        return self.life.bad_frames + Counter(self.engine.bad_frames if self.engine else {})

    @property
    def last_words(self) -> str:
        """The end of the agent's stderr; of the last one where none runs."""
        return self.engine.last_words if self.engine is not None else self.life.last_words

    @property
    def is_open(self) -> bool:
        """Whether its session is open in the agent that runs."""
        return self._listener.is_open

    @property
    def session_id(self) -> str | None:
        """The session; None before there is one."""
        return self._listener.session_id

    @property
    def choices(self) -> dict[str, Choices]:
        """The models, modes and other options on offer, and what is chosen."""
        return self._listener.chosen.known

    @property
    def wishes(self) -> dict[str, str]:
        """What the user wants to be chosen."""
        return self._listener.chosen.wishes

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
                if not await self._send(make_blocks, turn):
                    await self._send(make_blocks, turn)
        except asyncio.CancelledError:
            turn.take(TurnEnded("cancelled"))
        except Exception as error:
            turn.take(TurnEnded("cancelled") if turn.stopping else TurnBroken(error))
        # An answer without the event would leave the cell waiting for ever.
        turn.take(TurnEnded("unknown"))
        self.life.note(f"turn ended: {turn.outcome}")

    async def _send(self, make_blocks: MakeBlocks, turn: Turn) -> bool:
        """Send the prompt; false where the session turns out to be lost, and was given up."""
        with self._listener.waits(turn):
            engine, session_id = await self._ready(turn)
        blocks = make_blocks(session_id, engine.capabilities)
        self._tell_news(turn)
        turn.is_doubtful, turn.is_lost = bool(self._doubt), False
        self._listener.routes.begin(turn)
        try:
            await engine.prompt(session_id, blocks)
        except RequestFailed as error:
            if not self._means_lost(error, turn):
                raise
            turn.is_lost = True
        except AgentExited:
            if self._doubt:
                self._give_up_session()
            raise
        if turn.is_lost:
            self._give_up_session()
            return False
        self._openings.shown(session_id)
        self._processes.went_well()
        self._doubt = "the turn before it had to be stopped" if turn.stopping else ""
        return True

    def _means_lost(self, error: RequestFailed, turn: Turn) -> bool:
        """Whether the agent refuses a prompt because it has lost the session.

        A model that cannot be reached is no reason to give a session up.
        """
        if not self._doubt or turn.has_words or turn.stopping:
            return False
        says_so = any(word in str(error).lower() for word in ABOUT_SESSIONS)
        return error.code != INTERNAL_ERROR or says_so

    def _give_up_session(self) -> None:
        self.life.note(f"session lost: {self.session_id}")
        self._openings.give_up(f"The session did not answer after {self._doubt}.")
        self._doubt = ""

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
        rung = await climb(turn, engine, session_id, self.rungs.get(self.build, CANCEL.name))
        self.rungs[self.build] = rung
        self.life.note(f"turn stopped by {rung}")
        self._settle(engine, rung)
        turn.take(TurnEnded("cancelled"))

    def _settle(self, engine: Engine, rung: str) -> None:
        """See to what a climbed ladder has left behind."""
        if rung == CLOSE.name:
            self._listener.is_open = False
            said = "The last turn ended only when its session was closed."
            self._openings.news.append(Notice(said))
        elif rung in (TERMINATE.name, KILL.name):
            how = f"The last turn did not stop when asked to, so the agent was ended ({rung})."
            self._processes.replace(engine, Notice(how, "warning"))

    # -- what the person chooses

    async def choose(self, what: str, value: str) -> str:
        """Choose a model, a mode, or a value of another option.

        Args:
            what: ``model``, ``mode``, ``effort``, or the option's own id.
            value: the choice's id or name, or a part that only it has.

        Returns:
            The name of what is chosen now.

        Raises:
            CommandError: there is no such choice; names the nearest ones.
        """
        async with self._alone():
            engine, session_id = await self._ready(_silent_turn())
            if (choices := self.choices.get(what)) is None:
                others = f" It offers: {', '.join(self.choices)}." if self.choices else ""
                raise CommandError(f"{self.name} offers no choice of {what}.{others}")
            chosen = await engine.choose(session_id, what, choices, match(what, value, choices))
            self._listener.chosen.want(what, chosen)
            return chosen.name()

    async def _choose_again(self, engine: Engine, session_id: str, what: str, wanted: str) -> None:
        chosen, choices = self._listener.chosen, self.choices[what]
        try:
            if choices.available and wanted not in (choice.id for choice in choices.available):
                raise RequestFailed(0, "the agent does not offer it any more")
            chosen.want(what, await engine.choose(session_id, what, choices, wanted))
        except RequestFailed as error:
            chosen.cannot(what, wanted)
            said = f"The {what} {wanted} could not be set: {error}"
            self._openings.news.append(Notice(said, "warning"))

    # -- sessions

    async def ready(self) -> None:
        """Start the agent and open a session, unless that is done already."""
        async with self._alone():
            await self._ready(_silent_turn())

    def new_session(self) -> None:
        """Let the next prompt begin a new session; the agent will not remember this one."""
        self._listener.forget_session()
        self._processes.forgive()

    async def resume(self, session_id: str) -> tuple[Event, ...]:
        """Go on with an earlier session; returns what was said there, where the agent replays it.

        Raises:
            CommandError: the agent cannot; the session there was stays.
        """
        async with self._alone():
            engine = await self._running(turn := _silent_turn())
            await self._openings.reopen(engine, session_id, self._waiting(turn))
            self.life.note(f"session opened again: {self.session_id}")
            await self._fulfil_wishes(engine)
            history, self._openings.history = self._openings.history, ()
            self._doubt = "it was opened again"
            return history

    async def fork(self) -> str:
        """Go on in a copy of the session; returns its id.

        Raises:
            RequestFailed: the agent cannot.
        """
        async with self._alone():
            engine, session_id = await self._ready(turn := _silent_turn())
            await self._openings.fork(engine, session_id, self._waiting(turn))
            self.life.note(f"session forked: {session_id} to {self.session_id}")
            await self._fulfil_wishes(engine)
            return self.session_id or ""

    async def sessions(self) -> list[SessionInfo] | None:
        """The agent's own list of sessions in this folder; None where it keeps none."""
        async with self._alone():
            engine = await self._running(_silent_turn())
            if "list" not in engine.capabilities.sessions:
                return None
            return await engine.list_sessions(self.cwd)

    async def close_session(self) -> None:
        """Close the session; it can be resumed where the agent keeps it.

        Raises:
            RequestFailed: the agent does not close sessions; it is let go of all the same.
        """
        async with self._alone():
            engine, session_id = self.engine, self.session_id
            is_open = self._listener.is_open
            self._listener.forget_session()
            if engine is not None and session_id is not None and is_open:
                await engine.close_session(session_id)

    async def delete_session(self, session_id: str) -> None:
        """Delete a session for good.

        Raises:
            RequestFailed: the agent cannot.
        """
        async with self._alone():
            engine = await self._running(_silent_turn())
            await engine.delete_session(session_id)
            if session_id == self.session_id:
                self._listener.forget_session()

    # -- signing in

    async def authenticate(self, method_id: str, turn: Turn) -> None:
        """Sign in by a method of the agent; may take as long as a person does.

        Args:
            turn: is asked, and told what is waited for.

        Raises:
            AuthenticationRequired: nobody can or wants to sign in.
            RequestFailed: the agent refuses, or it came to nothing.
        """
        async with self._alone():
            engine = await self._running(turn)
            with self._no_listening_on(engine), self._listener.waits(turn):
                await self._waiting(turn)("signing in", engine.authenticate(method_id))

    @contextmanager
    def _no_listening_on(self, engine: Engine) -> Iterator[None]:
        """An agent that listens for a sign-in would do so for minutes: it ends when nobody does."""
        self._listener.has_page = False
        try:
            yield
        except (AuthenticationRequired, asyncio.CancelledError):
            if self._listener.has_page:
                news = "Nobody has signed in, so the agent was started anew."
                self._processes.replace(engine, Notice(news))
            raise

    async def logout(self) -> None:
        """Let the agent forget its sign-in, and with it the session.

        Raises:
            RequestFailed: the agent cannot.
        """
        async with self._alone():
            await (await self._running(_silent_turn())).logout()
            self._listener.is_open = False

    async def running(self) -> Engine:
        """The agent, started if it has to be; no session is opened."""
        async with self._alone():
            return await self._running(_silent_turn())

    async def restart(self) -> None:
        """End the agent; the next prompt starts another and opens the session again."""
        async with self._alone():
            if (engine := self.engine) is not None:
                self._processes.replace(engine, Notice("The agent was started anew, as asked."))
            self._processes.forgive()

    async def close(self) -> None:
        """End the agent and everything of this conversation."""
        if (turn := self._listener.routes.current) is not None:
            turn.stop()
        for task in self._callers:
            task.cancel()
        async with self._one_at_a_time:
            await self._say_goodbye()
            await self._processes.close()

    async def _say_goodbye(self) -> None:
        engine, session_id = self.engine, self.session_id
        if engine is None or session_id is None or not (engine.alive and self._listener.is_open):
            return
        if "close" in engine.capabilities.sessions:
            closing = asyncio.create_task(engine.close_session(session_id), name="agy goodbye")
            await asyncio.wait((closing,), timeout=FAREWELL)
            closing.cancel()
            await asyncio.gather(closing, return_exceptions=True)

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

    async def _running(self, turn: Turn) -> Engine:
        return await self._processes.running(self._waiting(turn))

    async def _ready(self, turn: Turn) -> tuple[Engine, str]:
        engine = await self._running(turn)
        if not self._listener.is_open:
            wanted = self.session_id
            with self._no_listening_on(engine):
                await self._openings.open(engine, self._waiting(turn))
            self._doubt = "it was opened again" if self._openings.is_reopened else ""
            if wanted is not None and wanted != self.session_id:
                self.life.note(f"session lost: {wanted}")
            how = "opened again" if self._openings.is_reopened else "opened"
            self.life.note(f"session {how}: {self.session_id}")
        await self._fulfil_wishes(engine)
        assert self.session_id is not None
        return engine, self.session_id

    async def _fulfil_wishes(self, engine: Engine) -> None:
        assert self.session_id is not None
        for what, wanted in list(self._listener.chosen.missing()):
            await self._choose_again(engine, self.session_id, what, wanted)

    def _let_go(self) -> None:
        self._listener.is_open = False

    # -- what is told meanwhile

    def _waiting(self, turn: Turn) -> Callable[[str, Awaitable[object]], Awaitable[object]]:
        async def wait(text: str, work: Awaitable[object]) -> object:
            ticking = asyncio.create_task(_tick(turn, text), name="agy progress")
            try:
                return await work
            finally:
                ticking.cancel()

        return wait

    def _tell_news(self, turn: Turn) -> None:
        if history := self._openings.history:
            turn.take(Replayed(history))
        news = [*self._processes.take_news(), *self._openings.news, *self._listener.take_early()]
        self._openings.news, self._openings.history = [], ()
        for notice in news:
            turn.take(notice)


def _silent_turn() -> Turn:
    return Turn(lambda _: None)


async def _tick(turn: Turn, text: str) -> None:
    start = asyncio.get_running_loop().time()
    while True:
        await asyncio.sleep(1.0)
        waited = asyncio.get_running_loop().time() - start
        turn.take(Progress(f"{text} ({waited:.0f} s)"))
