"""One end of a newline-delimited JSON-RPC 2.0 connection; client and agent use the same.

The order of the wire is kept by construction: a single reader frames, decodes and dispatches
everything; notification handlers are plain functions that never wait; the handler of requests
may do something before it returns what is to be awaited; and a response can have a hook that runs
inside the reader, so that a frame right behind the response already sees its effect.

Nothing that arrives can break the connection. What is not a message is kept on the tape and passed
over. The connection ends when the other side closes it; then every pending request fails with one
and the same error.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from ..errors import INTERNAL_ERROR, AgentError, RequestFailed, shortened
from .decoding import BYTE_ORDER_MARK, decode, remains
from .fields import as_mapping
from .framing import KEPT, MAX_FRAME, FrameSplitter, Line, Torn
from .masks import masked
from .serving import INVALID_REQUEST, RequestHandler, Serving, cancel
from .tape import Tape

log = logging.getLogger(__name__)

READ_SIZE = 256 * 1024
STRAYS, STRAY_BYTES = 12, 400
LOOKED_AT = 16_000  # bytes of a stray line
# Seconds without a byte from a side that has stopped reading. They are counted in parts: where all
# of us stood still, one of them passes, and after it we read.
STRAGGLERS, PARTS = 1.0, 5


class Reader(Protocol):
    """Where bytes come from; ``b""`` is the end."""

    async def read(self, n: int, /) -> bytes:
        """Up to ``n`` bytes, as soon as there are any."""


class Writer(Protocol):
    """Where bytes go to."""

    def write(self, data: bytes, /) -> None:
        """Write, or keep it to be written; does not wait."""

    async def wait_closed(self) -> None:
        """Wait until nobody reads any more."""


NotificationHandler = Callable[[str, Any], None]


class Peer:
    """Requests, notifications and responses, both ways.

    Args:
        reader: the bytes of the other side.
        writer: our bytes to the other side.
        on_notification: called with method and params, in wire order; must not wait.
        on_request: called with method and params, in wire order; what it returns is awaited in a
            task, and the result of that is the response's, an exception the error's.
        on_lost: awaited with the reason when the other side has ended the connection; returns the
            error that all pending and later requests raise.
        on_skipped: called with the limit when a line was longer than that, and is lost.
        on_stray: called with each line that is no message, which may be one for people.
        gate: awaited between reads with the number of bytes that came; lets a slow consumer hold a
            fast producer back.
        tape: records every line.
    """

    max_frame = MAX_FRAME

    def __init__(  # noqa: PLR0913  # a seam for each thing that can happen on a wire
        self,
        reader: Reader,
        writer: Writer,
        *,
        on_notification: NotificationHandler,
        on_request: RequestHandler,
        on_lost: Callable[[str], Awaitable[AgentError]] | None = None,
        on_skipped: Callable[[int], None] | None = None,
        on_stray: Callable[[str], None] | None = None,
        gate: Callable[[int], Awaitable[None]] | None = None,
        tape: Tape | None = None,
    ) -> None:
        self._reader, self._writer = reader, writer
        self._on_notification = on_notification
        self._serving = Serving(on_request, self._respond)
        self._on_lost, self._on_skipped, self._gate = on_lost, on_skipped, gate
        self._on_stray = on_stray
        self._tape = tape or Tape()
        self._next_id = 0
        self._pending: dict[int, tuple[asyncio.Future[Any], Callable[[Any], None] | None]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._reads, self._listening = 0, False
        self._lost: AgentError | None = None
        self._ending: asyncio.Task[None] | None = None
        self.strays: deque[str] = deque(maxlen=STRAYS)
        self.bad_frames: Counter[str] = Counter()

    async def __aenter__(self) -> Peer:
        self._tasks = [
            asyncio.create_task(self._read(), name="acp reader"),
            asyncio.create_task(self._watch_writer(), name="acp writer watch"),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._ending is None:
            closed = self._fail_all(AgentError("the agent was closed"))
            self._ending = asyncio.create_task(closed, name="acp ending")
        for task in self._tasks:
            cancel(task)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._serving.stop()
        await self.wait_lost()

    @property
    def alive(self) -> bool:
        """Whether requests can still be sent."""
        return self._ending is None

    async def wait_lost(self) -> None:
        """Wait for the end of the connection, whoever ends it."""
        while self._ending is None:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.shield(self._ending)

    # -- out

    def call(
        self, method: str, params: Any = None, on_result: Callable[[Any], None] | None = None
    ) -> tuple[int, asyncio.Future[Any]]:
        """Send a request; returns its id and the future of its result.

        Args:
            on_result: called with the result inside the reader, before any later frame.

        Raises:
            AgentError: the connection has ended.
        """
        self._next_id += 1
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_retrieve)
        if self._lost is not None:
            raise self._lost
        self._send({"id": self._next_id, "method": method, "params": params or {}})
        self._pending[self._next_id] = (future, on_result)
        return self._next_id, future

    async def request(
        self, method: str, params: Any = None, on_result: Callable[[Any], None] | None = None
    ) -> Any:
        """Send a request and wait for its result.

        Raises:
            RequestFailed: the other side answered with an error.
            AgentError: the connection ended before an answer came.
        """
        request_id, future = self.call(method, params, on_result)
        try:
            return await future
        finally:
            self._pending.pop(request_id, None)

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification; to a connection that has ended it goes nowhere."""
        self._send({"method": method, "params": params or {}})

    def _send(self, message: dict[str, Any]) -> None:
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, separators=(",", ":"))
        self._write(text.encode("utf-8", "replace"))

    def _respond(self, response: dict[str, Any]) -> None:
        # In ASCII, for its id has to go back as it came, even one that is no valid Unicode.
        self._write(json.dumps({"jsonrpc": "2.0", **response}, separators=(",", ":")).encode())

    def _write(self, line: bytes) -> None:
        if self._lost is None:
            self._tape.sent(line)
            self._writer.write(line + b"\n")

    # -- in

    async def _read(self) -> None:
        frames = FrameSplitter(self.max_frame)
        try:
            while data := await self._next_bytes():
                for line in frames.feed(data):
                    self._frame(line)
                if self._gate is not None:
                    await self._gate(len(data))
                # A fast producer must not starve the tasks that its requests created.
                await asyncio.sleep(0)
            self._frame(frames.rest())
        finally:
            self._end("closed its output")

    async def _next_bytes(self) -> bytes:
        self._listening = True
        data = await self._reader.read(READ_SIZE)
        self._listening = False
        self._reads += 1
        return data

    async def _watch_writer(self) -> None:
        try:
            await self._writer.wait_closed()
        except OSError as error:
            log.debug("writer: %r", error)
        await self._read_stragglers()
        self._end("stopped reading its input")

    async def _read_stragglers(self) -> None:
        """A process that ends closes its stdin too: what it wrote before is read first."""
        reader, quiet = self._tasks[0], 0
        while not reader.done() and quiet < PARTS:
            before = self._reads
            await asyncio.wait((reader,), timeout=STRAGGLERS / PARTS)
            quiet = quiet + 1 if self._listening and self._reads == before else 0

    def _frame(self, line: Line) -> None:
        if isinstance(line, Torn):
            self._skip(line)
            return
        line = line.removeprefix(BYTE_ORDER_MARK)
        if not line.strip():
            return
        try:
            message, is_common = decode(line)
        except ValueError:
            self._tape.received(line, is_json=False)
            self._stray(line)
            return
        self._tape.received(line, is_common)
        if isinstance(message, dict):
            self._dispatch(message, line)
        else:
            self._batch(message if isinstance(message, list) else [message], line)

    def _batch(self, members: list[Any], line: bytes) -> None:
        for member in members:
            if isinstance(member, dict):
                self._dispatch(member, line)
        if not all(isinstance(member, dict) for member in members):
            self._stray(line)

    def _dispatch(self, message: dict[str, Any], line: bytes) -> None:
        try:
            self._message(message)
        except Exception:
            self.bad_frames["not handled"] += 1
            log.exception("a frame could not be handled: %r", line[:STRAY_BYTES])

    def _stray(self, line: bytes) -> None:
        self.bad_frames["not a message"] += 1
        words = line[:LOOKED_AT].decode("utf-8", "replace")
        self.strays.append(masked(words)[:STRAY_BYTES])
        log.debug("not a message: %r", self.strays[-1])
        if self._on_stray is not None:
            self._on_stray(words)
        found = remains(Torn(line[:KEPT], line[-KEPT:]))
        if found.get("jsonrpc") == "2.0":
            self._give_up(found, "it is broken")

    def _skip(self, torn: Torn) -> None:
        self.bad_frames["too long"] += 1
        self._tape.received(torn.head + b" (a line longer than the limit)", is_json=False)
        if self._on_skipped is not None:
            self._on_skipped(self.max_frame)
        self._give_up(remains(torn), f"its line is longer than {self.max_frame:,} bytes")

    def _give_up(self, found: Mapping[str, Any], why: str) -> None:
        """A frame is lost: whoever waits for it, on either side, must not wait for ever."""
        if "id" not in found:
            return
        if isinstance(found.get("method"), str):
            self._serving.refuse(found["id"], INVALID_REQUEST, f"the request was lost: {why}")
            return
        future, _ = self._pending.pop(_our_id(found["id"]), (None, None))
        if future is not None and not future.done():
            future.set_exception(RequestFailed(INTERNAL_ERROR, f"the answer was lost: {why}"))

    def _message(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None or "result" in message or "error" in message:
            self._response(message)
        elif not isinstance(method, str):
            self._give_up({**message, "method": str(method)}, "its method is no string")
        elif "id" in message:
            self._serving.serve(message["id"], method, message.get("params"))
        elif method == "$/cancel_request":
            self._serving.withdraw(as_mapping(message.get("params")).get("requestId"))
        else:
            self._on_notification(method, message.get("params"))

    def _response(self, message: dict[str, Any]) -> None:
        future, on_result = self._pending.pop(_our_id(message.get("id")), (None, None))
        if future is None:
            self.bad_frames["answer to no request"] += 1
            log.debug("a response to no request: %.200r", message)
            return
        if future.done():
            return
        if message.get("error") is not None:
            future.set_exception(_request_failed(message["error"]))
            return
        try:
            if on_result is not None:
                on_result(message.get("result"))
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(message.get("result"))

    # -- the end

    def _end(self, why: str) -> None:
        if self._ending is None:
            self._ending = asyncio.create_task(self._mourn(why), name="acp ending")

    async def _mourn(self, why: str) -> None:
        error = await self._on_lost(why) if self._on_lost else AgentError(f"the agent {why}")
        await self._fail_all(error)

    async def _fail_all(self, error: AgentError) -> None:
        self._lost = error
        pending, self._pending = self._pending, {}
        for future, _ in pending.values():
            if not future.done():
                future.set_exception(error)


def _our_id(value: Any) -> int:
    """The number of the request that an answer names; 0, which is none, where it names none.

    Some peers give the id back as text, or as a float.
    """
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _request_failed(error: Any) -> RequestFailed:
    if not isinstance(error, dict):
        return RequestFailed(INTERNAL_ERROR, shortened(str(error)))
    code = error.get("code")
    message = error.get("message")
    return RequestFailed(
        code if isinstance(code, int) else INTERNAL_ERROR,
        shortened(message) if isinstance(message, str) else "error",
        error.get("data"),
    )


def _retrieve(future: asyncio.Future[Any]) -> None:
    """Mark an exception as seen: nobody may be waiting for a request that was given up."""
    if not future.cancelled():
        future.exception()
