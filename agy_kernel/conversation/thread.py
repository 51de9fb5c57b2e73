"""The thread that the agent lives in: one asyncio loop, so that a busy kernel never delays it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class AgentThread:
    """An asyncio loop in a daemon thread, started by the first piece of work."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine there; returns its future, for any thread."""
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def close(self) -> None:
        """Cancel what runs there, and wait for the thread's end."""
        loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout=1)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=_run, args=(self._loop,), name="agy agent", daemon=True
            )
            self._thread.start()
        return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.get_loop()  # its end cancels what is left, and closes the loop
