"""Measure what a person feels, each figure beside a floor that was measured in the same run.

The floors: a bare ipykernel (start, one empty cell, one IOPub message a chunk), and a bare loop
that reads the agent's lines and parses them. The agent is the simulator, writing as fast as it can.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from agy_kernel.acp.connection import Connection
from agy_kernel.acp.process import Launch
from agy_kernel.events import Event, TextChunk
from agy_kernel.prompt.cells import Cell as RanCell
from agy_kernel.prompt.cells import CellOutput
from agy_kernel.prompt.digest import Budget, Surroundings, digest
from agy_kernel.prompt.recorder import Recorder
from agy_kernel.prompt.secrets import Masker

SIMULATOR = (sys.executable, "-m", "agy_kernel.agents.simulator", "--chunk-delay", "0")
RUNS = 5
WARM_PROMPTS = 30


@dataclass
class Figure:
    """A line of the table."""

    what: str
    ours: str
    goal: str
    floor: str


@dataclass
class Cell:
    """What came of one cell: seconds until the first output and until idle, and what was sent."""

    first: float
    total: float
    messages: int
    size: int
    text: str


def chunks(n: int) -> str:
    """A prompt that is answered with ``n`` chunks of four characters."""
    return "SIM:" + json.dumps([{"chunks": [n, "abcd"]}])


@contextmanager
def kernel(name: str) -> Iterator[tuple[BlockingKernelClient, float]]:
    """A kernel, and the seconds that it took to be ready."""
    env = os.environ | {"AGY_AGENT": " ".join(SIMULATOR)}
    begin = time.perf_counter()
    manager, client = start_new_kernel(
        kernel_name=name, env=env, extra_arguments=["--log-level=ERROR"]
    )
    try:
        yield client, time.perf_counter() - begin
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client: BlockingKernelClient, code: str) -> Cell:
    """Run a cell and watch its outputs."""
    begin = time.perf_counter()
    request = client.execute(code, allow_stdin=False)
    first, size, messages = 0.0, 0, 0
    texts: dict[str, str] = {}
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "status" and content["execution_state"] == "idle":
            break
        messages += 1
        size += len(json.dumps(content))
        if kind in ("display_data", "update_display_data"):
            first = first or time.perf_counter() - begin
            bundle = content["data"]
            texts[content["transient"]["display_id"]] = bundle.get("text/markdown", "")
    total = time.perf_counter() - begin
    client.get_shell_msg(timeout=60)
    return Cell(first, total, messages, size, "".join(t for t in texts.values() if "<" not in t))


def median(measure: Callable[[], float]) -> float:
    """The median of a few runs."""
    return statistics.median(measure() for _ in range(RUNS))


def start_time(name: str) -> float:
    """Seconds until a kernel is ready."""
    with kernel(name) as (_, seconds):
        return seconds


def warm_first_text(client: BlockingKernelClient) -> float:
    """Seconds from sending a cell to its first visible text."""
    return statistics.median(run(client, chunks(1)).first for _ in range(WARM_PROMPTS))


def bare_round_trip(client: BlockingKernelClient) -> float:
    """Seconds from sending a cell that displays a word to that word."""
    code = "from IPython.display import publish_display_data as p\n"
    code += "p({'text/markdown': 'a'}, transient={'display_id': 'x'})"
    return statistics.median(run(client, code).first for _ in range(WARM_PROMPTS))


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
    with subprocess.Popen(SIMULATOR, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None

        def ask(request_id: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
            assert agent.stdin is not None
            frame = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
            agent.stdin.write(json.dumps(frame).encode() + b"\n")
            agent.stdin.flush()
            for line in agent.stdout or ():
                message: dict[str, Any] = json.loads(line)
                if message.get("id") == request_id:
                    return message
            raise EOFError(method)

        ask(1, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        session = ask(2, "session/new", {"cwd": os.getcwd(), "mcpServers": []})  # noqa: PTH109
        begin = time.perf_counter()
        block = {"type": "text", "text": chunks(n)}
        params = {"sessionId": session["result"]["sessionId"], "prompt": [block]}
        ask(3, "session/prompt", params)
        seconds = time.perf_counter() - begin
        agent.stdin.close()
    return seconds


def client_cpu_per_chunk(n: int) -> float:
    """Seconds of CPU that the ACP client takes for a chunk, from bytes to typed event."""
    seen = 0

    def count(_: str, event: Event) -> None:
        nonlocal seen
        seen += isinstance(event, TextChunk)

    async def measure() -> float:
        connection = Connection(Launch("simulator", SIMULATOR), tempfile.gettempdir(), count)
        await connection.start()
        session = await connection.open_session("new", tempfile.gettempdir())
        begin = time.process_time()
        await connection.prompt(session.id, [{"type": "text", "text": chunks(n)}])
        spent = time.process_time() - begin
        await connection.close()
        return spent / n

    per_chunk = asyncio.run(measure())
    assert seen >= n, f"{seen} of {n} chunks arrived"
    return per_chunk


def record_cost() -> float:
    """Seconds that recording adds to an ordinary cell in an IPython shell."""
    return timed_cells(with_recorder=True) - timed_cells(with_recorder=False)


def timed_cells(with_recorder: bool) -> float:
    """Seconds of an ordinary cell, the median of many."""
    shell = InteractiveShell()
    recorder = Recorder(shell, lambda _: False) if with_recorder else None
    times = []
    for n in range(400):
        begin = time.perf_counter()
        shell.run_cell(f"x = {n}\nprint('ordinary', x)", store_history=True)
        times.append(time.perf_counter() - begin)
    if recorder is not None:
        recorder.close()
    return statistics.median(times)


def digest_time(n: int) -> float:
    """Seconds for the digest of a notebook with ``n`` cells, of which one has changed."""
    cells = [
        RanCell(f"c{i}", i, f"y = {i}\nprint(y)", (CellOutput("stdout", f"{i}\n"),))
        for i in range(n)
    ]
    sent = {cell.id: cell.fingerprint for cell in cells[:-1]}
    around, masker = Surroundings("notebook:///n.ipynb"), Masker(os.environ)
    begin = time.perf_counter()
    made = digest(cells, around, sent, Budget(), masker)
    seconds = time.perf_counter() - begin
    assert [key for key in made.sent if key.startswith("c")] == [cells[-1].id]
    return seconds


def import_time(code: str) -> float:
    """Seconds of a fresh Python that runs ``code``."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - begin


def figures() -> Iterator[Figure]:
    """The table, line by line, as it is measured."""
    ours, bare = median(lambda: start_time("antigravity")), median(lambda: start_time("python3"))
    yield Figure("kernel ready", f"{ours:.2f} s", "floor + 0.3 s", f"{bare:.2f} s bare ipykernel")
    with kernel("antigravity") as (agy, _), kernel("python3") as (python, _):
        run(agy, chunks(1))  # starts the agent
        first, floor = warm_first_text(agy), bare_round_trip(python)
        yield Figure(
            "warm prompt to first visible text",
            f"{first * 1000:.1f} ms",
            "10 ms",
            f"{floor * 1000:.1f} ms bare display",
        )
        for n, goal in ((1_000, "0.15 s"), (10_000, "0.8 s")):
            cells = [run(agy, chunks(n)) for _ in range(RUNS)]
            assert all(cell.text.count("abcd") == n for cell in cells), "text was lost"
            total = statistics.median(cell.total for cell in cells)
            read, each = median(partial(bare_read, n)), message_each(python, n)
            yield Figure(
                f"{n:,} chunks of 4 characters",
                f"{total:.2f} s, {max(c.messages for c in cells)} messages, "
                f"{max(c.size for c in cells) // 1000} kB",
                f"{goal}, 200 messages",
                f"{read:.2f} s read and parse; {each:.2f} s a message each",
            )
    cpu = median(lambda: client_cpu_per_chunk(100_000))
    yield Figure("client, CPU a chunk", f"{cpu * 1e6:.1f} µs", "10 µs", "-")
    with contextlib.redirect_stdout(io.StringIO()):
        recording, cell = record_cost(), timed_cells(with_recorder=False)
    yield Figure(
        "recording an ordinary cell",
        f"{recording * 1000:.3f} ms",
        "0.2 ms",
        f"{cell * 1000:.3f} ms the cell",
    )
    for n in (20, 200, 2_000):
        took = median(partial(digest_time, n))
        yield Figure(f"digest, {n:,} cells, 1 changed", f"{took * 1000:.2f} ms", "30 ms", "-")
    ours = median(lambda: import_time("import ipykernel.kernelapp, agy_kernel"))
    bare = median(lambda: import_time("import ipykernel.kernelapp, ipykernel.ipkernel"))
    yield Figure(
        "import agy_kernel beside ipykernel",
        f"{ours:.2f} s",
        "floor + 0.06 s",
        f"{bare:.2f} s ipykernel",
    )


def main() -> None:
    """Print the table."""
    print(f"{'what':36} {'measured':38} {'goal':22} floor in the same run")
    for figure in figures():
        print(f"{figure.what:36} {figure.ours:38} {figure.goal:22} {figure.floor}", flush=True)


if __name__ == "__main__":
    main()
