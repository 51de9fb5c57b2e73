"""The processes of a conversation: one at a time, buried when they end, replaced when needed."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from ..abilities import AgentInfo
from ..errors import AgentError, AgentStartFailed
from ..events import (
    Event,
    Notice,
)
from .engine import Engine, EngineFactory
from .lifecycle import Lifecycle
from .opening import Waiting, first_sentence

MOST_DEATHS = 3
KEPT_ENDS = 20


class Processes:
    """One agent process after the other.

    Args:
        make_engine: makes an engine that is not started yet.
        name: what to call the agent before it has said who it is.
        hear: takes the events of the current process, and of no other.
        let_go: called when the current process is none any more.
        life: is told of beginnings and ends.
    """

    def __init__(
        self,
        make_engine: EngineFactory,
        name: str,
        hear: Callable[[str, Event], None],
        let_go: Callable[[], None],
        life: Lifecycle,
    ) -> None:
        self._make_engine, self._name = make_engine, name
        self._hear, self._on_let_go, self._life = hear, let_go, life
        self.engine: Engine | None = None
        self.info = AgentInfo(name)
        self.ends: deque[str] = deque(maxlen=KEPT_ENDS)
        self._deaths = 0
        self._news: Notice | None = None
        self._farewells: set[asyncio.Task[Any]] = set()

    async def running(self, waiting: Waiting) -> Engine:
        """The current process; started, if there is none.

        Raises:
            AgentStartFailed: it does not start, or has ended too often in a row.
        """
        if self.engine is not None and not self.engine.alive:
            self._lost(self.engine, await self.engine.wait_lost())
        return self.engine or await self._start(waiting)

    def went_well(self) -> None:
        """A turn has ended as it should."""
        self._deaths = 0

    def forgive(self) -> None:
        """Let it be started again, however often it has ended."""
        self._deaths = 0

    def replace(self, engine: Engine, news: Notice) -> None:
        """Let the next prompt start another process, and tell it this."""
        if self._let_go(engine):
            self.ends.append(news.text)
            self._life.note(f"process replaced: {news.text}")
        self._news = news
        self._say_farewell(engine.close())

    def take_news(self) -> list[Notice]:
        """What is to be said of the last replacement; asked again, it is nothing."""
        news, self._news = self._news, None
        return [] if news is None else [news]

    async def close(self) -> None:
        """End the process, and wait for those that are ending."""
        engine, self.engine = self.engine, None
        if engine is not None:
            await engine.close()
        await asyncio.gather(*self._farewells, return_exceptions=True)

    async def _start(self, waiting: Waiting) -> Engine:
        if self._deaths >= MOST_DEATHS:
            raise AgentStartFailed(
                f"{self._name} has ended {self._deaths} times in a row, and is not started again "
                f"by itself. The last time: {self.ends[-1]} "
                "`%agy restart` lets it be tried again; `%agy doctor` says more."
            )

        def hear(session_id: str, event: Event) -> None:
            if engine is self.engine:  # of a process that was replaced, nothing is heard any more
                self._hear(session_id, event)

        engine = self._make_engine(hear)
        self.engine = engine
        try:
            await waiting(f"starting {self._name}", engine.start())
        except BaseException as error:
            self._let_go(engine)
            self._life.note(f"not started: {first_sentence(error) or 'stopped'}")
            raise
        if engine.info.name:
            self.info = engine.info
        self._life.note(f"started, pid {engine.pid}")
        self._say_farewell(self._bury(engine))
        return engine

    async def _bury(self, engine: Engine) -> None:
        self._lost(engine, await engine.wait_lost())
        await engine.close()

    def _lost(self, engine: Engine, error: AgentError) -> None:
        if self._let_go(engine):
            self._deaths += 1
            self.ends.append(first_sentence(error))
            self._life.note(f"died: {first_sentence(error)}")
            self._news = Notice(f"A new agent process was started: {first_sentence(error)}")

    def _let_go(self, engine: Engine) -> bool:
        """Let the next prompt start another; whether it was the current one until now."""
        if self.engine is not engine:
            return False
        self.engine = None
        self._life.bury(engine)
        self._on_let_go()
        return True

    def _say_farewell(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="agy farewell")
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)
