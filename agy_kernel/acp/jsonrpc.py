"""One end of a newline-delimited JSON-RPC 2.0 connection; client and agent use the same.

The order of the wire is kept by construction: a single reader frames, decodes and dispatches
everything; notification handlers are plain functions that never wait; requests from the other
side become tasks that are *created* in wire order; and a response can have a hook that runs
inside the reader, so that a frame right behind the response already sees its effect.

Nothing that arrives can break the connection. What is not a message is counted, kept on the tape
and passed over. The connection ends when the other side closes it; then every pending request
fails with one and the same error.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from ..errors import AgentError, RequestFailed
from .tape import Tape

log = logging.getLogger(__name__)

READ_SIZE = 256 * 1024
MAX_FRAME = 256 * 1024 * 1024

METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
STRAGGLERS = 1.0  # seconds for what is still in the pipe after the other side stopped reading


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
RequestHandler = Callable[[str, Any], Awaitable[Any]]


class MethodNotFound(RequestFailed):
    """We do not serve this method."""

    def __init__(self, method: str) -> None:
        super().__init__(METHOD_NOT_FOUND, "Method not found", {"method": method})


class Peer:
    """Requests, notifications and responses, both ways.

    Args:
        reader: the bytes of the other side.
        writer: our bytes to the other side.
        on_notification: called with method and params, in wire order; must not wait.
        on_request: awaited with method and params; its result is the response's, an exception the
            error's.
        on_lost: awaited with the reason when the connection has ended; returns the error that all
            pending and later requests raise.
        gate: awaited between reads; lets a slow consumer hold a fast producer back.
        tape: records every line.
        max_frame: bytes; a longer line is passed over, and counted.
    """

    def __init__(
        self,
        reader: Reader,
        writer: Writer,
        *,
        on_notification: NotificationHandler,
        on_request: RequestHandler,
        on_lost: Callable[[str], Awaitable[AgentError]] | None = None,
        gate: Callable[[], Awaitable[None]] | None = None,
        tape: Tape | None = None,
        max_frame: int = MAX_FRAME,
    ) -> None:
        self._reader, self._writer = reader, writer
        self._on_notification, self._on_request = on_notification, on_request
        self._on_lost, self._gate = on_lost, gate
        self._tape = tape or Tape()
        self._max_frame = max_frame
        self._next_id = 0
        self._pending: dict[int, tuple[asyncio.Future[Any], Callable[[Any], None] | None]] = {}
        self._serving: dict[str, asyncio.Task[None]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._lost: AgentError | None = None
        self._ending: asyncio.Task[None] | None = None
        self.bad_frames = 0

    async def __aenter__(self) -> Peer:
        self._tasks = [
            asyncio.create_task(self._read(), name="acp reader"),
            asyncio.create_task(self._watch_writer(), name="acp writer watch"),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._end("was closed")
        tasks = [*self._tasks, *self._serving.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
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
        self._pending[self._next_id] = (future, on_result)
        self._send({"id": self._next_id, "method": method, "params": params or {}})
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
        if self._lost is not None:
            return
        message = {"jsonrpc": "2.0", **message}
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        data = line.encode("utf-8", "replace")
        self._tape.sent(data)
        self._writer.write(data + b"\n")

    # -- in

    async def _read(self) -> None:
        frames = FrameSplitter(self._max_frame)
        try:
            while data := await self._reader.read(READ_SIZE):
                for line in frames.feed(data):
                    self._frame(line)
                if self._gate is not None:
                    await self._gate()
                # A fast producer must not starve the tasks that its requests created.
                await asyncio.sleep(0)
            self._frame(frames.rest())
        finally:
            self._end("closed its output")

    async def _watch_writer(self) -> None:
        try:
            # Shielded: cancelling it would cancel asyncio's own note of the pipe's end.
            await asyncio.shield(self._writer.wait_closed())
        except OSError as error:
            log.debug("writer: %r", error)
        # A process that ends closes its stdin too: what it wrote before is read first.
        await asyncio.wait(self._tasks[:1], timeout=STRAGGLERS)
        self._end("stopped reading its input")

    def _frame(self, line: bytes | None) -> None:
        if line is None:
            self._bad(b"(a line longer than the limit)")
            return
        if not line.strip():
            return
        try:
            message = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            self._tape.received(line, is_json=False)
            self._bad(line)
            return
        self._tape.received(line)
        for item in message if isinstance(message, list) else (message,):
            if not isinstance(item, dict):
                self._bad(line)
                continue
            try:
                self._message(item)
            except Exception:
                log.exception("a frame could not be handled")
                self._bad(line)

    def _bad(self, line: bytes) -> None:
        self.bad_frames += 1
        log.warning("not a JSON-RPC message: %r", line[:200])

    def _message(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if not isinstance(method, str):
            self._response(message)
        elif "id" in message:
            self._serve(message["id"], method, message.get("params"))
        elif method == "$/cancel_request":
            params = message.get("params")
            request_id = params.get("requestId") if isinstance(params, dict) else None
            if task := self._serving.get(json.dumps(request_id)):
                task.cancel()
        else:
            self._on_notification(method, message.get("params"))

    def _response(self, message: dict[str, Any]) -> None:
        request_id = message.get("id")
        if isinstance(request_id, str) and request_id.isdigit():
            request_id = int(request_id)  # some peers answer with the id as text
        if not isinstance(request_id, int) or request_id not in self._pending:
            self._bad(json.dumps(message)[:200].encode())
            return
        future, on_result = self._pending.pop(request_id)
        if future.done():
            return
        if (error := message.get("error")) is not None:
            future.set_exception(_request_failed(error))
            return
        if on_result is not None:
            on_result(message.get("result"))
        future.set_result(message.get("result"))

    # -- requests of the other side

    def _serve(self, request_id: Any, method: str, params: Any) -> None:
        key = json.dumps(request_id)
        task = asyncio.create_task(self._answer(request_id, method, params), name=f"acp {method}")
        self._serving[key] = task
        task.add_done_callback(lambda _: self._serving.pop(key, None))

    async def _answer(self, request_id: Any, method: str, params: Any) -> None:
        try:
            result = await self._on_request(method, params)
            response = {"id": request_id, "result": {} if result is None else result}
        except asyncio.CancelledError:
            response = _error(request_id, REQUEST_CANCELLED, "Request cancelled")
        except RequestFailed as error:
            response = _error(request_id, error.code, error.message, error.data)
        except Exception as error:
            log.exception("serving %s", method)
            response = _error(request_id, INTERNAL_ERROR, "Internal error", {"details": str(error)})
        self._send(response)

    # -- the end

    def _end(self, why: str) -> None:
        if self._ending is None:
            self._ending = asyncio.create_task(self._fail_all(why), name="acp ending")

    async def _fail_all(self, why: str) -> None:
        error = await self._on_lost(why) if self._on_lost else AgentError(f"the agent {why}")
        self._lost = error
        pending, self._pending = self._pending, {}
        for future, _ in pending.values():
            if not future.done():
                future.set_exception(error)


class FrameSplitter:
    """Cuts a stream of bytes into lines, however the bytes are split.

    Args:
        max_frame: bytes; of a longer line only the fact is reported, as None.
    """

    def __init__(self, max_frame: int = MAX_FRAME) -> None:
        self._max_frame = max_frame
        self._open = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes | None]:
        """Take some bytes; returns the lines that they complete, without their newlines."""
        *ended, rest = data.split(b"\n")
        lines: list[bytes | None] = []
        for piece in ended:
            lines += self._close(piece)
        self._extend(rest, lines)
        return lines

    def rest(self) -> bytes:
        """What came after the last newline."""
        return bytes(self._open)

    def _close(self, piece: bytes) -> list[bytes | None]:
        if self._skipping:
            self._skipping = False
            return []
        if len(self._open) + len(piece) > self._max_frame:
            self._open.clear()
            return [None]
        if not self._open:
            return [piece]
        line = bytes(self._open + piece)
        self._open.clear()
        return [line]

    def _extend(self, rest: bytes, lines: list[bytes | None]) -> None:
        if self._skipping:
            return
        self._open += rest
        if len(self._open) > self._max_frame:
            self._open.clear()
            self._skipping = True
            lines.append(None)


def _error(request_id: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message}
    return {"id": request_id, "error": error if data is None else {**error, "data": data}}


def _request_failed(error: Any) -> RequestFailed:
    if not isinstance(error, dict):
        return RequestFailed(INTERNAL_ERROR, str(error))
    code = error.get("code")
    message = error.get("message")
    return RequestFailed(
        code if isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else "error",
        error.get("data"),
    )


def _retrieve(future: asyncio.Future[Any]) -> None:
    """Mark an exception as seen: nobody may be waiting for a request that was given up."""
    if not future.cancelled():
        future.exception()
