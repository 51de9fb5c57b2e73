"""An agent's bytes all the way to the page, without a process: for tests that try very many."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from typing import Any

from agy_kernel.acp.connection import Connection
from agy_kernel.acp.framing import FrameSplitter
from agy_kernel.acp.jsonrpc import Peer
from agy_kernel.acp.process import Launch
from agy_kernel.conversation.turn import Turn
from agy_kernel.events import Event, TurnEnded
from tests.support.screen import Played

SESSION = "s"


class Troubles(logging.Handler):
    """Keeps what was logged as a fault."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(self.format(record))


class Pipe:
    """The agent's stdin and stdout: what we write is kept, what it would write is given by hand."""

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []

    async def read(self, n: int, /) -> bytes:
        await asyncio.Event().wait()
        return b""

    def write(self, data: bytes, /) -> None:
        self.written.append(json.loads(data))

    async def wait_closed(self) -> None:
        await asyncio.Event().wait()


class Page:
    """A turn of which the first line of the wire was the prompt, with the id 1."""

    def __init__(self) -> None:
        self.pipe, self.played = Pipe(), Played(human=False, use_widgets=False)
        self.turn = Turn(self.played.shown.take)

    async def play(self, pieces: Sequence[bytes]) -> None:
        """Let the agent write, and end the turn."""
        connection = Connection(Launch("agent", ("agent",)), "/w", self._hear)
        connection._peer = Peer(
            self.pipe,
            self.pipe,
            on_notification=connection._notified,
            on_request=connection._requested,
            on_skipped=connection._skipped,
        )
        prompt = asyncio.create_task(connection.prompt(SESSION, []))
        await asyncio.sleep(0)
        frames = FrameSplitter()
        for piece in pieces:
            for line in frames.feed(piece):
                connection._peer._frame(line)
                self.played.shown.draw()
        connection._peer._frame(frames.rest())
        await asyncio.sleep(0)
        self.turn.take(TurnEnded("end_turn"))
        await connection._peer._serving.stop()
        prompt.cancel()
        await asyncio.gather(prompt, return_exceptions=True)
        self.played.finish()

    def _hear(self, _session_id: str, event: Event) -> None:
        self.turn.take(event)


def page_of(*pieces: bytes) -> Page:
    """What is shown of an agent's bytes.

    Raises:
        AssertionError: something was logged as a fault, or could not be sent to a front end.
    """
    page, troubles = Page(), Troubles()
    log = logging.getLogger("agy_kernel")
    log.addHandler(troubles)
    try:
        asyncio.run(page.play(pieces))
    finally:
        log.removeHandler(troubles)
    assert not troubles.found, troubles.found[0]
    for bundle in page.played.screen.outputs.values():
        json.dumps(bundle, ensure_ascii=False, allow_nan=False).encode()
    return page
