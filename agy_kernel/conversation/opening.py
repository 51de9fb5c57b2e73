"""Getting a session: the one there was, by any way that the agent has, or a new one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from ..errors import AgentError, AgentExited, CommandError, RequestFailed
from ..events import Event, Notice
from .engine import Engine, Opening
from .listener import Listener

METHOD_NOT_FOUND = -32601
CANNOT = "The agent cannot load earlier sessions."
QUIET, QUIET_TRIES = 0.1, 20  # seconds without a word, and how often to wait for them
DOING = {"resume": "resuming the session", "load": "loading the session"}

Waiting = Callable[[str, Awaitable[object]], Awaitable[object]]
"""Waits for something, and says what it is for."""


class Openings:
    """How sessions are opened in one conversation.

    Args:
        listener: hears what the agent says meanwhile.
        cwd: the folder of the sessions.
    """

    def __init__(self, listener: Listener, cwd: str) -> None:
        self._listener, self._cwd = listener, cwd
        self._shown: set[str] = set()
        self._refused: set[tuple[str, Opening]] = set()
        self.news: list[Notice] = []
        self.history: tuple[Event, ...] = ()
        self.is_reopened = False
        self.greeting = ""

    async def open(self, engine: Engine, waiting: Waiting) -> None:
        """Open the conversation's session, else a new one, whose beginning is news."""
        session_id = self._listener.session_id
        self._listener.chosen.begin()
        self.is_reopened = False
        ways = self._ways(engine)
        if session_id is not None:
            failures = await self._reopen(engine, session_id, waiting, ways)
            if failures is None:
                return
            self._remark(failures)
        self._listener.forget_session()
        await waiting("opening a session", engine.open_session("new", self._cwd))
        self._shown.add(self._listener.session_id or "")

    async def reopen(self, engine: Engine, session_id: str, waiting: Waiting) -> None:
        """Open an earlier session that the person wants, by loading it if it can be: to see it.

        Raises:
            CommandError: no way to it works; the session there was goes on.
        """
        before = self._listener.session_id
        self._listener.chosen.begin()
        self._listener.session_id = session_id
        self._shown.discard(session_id)
        ways = self._ways(engine)[::-1]
        failures = await self._reopen(engine, session_id, waiting, ways)
        if failures is not None:
            self._listener.session_id, self._listener.is_open = before, False
            why = " ".join(failures) or CANNOT
            raise CommandError(f"the session {session_id} cannot be opened. {why}")

    async def fork(self, engine: Engine, session_id: str, waiting: Waiting) -> None:
        """Go on in a copy of the open session.

        Raises:
            CommandError: the agent cannot.
            RequestFailed: it does not want to.
        """
        self._shown.add(session_id)
        try:
            await waiting("forking", engine.open_session("fork", self._cwd, session_id))
        except RequestFailed as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            raise CommandError(f"{engine.info.label} cannot fork sessions.") from None
        self._shown.add(self._listener.session_id or "")

    def shown(self, session_id: str) -> None:
        """What is said in a session is in this notebook already: it is not shown again."""
        self._shown.add(session_id)

    def give_up(self, why: str) -> None:
        """The session is lost: the next opening begins a new one."""
        self._listener.forget_session()
        self._say(why)

    async def _reopen(
        self, engine: Engine, session_id: str, waiting: Waiting, ways: Sequence[Opening]
    ) -> list[str] | None:
        """Try each way; returns what went wrong with each, None where one of them worked."""
        failures: list[str] = []
        for how in ways:
            try:
                await self._reopen_by(engine, how, session_id, waiting)
            except RequestFailed as error:
                failures.append(self._failure(engine, how, error))
            except AgentExited as error:
                # It may well end again, each time that this session is loaded.
                self._say(self._failure(engine, how, error))
                self._listener.forget_session()
                raise
            else:
                self.is_reopened = True
                self._greet()
                return None
        return failures

    def _remark(self, failures: list[str]) -> None:
        for failure in failures[:-1]:
            self.news.append(Notice(failure, "warning"))
        self._say(failures[-1] if failures else CANNOT)

    def _ways(self, engine: Engine) -> list[Opening]:
        """Resume, which replays nothing, where the agent has it; loading may work unannounced."""
        ways: list[Opening] = ["resume"] if "resume" in engine.capabilities.sessions else []
        ways.append("load")
        return [how for how in ways if (_build(engine), how) not in self._refused]

    async def _reopen_by(
        self, engine: Engine, how: Opening, session_id: str, waiting: Waiting
    ) -> None:
        self._listener.is_replaying = True
        try:
            await waiting(DOING[how], engine.open_session(how, self._cwd, session_id))
            await self._quiet()
        finally:
            self._listener.is_replaying = False
            replayed = self._listener.take_replayed()
        self._listener.is_open = True
        self.history = () if session_id in self._shown else replayed
        self._shown.add(session_id)

    def _failure(self, engine: Engine, how: Opening, error: AgentError) -> str:
        if isinstance(error, RequestFailed) and error.code == METHOD_NOT_FOUND:
            self._refused.add((_build(engine), how))
        done = "resumed" if how == "resume" else "loaded"
        return f"The earlier session could not be {done}: {first_sentence(error)}"

    def _greet(self) -> None:
        if self.greeting:
            self.news.append(Notice(self.greeting))
            self.greeting = ""

    def _say(self, why: str) -> None:
        now = "This is a new one: the agent does not remember what was said before."
        self.news.append(Notice(f"{why} {now}", "warning"))

    async def _quiet(self) -> None:
        """Wait until the line is quiet: gemini-cli replays history after it has answered."""
        for _ in range(QUIET_TRIES):
            self._listener.has_heard = False
            await asyncio.sleep(QUIET)
            if not self._listener.has_heard:
                return


def first_sentence(error: BaseException) -> str:
    """What an error says, without what it advises."""
    return str(error).partition(". ")[0].partition("\n")[0].rstrip(".") + "."


def _build(engine: Engine) -> str:
    return f"{engine.info.name} {engine.info.version}"
