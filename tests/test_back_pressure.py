"""An agent that writes more than we can take, or reads nothing: memory has bounds."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agy_kernel.acp import pipes, tape
from agy_kernel.display.inbox import ROOM, ROOM_BYTES, CommMessage, Inbox
from agy_kernel.errors import AgentExited
from tests.agents import scripted
from tests.agents.scripted import answer, expect, opening, update
from tests.support.connections import opened
from tests.support.leaks import nothing_is_left  # noqa: F401
from tests.test_connection import written_by

PROMPTED = expect("session/prompt")
END_TURN = answer("session/prompt", {"stopReason": "end_turn"})
LINE = 5_000_000


class Slow(Inbox):
    """An inbox whose reader reads when the test says so; tells when it is full."""

    def __init__(self) -> None:
        super().__init__(lambda: None)
        self.is_full = asyncio.Event()

    async def room(self, size: int) -> None:
        waiting = asyncio.ensure_future(super().room(size))
        if not (await asyncio.wait((waiting,), timeout=0.05))[0]:
            self.is_full.set()
        await waiting


async def test_few_long_lines_fill_an_inbox_as_many_short_ones_do() -> None:
    inbox = Slow()
    before, after = json.dumps(update("s1", "tool_call", rawOutput="HERE")).split("HERE")
    lines = [scripted.long_line(before, LINE, after)] * 60
    async with opened(*opening(), PROMPTED, *lines, END_TURN) as it:
        it.connection._rpc._gate = inbox.room

        def take(_session_id: str, _event: Any) -> None:
            inbox.put(CommMessage([]))

        it.connection._on_event = take
        prompt = asyncio.ensure_future(it.prompt())
        await inbox.is_full.wait()
        assert it.connection.pid is not None
        # Besides: twice the stream's limit, a read, the pipe, and the line that is not whole yet.
        assert written_by(it.connection.pid) < ROOM_BYTES + LINE + 2 * 4 * 1024 * 1024 + 2_000_000
        while not prompt.done():
            inbox.get(0)
            await asyncio.sleep(0)
        await prompt


async def test_an_inbox_has_room_again_when_it_was_read() -> None:
    inbox = Inbox(lambda: None)
    await asyncio.wait_for(inbox.room(10 * ROOM_BYTES), 5)  # a single line, and nothing to read
    for _ in range(ROOM + 1):
        inbox.put(CommMessage([]))
    waiting = asyncio.ensure_future(inbox.room(1))
    await asyncio.sleep(0)
    assert not waiting.done()
    inbox.get(0)
    await asyncio.wait_for(waiting, 5)


async def test_an_agent_that_asks_without_reading_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pipes, "MOST_UNREAD", 1_000_000)
    # The tape is checked at the end: no request may have dropped out before its answer.
    monkeypatch.setattr(tape, "RING_ENTRIES", 20_000)
    monkeypatch.setattr(tape, "RING_BYTES", 100_000_000)
    asks = scripted.flood(5_000, scripted.request("q" * 1_000, "_vendor/x"))
    async with opened(*opening(), PROMPTED, asks, scripted.pause()) as it:
        with pytest.raises(AgentExited, match="stopped reading its input"):
            await it.prompt()
