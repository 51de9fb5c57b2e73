"""Turns in a kernel: the first word, many chunks, and memory."""

from __future__ import annotations

import os
import statistics
import subprocess
from collections.abc import Iterator
from functools import partial
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient

from .kernels import SIMULATOR, Started, chunks, kernel, run
from .table import RUNS, Figure, median, ms
from .wire import Wire

WARM_PROMPTS = 30
DELIVERED = 10_000  # messages, of which ZeroMQ drops none on their way
LINE = "x = 'some code of a very long file'  # with a few words\n"
MANY = ((1_000, "0.15 s, 200 messages"), (10_000, "0.8 s, 200 messages"), (100_000, ""))


def figures() -> Iterator[Figure]:
    """The figures of turns."""
    with kernel("antigravity") as agy, kernel("python3") as python:
        run(agy.client, chunks(1))  # starts the agent
        first, floor = warm_first_text(agy.client), bare_round_trip(python.client)
        yield Figure(
            "warm prompt to first visible text",
            ms(first),
            "10 ms",
            f"{ms(floor)}, a bare cell that displays a word",
        )
        for n, goal in MANY:
            yield many(agy.client, python.client, n, goal)
        yield memory(agy, "10 MB of code", 2_000, LINE * 90, "3 times the text")
        yield memory(agy, "1,000,000 chunks of 4 characters", 1_000_000, "abcd", "bounded")


def warm_first_text(client: BlockingKernelClient) -> float:
    """Seconds from sending a cell to its first visible text."""
    return statistics.median(run(client, chunks(1)).first for _ in range(WARM_PROMPTS))


def bare_round_trip(client: BlockingKernelClient) -> float:
    """Seconds from sending a cell that displays a word to that word."""
    code = "from IPython.display import publish_display_data as p\n"
    code += "p({'text/markdown': 'a'}, transient={'display_id': 'x'})"
    return statistics.median(run(client, code).first for _ in range(WARM_PROMPTS))


def many(agy: BlockingKernelClient, python: BlockingKernelClient, n: int, goal: str) -> Figure:
    """A turn of many chunks."""
    cells = [run(agy, chunks(n)) for _ in range(RUNS)]
    assert all(cell.text.count("abcd") == n for cell in cells), "text was lost"
    total = statistics.median(cell.total for cell in cells)
    messages, size = max(c.messages for c in cells), max(c.size for c in cells)
    floor = f"{median(partial(bare_read, n)):.2f} s to read and parse"
    if n <= DELIVERED:
        floor += f"; {message_each(python, n):.2f} s for a message each"
    return Figure(
        f"{n:,} chunks of 4 characters",
        f"{total:.2f} s, {messages} messages, {size / (4 * n):.1f} bytes a character",
        goal,
        floor,
    )


def message_each(client: BlockingKernelClient, n: int) -> float:
    """Seconds for one IOPub message a chunk, with no agent at all."""
    code = f"""
s, k = get_ipython().kernel.session, get_ipython().kernel
for _ in range({n}):
    s.send(k.iopub_socket, "stream", {{"name": "stdout", "text": "abcd"}}, parent=k.get_parent())
"""
    return run(client, code).total


def bare_read(n: int) -> float:
    """Seconds for reading and parsing the agent's answer of ``n`` chunks, and nothing else."""
    command = list(SIMULATOR)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        wire = Wire(agent)
        wire.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        cwd = os.getcwd()  # noqa: PTH109  # as text
        session: dict[str, Any] = wire.ask("session/new", {"cwd": cwd, "mcpServers": []})[0]
        block = {"type": "text", "text": chunks(n)}
        params = {"sessionId": session["result"]["sessionId"], "prompt": [block]}
        seconds = wire.ask("session/prompt", params)[1]
        wire.close()
    return seconds


def memory(agy: Started, what: str, n: int, chunk: str, goal: str) -> Figure:
    """What a turn adds to the kernel's memory at its peak."""
    run(agy.client, chunks(1_000, chunk))  # buffers of all kinds fill up
    base, size = agy.begin_of_peak(), n * len(chunk)
    cell = run(agy.client, chunks(n, chunk))
    assert len(cell.text) >= size, "text was lost"
    grown = agy.peak() - base
    megabytes = f"{grown / 1e6:.0f} MB more at the peak, {grown / size:.1f} times the text"
    return Figure(f"memory: {what}", megabytes, goal, f"{size / 1e6:.0f} MB, the text")
