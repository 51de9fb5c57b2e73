"""Where everything that concerns a running turn arrives, from whichever thread it comes."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..events import Event
from .shown import Shown

ROOM, ROOM_BYTES = 4_000, 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CommMessage:
    """A widget message from the front end, as ZMQ frames."""

    frames: list[Any]


@dataclass(frozen=True, slots=True)
class Interrupt:
    """The person pressed Stop."""


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of a turn, this one's or an earlier one's."""

    shown: Shown
    event: Event


Item = Happened | CommMessage | Interrupt


class Inbox:
    """A queue with one reader, safe to write to from any thread and from a signal handler.

    Args:
        wake: called after an item was put while nobody was reading; must not wait.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._queue: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self._wake = wake
        self._readers = 0
        self._read_ahead = 0

    @property
    def has_reader(self) -> bool:
        """Whether a turn reads from it now."""
        return self._readers > 0

    def put(self, item: Item) -> None:
        """Add an item."""
        self._queue.put(item)
        if not self.has_reader:
            self._wake()

    @contextmanager
    def read(self) -> Iterator[None]:
        """While somebody reads; what lies there afterwards wakes the next reader."""
        self._readers += 1
        try:
            yield
        finally:
            self._readers -= 1
            if not self._queue.empty():
                self._wake()

    def get(self, timeout: float) -> Item | None:
        """The next item, waiting at most ``timeout`` seconds."""
        try:
            return self._queue.get(timeout=timeout) if timeout > 0 else self._queue.get_nowait()
        except queue.Empty:
            return None

    async def room(self, size: int) -> None:
        """Wait until the reader has caught up: an agent may write faster than anyone draws.

        Args:
            size: bytes that came since the last time. An item may stand for a line of any length,
                so what lies in the queue is bounded by the bytes that it was made of, too.
        """
        self._read_ahead += size
        while self._is_full:  # noqa: ASYNC110  # rare, and the reader stays simple
            await asyncio.sleep(0.005)
        if self._queue.empty():
            self._read_ahead = 0

    @property
    def _is_full(self) -> bool:
        items = self._queue.qsize()
        return items > ROOM or (items > 0 and self._read_ahead > ROOM_BYTES)
