"""A bare loop that asks an agent, reads its lines and parses them, and does nothing else."""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any


class Wire:
    """The pipes of an agent.

    Args:
        agent: its process.
    """

    def __init__(self, agent: subprocess.Popen[bytes]) -> None:
        assert agent.stdin is not None
        assert agent.stdout is not None
        self._stdin, self._stdout = agent.stdin, agent.stdout
        self._last_id = 0

    def ask(self, method: str, params: dict[str, Any]) -> tuple[dict[str, Any], float]:
        """Send a request; returns its response, and the seconds that it took."""
        self._last_id += 1
        frame = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        begin = time.perf_counter()
        self._stdin.write(json.dumps(frame).encode() + b"\n")
        self._stdin.flush()
        for line in self._stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self._last_id:
                return message, time.perf_counter() - begin
        raise EOFError(method)

    def close(self) -> None:
        """Close its stdin, which ends it."""
        self._stdin.close()
