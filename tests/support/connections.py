"""Connections to scripted agents, with their events and their wire in a test's hands."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from agy_kernel.acp.connection import Connection
from agy_kernel.acp.process import Launch
from agy_kernel.acp.tape import Direction, Tape
from agy_kernel.events import Asked, Event, Progress, TextChunk
from agy_kernel.questions import Permission
from tests.agents.scripted import Step, command
from tests.support.oracle import check_tape

E = TypeVar("E")
Frame = dict[str, Any]
PROMPT = [{"type": "text", "text": "Hello"}]


class Heard:
    """Events, in the order in which they came; one can wait for one."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._news = asyncio.Event()

    def take(self, event: Event) -> None:
        self.events.append(event)
        self._news.set()

    async def until(self, wanted: Callable[[Event], bool]) -> Event:
        """The first event of a sort, waiting for it."""
        while not (found := [event for event in self.events if wanted(event)]):
            self._news.clear()
            await self._news.wait()
        return found[0]

    async def question(self, call: str = "c1") -> Permission:
        """The question about a call, waiting for it."""
        event = await self.until(lambda e: _asks_about(e, call))
        assert isinstance(event, Asked)
        assert isinstance(event.question, Permission)
        return event.question

    async def words(self, text: str) -> None:
        """Wait until the agent has said this, in one piece."""
        await self.until(lambda e: isinstance(e, TextChunk) and e.text == text)

    def of(self, kind: type[E]) -> list[E]:
        """All events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def kinds(self) -> list[type[Event]]:
        """The kinds of the events, in order, but for what tells how long the start takes."""
        return [type(event) for event in self.events if not isinstance(event, Progress)]

    @property
    def text(self) -> str:
        """All that the agent said."""
        return "".join(e.text for e in self.of(TextChunk) if e.role == "agent")


def _asks_about(event: Event, call: str) -> bool:
    question = event.question if isinstance(event, Asked) else None
    return isinstance(question, Permission) and question.call.id == call


class Wire:
    """What passed between us and the agent, as the tape has it; one can wait for what passes."""

    def __init__(self) -> None:
        self._passed = asyncio.Event()
        self.tape: Tape = _WatchedTape(self._passed)

    async def until_sent(self, method: str) -> None:
        """Wait until we have sent a frame of this method."""
        await self.until(lambda: bool(self.sent(method)))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until what has passed meets a condition."""
        while not condition():
            self._passed.clear()
            await self._passed.wait()

    def entries(self, direction: str) -> list[dict[str, Any]]:
        """The tape's entries of one direction: ``c2a``, ``a2c`` or ``stderr``."""
        recorded = [json.loads(line) for line in self.tape.tail(1_000_000)]
        return [entry for entry in recorded if entry["dir"] == direction]

    def sent(self, method: str | None = None) -> list[Frame]:
        """The frames that we sent; those of one method where it is named."""
        frames = [entry["msg"] for entry in self.entries("c2a")]
        return [f for f in frames if method is None or f.get("method") == method]

    def methods(self) -> list[str]:
        """What we sent, in order: methods, and "answer" for the answers."""
        return [frame.get("method", "answer") for frame in self.sent()]

    def answers(self) -> dict[Any, Frame]:
        """What we answered, by the id of the request; each was answered once."""
        frames = [frame for frame in self.sent() if "method" not in frame]
        by_id = {json.dumps(frame["id"]): frame for frame in frames}
        assert len(by_id) == len(frames), frames
        return {json.loads(key): frame for key, frame in by_id.items()}

    def told(self, method: str) -> list[Any]:
        """The params of the agent's notifications of a method."""
        frames = [e["msg"] for e in self.entries("a2c")]
        return [f["params"] for f in frames if isinstance(f, dict) and f.get("method") == method]


class _WatchedTape(Tape):
    """A tape that tells when something passes."""

    def __init__(self, passed: asyncio.Event) -> None:
        super().__init__()
        self._passed = passed

    def _record(self, direction: Direction, line: bytes, is_json: bool = True) -> None:
        super()._record(direction, line, is_json)
        self._passed.set()


class Agent:
    """A connection to a scripted agent."""

    def __init__(self, launch: Launch, **options: Any) -> None:
        self.wire = Wire()
        self.heard: dict[str, Heard] = {}
        self.all = Heard()
        self.connection = Connection(launch, "/", self._take, tape=self.wire.tape, **options)

    def _take(self, session_id: str, event: Event) -> None:
        self.of_session(session_id).take(event)
        self.all.take(event)

    def of_session(self, session_id: str) -> Heard:
        """What was heard of a session."""
        return self.heard.setdefault(session_id, Heard())

    async def prompt(self, session_id: str = "s1") -> None:
        await self.connection.prompt(session_id, PROMPT)


@asynccontextmanager
async def agent(
    *steps: Step, env: dict[str, str] | None = None, auth_needs: Any = None, **options: Any
) -> AsyncIterator[Agent]:
    """A scripted agent that is not started yet; at the end all that we sent is checked."""
    launch = Launch("scripted", command(*steps), env or {}, auth_needs or {})
    made = Agent(launch, **options)
    try:
        yield made
    finally:
        await made.connection.close()
    check_tape(made.wire.tape)


@asynccontextmanager
async def started(*steps: Step, **options: Any) -> AsyncIterator[Agent]:
    """A scripted agent that was started."""
    async with agent(*steps, **options) as made:
        await made.connection.start()
        yield made


@asynccontextmanager
async def opened(*steps: Step, **options: Any) -> AsyncIterator[Agent]:
    """A scripted agent with the session ``s1``, which its script opens."""
    async with started(*steps, **options) as made:
        await made.connection.open_session("new", "/w")
        yield made
