"""The requests of the other side: each is answered exactly once, with the id that it came with."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from ..errors import INTERNAL_ERROR, RequestFailed

log = logging.getLogger(__name__)

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
REQUEST_CANCELLED = -32800

RequestHandler = Callable[[str, Any], Awaitable[Any]]


class MethodNotFound(RequestFailed):
    """We do not serve this method."""

    def __init__(self, method: str) -> None:
        super().__init__(METHOD_NOT_FOUND, "Method not found", {"method": method})


class Serving:
    """The requests that are being served.

    Args:
        handler: called with method and params, in wire order; what it returns is awaited in a
            task, and the result of that is the response's, an exception the error's.
        send: called with each response.
    """

    def __init__(self, handler: RequestHandler, send: Callable[[dict[str, Any]], None]) -> None:
        self._handler, self._send = handler, send
        self._running: dict[asyncio.Task[None], str] = {}

    def serve(self, request_id: Any, method: str, params: Any) -> None:
        """Serve a request; the id may be any JSON value."""
        try:
            work = self._handler(method, params)
        except Exception as error:
            work = _raising(error)
        task = asyncio.create_task(self._answer(request_id, method, work), name=f"acp {method}")
        self._running[task] = json.dumps(request_id)
        task.add_done_callback(self._running.pop)

    def refuse(self, request_id: Any, code: int, message: str) -> None:
        """Answer what cannot be served with an error."""
        self._send(_error(request_id, code, message))

    def withdraw(self, request_id: Any) -> None:
        """The other side does not wait any more for an answer; it gets one all the same."""
        key = json.dumps(request_id)
        for task in [task for task, served in self._running.items() if served == key]:
            cancel(task)

    async def stop(self) -> None:
        """Give up what is being served."""
        tasks = list(self._running)
        for task in tasks:
            cancel(task)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, request_id: Any, method: str, work: Awaitable[Any]) -> None:
        try:
            result = await work
            response = {"id": request_id, "result": {} if result is None else result}
        except asyncio.CancelledError:
            response = _error(request_id, REQUEST_CANCELLED, "Request cancelled")
        except RequestFailed as error:
            response = _error(request_id, error.code, error.message, error.data)
        except Exception as error:
            log.exception("serving %s", method)
            response = _error(request_id, INTERNAL_ERROR, "Internal error", {"details": str(error)})
        self._send(response)


def cancel(task: asyncio.Task[None]) -> None:
    """Cancel a task, but not before its first step, or it would not even begin."""
    asyncio.get_running_loop().call_soon(task.cancel)


def _error(request_id: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message}
    return {"id": request_id, "error": error if data is None else {**error, "data": data}}


async def _raising(error: Exception) -> Any:
    raise error
