"""A second engine: it lives in this process, has no wire, and follows the probes' prompts.

Its faults are subclasses, each of which does one thing wrong.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from agy_kernel.abilities import AgentInfo, AuthMethod, Capabilities
from agy_kernel.conversation.engine import EventSink, Opening
from agy_kernel.errors import AgentError, AgentExited, AuthenticationRequired, RequestFailed
from agy_kernel.events import (
    EFFORT,
    MODEL,
    Asked,
    Choice,
    Choices,
    Event,
    SessionInfo,
    SessionOpened,
    SessionState,
    TextChunk,
    ToolCallUpdate,
    TurnEnded,
)
from agy_kernel.mcp import McpServer
from agy_kernel.probes.engines import Place
from agy_kernel.questions import Option, Permission

DEFAULTS = {MODEL: "large", EFFORT: "high"}
OFFERS = {MODEL: ("large", "small"), EFFORT: ("high", "low")}
ALLOW_OR_DENY = (Option("yes", "Allow", "allow_once"), Option("no", "Deny", "reject_once"))


@dataclass
class Memory:
    """What outlives an engine: sessions, by id."""

    sessions: dict[str, Session] = field(default_factory=dict)


@dataclass
class Session:
    words: list[str] = field(default_factory=list)
    chosen: dict[str, str] = field(default_factory=lambda: dict(DEFAULTS))


class Bridge:
    """A tool that answers with the text backwards."""

    name, tool = "mirror", "turn_round"

    def __init__(self) -> None:
        self.texts: list[str] = []

    @property
    def calls(self) -> int:
        return len(self.texts)

    @property
    def server(self) -> McpServer:
        return McpServer("http", url="http://127.0.0.1:9/mcp")

    def result(self, text: str) -> str:
        return text[::-1]

    def call(self, text: str) -> str:
        self.texts.append(text)
        return self.result(text)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Bridge]:
        yield self


class MemoryEngine:
    """An engine without a process.

    Args:
        place: what it is made for.
        on_event: hears what it says.
        memory: of its sessions.
        bridge: what stands behind the one MCP server that it can reach.
    """

    title = "turn_round (mirror MCP Server)"
    """What it calls a call of the bridge's tool when it announces it."""
    asks: ToolCallUpdate | None = None
    """What leave is asked for, where it is told in other words."""
    pause = 0.0
    """Seconds before each piece of text."""

    def __init__(
        self, place: Place, on_event: EventSink, memory: Memory, bridge: Bridge | None = None
    ) -> None:
        self._place, self._on_event, self._memory, self._bridge = place, on_event, memory, bridge
        self._is_cancelled = False
        self._lost: asyncio.Future[AgentError] = asyncio.get_running_loop().create_future()
        self.info = AgentInfo("memory", "In-memory engine", "1")
        self.capabilities = Capabilities(load_session=True, mcp_http=True)
        self.auth_methods: tuple[AuthMethod, ...] = ()
        self.pid: int | None = None
        self.bad_frames: Mapping[str, int] = {}
        self.last_words = ""

    # -- life

    @property
    def alive(self) -> bool:
        return not self._lost.done()

    async def start(self) -> None:
        await asyncio.sleep(0)

    def terminate(self) -> None:
        self._end("was ended")

    def kill(self) -> None:
        self._end("was killed")

    def _end(self, why: str) -> None:
        if not self._lost.done():
            self._lost.set_result(AgentExited(why))

    async def wait_lost(self) -> AgentError:
        return await asyncio.shield(self._lost)

    async def close(self) -> None:
        self._end("was closed")

    # -- sessions

    async def authenticate(self, method_id: str) -> None:
        raise RequestFailed(-32601, "there is nothing to sign in to")

    async def logout(self) -> None:
        raise RequestFailed(-32601, "there is nothing to sign out of")

    async def open_session(self, how: Opening, cwd: str, session_id: str = "") -> SessionState:
        if how == "new":
            session_id = str(uuid.uuid4())
            self._memory.sessions[session_id] = Session()
        elif how == "load":
            self._load(session_id)
        else:
            raise RequestFailed(-32601, f"{how} is unknown here")
        state = SessionState(session_id, self._choices(session_id))
        self._on_event(session_id, SessionOpened(state))
        return state

    def _load(self, session_id: str) -> None:
        if session_id not in self._memory.sessions:
            raise RequestFailed(-32000, "Session not found")
        for words in self._memory.sessions[session_id].words:
            self._on_event(session_id, TextChunk("user", words))

    def _choices(self, session_id: str) -> dict[str, Choices]:
        chosen = self._memory.sessions[session_id].chosen
        return {
            what: Choices(chosen[what], tuple(Choice(i, i.title()) for i in ids))
            for what, ids in OFFERS.items()
        }

    async def choose(self, session_id: str, what: str, choices: Choices, value: str) -> Choices:
        self._memory.sessions[session_id].chosen[what] = value
        return replace(choices, current=value)

    async def list_sessions(self, cwd: str) -> list[SessionInfo]:
        return [SessionInfo(session_id, cwd) for session_id in self._memory.sessions]

    async def close_session(self, session_id: str) -> None:
        self._is_cancelled = True

    async def delete_session(self, session_id: str) -> None:
        del self._memory.sessions[session_id]

    # -- turns

    def cancel(self, session_id: str) -> None:
        self._is_cancelled = True

    def cancel_request(self, session_id: str) -> None:
        self._is_cancelled = True

    async def prompt(self, session_id: str, blocks: Sequence[dict[str, Any]]) -> None:
        self._is_cancelled = False
        words = str(blocks[-1]["text"])
        self._memory.sessions[session_id].words.append(words)
        await self._answer(session_id, words)
        self._tell(session_id, TurnEnded("cancelled" if self._is_cancelled else "end_turn"))

    async def _answer(self, session_id: str, words: str) -> None:
        if words.startswith("Error"):
            self._fail()
        elif called := re.match(r"Call the tool .* with the text (\S+?),", words):
            await self._say(session_id, [await self._call(session_id, called[1])])
        else:
            await self._say(session_id, self._reply(session_id, words))

    def _fail(self) -> None:
        raise RequestFailed(-32603, "the model is not reached")

    def _reply(self, session_id: str, words: str) -> Iterator[str]:
        if found := re.match(r"Count from 1 to (\d+)", words):
            return (f"{n}\n" for n in range(1, int(found[1]) + 1))
        if found := re.search(r"Reply with exactly: ([^.]+)\.", words):
            return iter(found[1])
        said = " ".join(self._memory.sessions[session_id].words)
        return iter(re.findall(r"Remember the word ([\w-]+)", said)[-1:] or ["none"])

    async def _say(self, session_id: str, pieces: Iterator[str] | list[str]) -> None:
        for piece in pieces:
            await asyncio.sleep(self.pause)
            if self._lost.done():
                raise self._lost.result()
            if self._is_cancelled:
                return
            self._tell(session_id, TextChunk("agent", piece))

    async def _call(self, session_id: str, text: str) -> str:
        call = ToolCallUpdate("c1", self.title, "other", "pending", raw_input={"text": text})
        question = Permission(self.asks or call, ALLOW_OR_DENY)
        self._tell(session_id, call)
        self._tell(session_id, Asked(question))
        answer = await asyncio.wrap_future(question.reply)
        if self._bridge is None or self._bridge.name not in self._place.servers:
            return "I have no such tool."
        return self._bridge.call(text) if answer.allowed else "I may not."

    def _tell(self, session_id: str, event: Event) -> None:
        self._on_event(session_id, event)


# -- engines that do not do everything, and can be got along with


class WholeText(MemoryEngine):
    """A text comes in one piece."""

    def _reply(self, session_id: str, words: str) -> Iterator[str]:
        return iter(["".join(super()._reply(session_id, words))])


class SaysAgain(MemoryEngine):
    """Each piece is the whole text so far."""

    def _reply(self, session_id: str, words: str) -> Iterator[str]:
        so_far = ""
        for piece in super()._reply(session_id, words):
            yield (so_far := so_far + piece)


class Forgets(MemoryEngine):
    """What is chosen is not kept with the session."""

    def _load(self, session_id: str) -> None:
        super()._load(session_id)
        self._memory.sessions[session_id].chosen = dict(DEFAULTS)


class EndsOnlyByKill(MemoryEngine):
    """Nothing but the end of the process ends a turn."""

    pause = 0.01

    def cancel(self, session_id: str) -> None: ...
    def cancel_request(self, session_id: str) -> None: ...
    async def close_session(self, session_id: str) -> None: ...


class AsksInOtherWords(MemoryEngine):
    """Leave is asked for a call under another title than it was announced by."""

    asks = ToolCallUpdate("c1", "Approve MCP tool call", asked=True)


class ChoosesNothing(MemoryEngine):
    """There is one model, and no effort."""

    def _choices(self, session_id: str) -> dict[str, Choices]:
        return {MODEL: Choices("large", (Choice("large", "Large"),))}


class SignedOut(MemoryEngine):
    """Somebody has to sign in first."""

    async def open_session(self, how: Opening, cwd: str, session_id: str = "") -> SessionState:
        raise AuthenticationRequired("Sign in first.")


# -- engines with a fault


class EndsTooEarly(MemoryEngine):
    """The turn ends after its first piece; the others come during the next one."""

    _late: list[str] = []  # noqa: RUF012 - nobody writes into it

    async def _say(self, session_id: str, pieces: Iterator[str] | list[str]) -> None:
        late, self._late = self._late, []
        first, *self._late = pieces
        await super()._say(session_id, [*late, first, *(self._late if late else [])])


class BeginsTooEarly(MemoryEngine):
    """The last of a turn comes when the next has begun."""

    _last: TextChunk | None = None

    async def _say(self, session_id: str, pieces: Iterator[str] | list[str]) -> None:
        first, *others = (TextChunk("agent", piece, "one") for piece in pieces)
        if self._last is None:
            *others, self._last = others
            said = [first, *others]
        else:
            said = [replace(first, message_id="two"), self._last]
        for chunk in said:
            self._tell(session_id, chunk)


class LosesWords(MemoryEngine):
    """A session that is opened again is empty."""

    def _load(self, session_id: str) -> None:
        super()._load(session_id)
        self._memory.sessions[session_id].words.clear()


class LosesSessions(MemoryEngine):
    """No session can be opened again."""

    def _load(self, session_id: str) -> None:
        raise RequestFailed(-32000, "Session not found")


class SaysOldThings(MemoryEngine):
    """The first turn of a session that is opened again begins with what was said there."""

    def _reply(self, session_id: str, words: str) -> Iterator[str]:
        yield from ["NOTED. "] if len(self._memory.sessions[session_id].words) > 2 else []
        yield from super()._reply(session_id, words)


class SwallowsErrors(MemoryEngine):
    """A turn that fails ends as if it had not."""

    def _fail(self) -> None: ...


class KnowsAnySession(MemoryEngine):
    """Any session that is to be opened again is there, and empty."""

    def _load(self, session_id: str) -> None:
        self._memory.sessions.setdefault(session_id, Session())


class DiesQuietly(MemoryEngine):
    """A turn in whose middle the process is killed ends as if it had been whole."""

    async def _say(self, session_id: str, pieces: Iterator[str] | list[str]) -> None:
        try:
            await super()._say(session_id, pieces)
        except AgentExited:
            return


class LosesChoices(MemoryEngine):
    """What is chosen is not what is said to be chosen."""

    async def choose(self, session_id: str, what: str, choices: Choices, value: str) -> Choices:
        return choices


class RefusesChoices(MemoryEngine):
    """Nothing can be chosen."""

    async def choose(self, session_id: str, what: str, choices: Choices, value: str) -> Choices:
        raise RequestFailed(-32602, "Invalid params")


class NeverEnds(MemoryEngine):
    """A long turn stays open, whatever is done to it."""

    async def _say(self, session_id: str, pieces: Iterator[str] | list[str]) -> None:
        begin = list(pieces)[:100]
        await super()._say(session_id, begin)
        if len(begin) == 100:
            await asyncio.Event().wait()


class CallsAnother(MemoryEngine):
    """Leave is asked for another tool."""

    title = "delete_all (mirror MCP Server)"


class AsksForAnother(MemoryEngine):
    """Leave is asked for another tool than the one that was announced."""

    asks = ToolCallUpdate("c1", "delete_all (mirror MCP Server)", asked=True)


class AsksToRun(MemoryEngine):
    """Leave is asked for a command."""

    asks = ToolCallUpdate("c1", "Run it", "execute", raw_input={"command": "true"}, asked=True)


class CallsNothing(MemoryEngine):
    """The result is made up."""

    async def _call(self, session_id: str, text: str) -> str:
        return text[::-1]


class HidesResults(MemoryEngine):
    """The result is not in the answer."""

    async def _call(self, session_id: str, text: str) -> str:
        await super()._call(session_id, text)
        return "Done."
