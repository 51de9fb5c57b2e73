"""The simulator with more ways to fail, as a program of its own; its flags are the simulator's.

Further steps of a script:

- ``{"mute": true}``: closes its stdout, and lives;
- ``{"half": "text"}``: exits in the middle of a line;
- ``{"noise": 100}``: writes 100 lines to stderr;
- ``{"torrent": "text"}``: says it for ever, and listens to nobody.

What it does instead of opening an earlier session stands in the file that `ORDER` names:
``silent``, ``refuse`` or ``exit``, a word for each time.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from agy_kernel.acp.stdio import Stdin, Stdout
from agy_kernel.agents.simulator import script
from agy_kernel.agents.simulator.agent import Agent
from agy_kernel.agents.simulator.behaviour import parse
from agy_kernel.agents.simulator.turn import Turn
from agy_kernel.errors import RequestFailed

ORDER = "CHAOS_ORDER"
STDOUT, STDERR = 1, 2
BREATH = 0.005  # seconds between two pieces of a torrent, which are otherwise too much for a tape


class ChaosAgent(Agent):
    """The simulator, but for how it opens earlier sessions."""

    async def _load(self, params: dict[str, Any]) -> Any:
        await _obey()
        return await super()._load(params)

    async def _resume(self, params: dict[str, Any]) -> Any:
        await _obey()
        return await super()._resume(params)


async def _obey() -> None:
    match _next_order():
        case "silent":
            await asyncio.Event().wait()
        case "refuse":
            raise RequestFailed(-32602, "Invalid session identifier")
        case "exit":
            os._exit(5)


def _next_order() -> str:
    path = Path(os.environ[ORDER])
    order, _, rest = path.read_text().partition(" ")
    path.write_text(rest)
    return order


async def _mute(_turn: Turn, _value: Any, _step: Mapping[str, Any]) -> None:
    os.close(STDOUT)


async def _half(turn: Turn, text: str, _step: Mapping[str, Any]) -> NoReturn:
    turn.out.write(_frame(turn, text)[:-20])
    os._exit(6)


async def _noise(_turn: Turn, lines: int, _step: Mapping[str, Any]) -> None:
    for _ in range(lines):
        os.write(STDERR, b"RAW WS MSG: " + b"x" * 500 + b"\n")


async def _torrent(turn: Turn, text: str, _step: Mapping[str, Any]) -> NoReturn:
    piece = _frame(turn, text) * 10
    while True:
        turn.out.write(piece)
        time.sleep(BREATH)  # noqa: ASYNC251  # it listens to nobody


def _frame(turn: Turn, text: str) -> bytes:
    content = {"text": text, "type": "text"}
    update = {"content": content, "sessionUpdate": "agent_message_chunk"}
    params = {"sessionId": turn.session.id, "update": update}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    return json.dumps(message).encode() + b"\n"


async def main(flags: list[str]) -> None:
    """Serve the client on standard input and output until it has gone."""
    script.STEPS.update(mute=_mute, half=_half, noise=_noise, torrent=_torrent)
    await ChaosAgent(Stdin(), Stdout(), parse(flags)).serve()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
