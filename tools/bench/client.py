"""The ACP client without a kernel: its CPU for a chunk, from bytes to typed event."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator

from agy_kernel.acp.connection import Connection
from agy_kernel.acp.process import Launch
from agy_kernel.events import Event, TextChunk

from .kernels import SIMULATOR, chunks
from .table import Figure, median

CHUNKS = 100_000


def figures() -> Iterator[Figure]:
    """The figures of the client."""
    cpu = median(lambda: asyncio.run(cpu_of_chunks(CHUNKS))) / CHUNKS
    floor = median(lambda: cpu_of_parsing(CHUNKS)) / CHUNKS
    yield Figure(
        "the client's CPU for a chunk",
        f"{cpu * 1e6:.1f} µs",
        "10 µs",
        f"{floor * 1e6:.1f} µs, `json.loads` alone",
    )


def cpu_of_parsing(n: int) -> float:
    """Seconds of CPU for parsing the line of a chunk ``n`` times, and nothing else."""
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "abcd"}}
    params = {"sessionId": "a-session-of-the-agent", "update": update}
    line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params}).encode()
    begin = time.process_time()
    for _ in range(n):
        json.loads(line)
    return time.process_time() - begin


async def cpu_of_chunks(n: int) -> float:
    """Seconds of CPU that the client takes for an answer of ``n`` chunks."""
    seen = 0

    def count(_: str, event: Event) -> None:
        nonlocal seen
        seen += isinstance(event, TextChunk)

    folder = tempfile.gettempdir()
    connection = Connection(Launch("simulator", SIMULATOR), folder, count)
    await connection.start()
    session = await connection.open_session("new", folder)
    begin = time.process_time()
    await connection.prompt(session.id, [{"type": "text", "text": chunks(n)}])
    spent = time.process_time() - begin
    await connection.close()
    assert seen >= n, f"{seen} of {n} chunks arrived"
    return spent
