"""Conversations with scripted agents, each prompt a cell that hears what comes of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from agy_kernel.acp.connection import Connection
from agy_kernel.acp.process import Launch
from agy_kernel.conversation import ladder, opening
from agy_kernel.conversation.conversation import Conversation
from agy_kernel.conversation.engine import Engine, EventSink
from agy_kernel.conversation.ladder import CANCEL, LADDER, Rung
from agy_kernel.conversation.turn import Turn
from agy_kernel.events import Event, Notice, TurnBroken, TurnEnded
from agy_kernel.questions import Answer, Permission, Question
from tests.agents.scripted import Step, command
from tests.support.connections import Heard, Wire
from tests.support.oracle import check_tape

FOLDER = "/"
SOON = 30.0  # seconds; whoever waits for what does not come waits twice as long at least


def stops_end_at(rung: Rung, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the rungs of the ladder up to this one come at once, and the ones above never in time.

    An agent that ends its turn at this rung does so, however long it takes on a busy machine.
    """
    most = LADDER.index(rung)
    times = [0.1 * n if n <= most else 2 * SOON for n in range(len(LADDER))]
    rungs = [replace(each, at=at) for each, at in zip(LADDER, times, strict=True)]
    monkeypatch.setattr(ladder, "LADDER", (CANCEL, *rungs[1:]))
    monkeypatch.setattr(ladder, "END", 2 * SOON)


@pytest.fixture
def patient_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever honours ``session/cancel`` is given the time to."""
    stops_end_at(CANCEL, monkeypatch)


class Cell(Heard):
    """A running cell: its turn, and all that it was told."""

    def __init__(
        self,
        conversation: Conversation,
        decide: Callable[[Permission], Answer | None] = lambda _: None,
        text: str = "Hello",
    ) -> None:
        super().__init__()
        self._conversation = conversation

        def answer(question: Question, _: object) -> Answer | None:
            return decide(question) if isinstance(question, Permission) else None

        self.turn = Turn(self.take, answer)
        blocks = [{"type": "text", "text": text}]
        self.task = asyncio.create_task(conversation.prompt(lambda *_: blocks, self.turn))

    async def end(self) -> TurnEnded | TurnBroken:
        """How it ended, once it has."""
        event = await self.until(_is_end)
        assert isinstance(event, TurnEnded | TurnBroken)
        return event

    async def error(self) -> BaseException:
        """What it failed with."""
        ended = await self.end()
        assert isinstance(ended, TurnBroken)
        return ended.error

    async def stop(self) -> float:
        """Press Stop, and wait for the end; returns the seconds that it took."""
        clock = asyncio.get_running_loop().time
        begin = clock()
        stopping = asyncio.create_task(self._conversation.stop(self.turn))
        await self.end()
        seconds = clock() - begin
        await stopping
        return seconds

    @property
    def notices(self) -> list[str]:
        """What was remarked in it."""
        return [notice.text for notice in self.of(Notice)]


class Talk:
    """A conversation whose agent is played by one script after the other."""

    def __init__(self, scripts: Sequence[Sequence[Step]], **earlier: Any) -> None:
        self._scripts = list(scripts)
        self._started = asyncio.Event()
        self.wires: list[Wire] = []
        self.conversation = Conversation(self._make_engine, FOLDER, "scripted", **earlier)

    def _make_engine(self, on_event: EventSink) -> Engine:
        self.wires.append(Wire())
        self._started.set()
        launch = Launch("scripted", command(*self._scripts.pop(0)))
        return Connection(launch, FOLDER, on_event, tape=self.wire.tape)

    async def until_sent(self, method: str, start: int = 1) -> None:
        """Wait until a frame of a method was sent to the agent that was started as this one."""
        while len(self.wires) < start:
            self._started.clear()
            await self._started.wait()
        await self.wires[start - 1].until_sent(method)

    def ask(self, decide: Callable[[Permission], Answer | None] = lambda _: None) -> Cell:
        """Run a cell."""
        return Cell(self.conversation, decide)

    async def turn(self) -> Cell:
        """Run a cell until its end."""
        cell = self.ask()
        await cell.end()
        return cell

    def is_quiet_after(self, frames: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let a session that is loaded be quiet when its agent has sent so many frames.

        They come within the tenth of a second that is waited for, even from an agent that a busy
        machine keeps from it.
        """

        async def until_they_have_come(_: float) -> None:
            await self.wire.until(lambda: len(self.wire.entries("a2c")) >= frames)

        monkeypatch.setattr(opening, "asyncio", SimpleNamespace(sleep=until_they_have_come))

    @property
    def wire(self) -> Wire:
        """The wire of the agent that was started last."""
        return self.wires[-1]

    @property
    def pid(self) -> int:
        assert self.conversation.engine is not None
        assert self.conversation.engine.pid is not None
        return self.conversation.engine.pid


@asynccontextmanager
async def talking(*scripts: Sequence[Step], **earlier: Any) -> AsyncIterator[Talk]:
    """A conversation; at its end all that was sent is checked.

    Args:
        earlier: what was kept of an earlier kernel, as ``Conversation`` takes it.
    """
    talk = Talk(scripts, **earlier)
    try:
        yield talk
    finally:
        await talk.conversation.close()
    for wire in talk.wires:
        check_tape(wire.tape)


def _is_end(event: Event) -> bool:
    return isinstance(event, TurnEnded | TurnBroken)
