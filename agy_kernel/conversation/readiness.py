"""Getting an agent ready to be asked: a process, a session, and what the user wants in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from ..errors import AuthenticationRequired, RequestFailed
from ..events import Notice, Progress, Replayed
from .engine import Engine
from .known import Known
from .turn import Turn


class Readiness(Known):
    """A conversation, as far as it can be got ready; one caller at a time."""

    async def ready(self) -> None:
        """Start the agent and open a session, unless that is done already."""
        async with self._alone():
            await self._ready(silent_turn())

    async def running(self) -> Engine:
        """The agent, started if it has to be; no session is opened."""
        async with self._alone():
            return await self._running(silent_turn())

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


def silent_turn() -> Turn:
    """A turn that shows nothing: somebody waits for the result alone."""
    return Turn(lambda _: None)


async def _tick(turn: Turn, text: str) -> None:
    start = asyncio.get_running_loop().time()
    while True:
        await asyncio.sleep(1.0)
        waited = asyncio.get_running_loop().time() - start
        turn.take(Progress(f"{text} ({waited:.0f} s)"))
