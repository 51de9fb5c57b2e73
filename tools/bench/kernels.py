"""Kernels, and cells that are run in them."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

SIMULATOR = (sys.executable, "-m", "agy_kernel.agents.simulator", "--chunk-delay", "0")


@dataclass
class Cell:
    """What came of one cell: seconds until the first output and until idle, and what was sent."""

    first: float
    total: float
    messages: int
    size: int
    text: str


@dataclass
class Started:
    """A kernel that is ready.

    Args:
        seconds: how long that took.
    """

    manager: KernelManager
    client: BlockingKernelClient
    seconds: float

    def begin_of_peak(self) -> int:
        """Bytes that its process has now; from here on its peak is measured (man 5 proc)."""
        Path(f"/proc/{self._pid}/clear_refs").write_text("5")
        return self.peak()

    def peak(self) -> int:
        """The most bytes that its process had since."""
        status = Path(f"/proc/{self._pid}/status").read_text()
        (kilobytes,) = re.findall(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
        return int(kilobytes) * 1024

    @property
    def _pid(self) -> int:
        assert self.manager.provisioner is not None
        return int(self.manager.provisioner.pid)  # type: ignore[attr-defined]


def chunks(n: int, text: str = "abcd") -> str:
    """A prompt that is answered with ``n`` chunks."""
    return "SIM:" + json.dumps([{"chunks": [n, text]}])


@contextmanager
def kernel(name: str, agent: tuple[str, ...] = SIMULATOR) -> Iterator[Started]:
    """A kernel, with its bytecode compiled as pip leaves it."""
    env = os.environ | {"AGY_AGENT": " ".join(agent)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    begin = time.perf_counter()
    manager, client = start_new_kernel(
        kernel_name=name, env=env, extra_arguments=["--log-level=ERROR"]
    )
    try:
        yield Started(manager, client, time.perf_counter() - begin)
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
        message = client.get_iopub_msg(timeout=120)
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
