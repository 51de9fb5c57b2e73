"""An ACP agent that plays a tape.

The tape is followed frame by frame. What the agent sent is sent, in that order; where the client
sent something, the same is waited for. What a client sends back to back may come in any order. A
client that sends something else is told where it departed, and nothing is guessed.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Literal

from ..acp.fields import as_mapping
from ..acp.jsonrpc import Peer, Reader, Writer
from ..acp.privacy import Privacy
from ..acp.tape import CLOSED, EXIT
from ..errors import INTERNAL_ERROR, RequestFailed
from .ahead import Ahead
from .arrived import Arrived, Departures, settle
from .frames import Frame
from .meaning import departure, difference
from .names import Names
from .reading import Entry, Header

Speed = Literal["real", "at-once"]
OPTIONAL = "$/"
"""How methods begin that the protocol lets anyone leave out."""


class Replay:
    """Plays a tape to one client.

    Args:
        lines: the lines of one run on the tape.
        speed: ``real`` keeps the agent's pauses; those of the client are the client's own.
        reader: the client's bytes.
        writer: bytes to the client.
        privacy: what was left out of the tape.
        say: told each departure of the client, and what the agent wrote to stderr.
    """

    def __init__(
        self,
        lines: Iterator[Header | Entry],
        speed: Speed,
        reader: Reader,
        writer: Writer,
        privacy: Privacy,
        say: Callable[[str], None],
    ) -> None:
        self._tape, self._speed, self._say = Ahead(lines), speed, say
        self._names, self._writer = Names(privacy), writer
        self._peer = Peer(
            reader, writer, on_notification=self._notified, on_request=self._requested
        )
        self._arrived: deque[Arrived] = deque()
        self._news = asyncio.Event()
        self._open: dict[str, Arrived] = {}  # requests that wait for an answer, by the tape's id
        self._replies: dict[str, asyncio.Future[Any]] = {}  # the client's, by the tape's id
        self._given_up: set[str] = set()  # the tape's ids of requests that were failed
        self._anchor: tuple[float, float] | None = None
        self._is_over = False
        self._exit: int | None = None
        self._was_closed = False
        self._departures = Departures(say)

    async def serve(self) -> int | None:
        """Play until the client has gone; ``departures`` tells how often it departed from the tape.

        Returns:
            The exit status of the agent, where it ended by itself before the client had gone.

        Raises:
            TapeError: the tape cannot be used any further.
        """
        async with self._peer:
            playing = asyncio.create_task(self._play(), name="replay")
            gone = asyncio.create_task(self._peer.wait_lost(), name="client gone")
            try:
                await asyncio.wait((playing, gone), return_when=asyncio.FIRST_COMPLETED)
                if playing.done():
                    playing.result()
            finally:
                self._is_over = True
                playing.cancel()
                gone.cancel()
        return self._exit

    @property
    def departures(self) -> int:
        """How often the client departed from the tape."""
        return self._departures.count

    # -- what the client sends

    def _notified(self, method: str, params: Any) -> None:
        self._arrived.append(Arrived(method, params))
        self._news.set()

    def _requested(self, method: str, params: Any) -> Awaitable[Any]:
        arrived = Arrived(method, params, asyncio.get_running_loop().create_future())
        self._arrived.append(arrived)
        self._news.set()
        return self._answer(arrived)

    async def _answer(self, arrived: Arrived) -> Any:
        assert arrived.answer is not None
        # A client that withdraws its request gets what the agent answered all the same.
        while not arrived.answer.done():
            try:
                await asyncio.wait((arrived.answer,))
            except asyncio.CancelledError:
                if self._is_over:
                    raise
        # The answer is written before anything else can run.
        asyncio.get_running_loop().call_soon(arrived.written.set)
        return arrived.answer.result()

    # -- the tape

    async def _play(self) -> None:
        while self._exit is None and (frame := self._tape.next()) is not None:
            if self._given_up:
                self._pass_over(frame)
            elif frame.entry.direction == "c2a":
                await self._expect(self._together(frame))
            else:
                await self._due(frame)
                await self._send(frame)
        if self._exit is None:
            await self._end()

    def _pass_over(self, frame: Frame) -> None:
        if frame.kind == "response" and frame.entry.direction == "a2c":
            self._given_up.discard(frame.id)

    def _together(self, first: Frame) -> list[Frame]:
        """The frames that the client sent without hearing anything in between."""
        frames = [first]
        while (frame := self._tape.peek()) is not None and frame.entry.direction == "c2a":
            frames.append(frame)
            self._tape.next()
        return [f for f in frames if f.kind != "line" and not f.method.startswith(OPTIONAL)]

    async def _due(self, frame: Frame) -> None:
        if self._speed == "at-once":
            await asyncio.sleep(0)  # what the client sends meanwhile is read
            return
        now, t = asyncio.get_running_loop().time(), frame.entry.t
        taped, real = self._anchor = self._anchor or (t, now)
        await asyncio.sleep(max(0.0, t - taped - (now - real)))

    # -- the agent's side of it

    async def _send(self, frame: Frame) -> None:
        if frame.entry.direction == "stderr":
            self._say(f"{frame.message}")
        elif frame.kind == "request":
            self._ask(frame)
        elif frame.kind == "notification":
            self._peer.notify(frame.method, self._names.ours(frame.body))
        elif frame.kind == "response" and frame.id in self._open:
            await self._respond(self._open.pop(frame.id), frame)
        elif frame.kind == "note":
            self._heed(as_mapping(frame.body))
        elif frame.kind == "line":
            text = frame.message if isinstance(frame.message, str) else json.dumps(frame.message)
            self._writer.write(text.encode("utf-8", "replace") + b"\n")

    def _heed(self, note: Mapping[str, Any]) -> None:
        if isinstance(status := note.get(EXIT), int):
            self._exit = status
        self._was_closed = self._was_closed or CLOSED in note

    async def _respond(self, request: Arrived, frame: Frame) -> None:
        body = self._names.ours(frame.body)
        if frame.is_error:
            found = body if isinstance(body, dict) else {"message": str(body)}
            code = found.get("code")
            failed = RequestFailed(
                code if isinstance(code, int) else INTERNAL_ERROR,
                str(found.get("message", "error")),
                found.get("data"),
            )
            settle(request, failed)
        else:
            settle(request, body)
        await request.written.wait()

    def _ask(self, frame: Frame) -> None:
        """Send a request of the agent's; what the client replies is compared as it comes."""
        _, reply = self._peer.call(frame.method, self._names.ours(frame.body))
        taped = self._tape.find(
            lambda f: f.entry.direction == "c2a" and f.kind == "response" and f.id == frame.id
        )
        self._replies[frame.id] = reply
        reply.add_done_callback(lambda done: self._replied(done, taped))

    def _replied(self, reply: asyncio.Future[Any], taped: Frame | None) -> None:
        self._news.set()
        if taped is None or reply.cancelled() or self._is_over:
            return
        error = reply.exception()
        if error is not None and not isinstance(error, RequestFailed):
            return
        if error is not None or taped.is_error:
            one, other = taped.error_code, error.code if isinstance(error, RequestFailed) else None
            found = f"the error is {other}, not {one}" if one != other else ""
        else:
            found = difference(taped.body, self._names.as_taped(reply.result()), "result")
        if found:
            self._give_up(self._departures.add(taped, f"the answer to {taped.method}", found))

    # -- the client's side of it

    async def _expect(self, frames: list[Frame]) -> None:
        """Wait until the client has sent these frames, in any order."""
        while frames and not self._given_up:
            frames = [f for f in frames if not (f.kind == "response" and self._has_reply(f))]
            while self._arrived and frames and not self._given_up:
                self._match(self._arrived.popleft(), frames)
            if frames and not self._given_up:
                self._news.clear()
                await self._wait_for_news()

    async def _wait_for_news(self) -> None:
        if not self._arrived:
            await self._news.wait()

    def _has_reply(self, frame: Frame) -> bool:
        reply = self._replies.get(frame.id)
        return reply is None or reply.done()

    def _match(self, arrived: Arrived, frames: list[Frame]) -> None:
        if arrived.method.startswith(OPTIONAL) and arrived.answer is None:
            return
        params = self._names.params_as_taped(arrived.method, arrived.params)
        why = ""
        for frame in frames:
            if (frame.method, frame.kind == "request") != (arrived.method, bool(arrived.answer)):
                continue
            found = departure(frame.method, frame.body, params)
            if not found:
                frames.remove(frame)
                self._found(frame, arrived)
                return
            why = why or found
        failed = self._departures.add(frames[0], arrived.name, why)
        settle(arrived, failed)

    def _found(self, frame: Frame, arrived: Arrived) -> None:
        self._names.learn(frame.body, arrived.params)
        self._anchor = frame.entry.t, asyncio.get_running_loop().time()
        if arrived.answer is not None:
            self._open[frame.id] = arrived

    async def _end(self) -> None:
        line = self._tape.line
        # An agent that the client has ended owes no answer any more.
        for request in () if self._was_closed else self._open.values():
            settle(request, self._departures.without_answer(line, request.name))
        while True:
            while self._arrived:
                arrived = self._arrived.popleft()
                settle(arrived, self._departures.add_behind_the_end(self._tape.line, arrived.name))
            self._news.clear()
            await self._wait_for_news()

    def _give_up(self, failed: RequestFailed) -> None:
        """What the agent did next it did not do after this: what runs is ended."""
        for taped, request in self._open.items():
            self._given_up.add(taped)
            settle(request, failed)
        self._open.clear()
        self._news.set()
