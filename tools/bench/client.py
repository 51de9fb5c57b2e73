"""The ACP client without a kernel: its CPU for a chunk, from bytes to typed event."""

from __future__ import annotations

import asyncio
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
    yield Figure("the client's CPU for a chunk", f"{cpu * 1e6:.1f} µs", "10 µs")


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
