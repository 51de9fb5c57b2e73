"""The script form of a prompt, for tests: a line ``SIM:`` with a JSON list of steps.

A step is an object with a key that says what it does; docs/simulator.md describes them all.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from ...errors import RequestFailed
from .params import field_error, invalid
from .tools import inside, read, write_file
from .turn import ALLOW_OR_DENY, Turn

Step = dict[str, Any]

MARK = re.compile(r"^SIM:\s*", re.MULTILINE)


def script(text: str) -> list[Step] | None:
    """The steps that a prompt's text holds; None where it is no script.

    Raises:
        RequestFailed: -32602, what follows the mark is not a list of known steps.
    """
    if (mark := MARK.search(text)) is None:
        return None
    try:
        steps, _ = json.JSONDecoder().raw_decode(text, mark.end())
    except ValueError as error:
        raise _bad(f"SIM: {error}") from None
    _check(steps)
    return list(steps)


async def play(turn: Turn, steps: list[Step]) -> None:
    """Take the steps, one after the other."""
    for step in steps:
        verb = _verb(step)
        await STEPS[verb](turn, step[verb], step)


def _check(steps: Any) -> None:
    if not isinstance(steps, list):
        raise _bad("SIM: a list of steps is required")
    for step in steps:
        if not isinstance(step, dict) or _verb(step) is None:
            raise _bad(f"SIM: not a step: {json.dumps(step)[:80]}")


def _verb(step: Step) -> Any:
    return next((key for key in STEPS if key in step), None)


def _bad(message: str) -> RequestFailed:
    return invalid(field_error(("prompt",), message))


# -- the steps; each takes the turn, its own value, and the whole step


async def _text(turn: Turn, text: str, _: Step) -> None:
    await turn.say(text)


async def _thought(turn: Turn, text: str, _: Step) -> None:
    await turn.think(text)


async def _chunks(turn: Turn, value: tuple[int, str], _: Step) -> None:
    await turn.flood(*value)


async def _tool(turn: Turn, fields: Step, _: Step) -> None:
    turn.tool(**fields)


async def _update(turn: Turn, update: Step, _: Step) -> None:
    turn.peer.notify("session/update", {"sessionId": turn.session.id, "update": update})


async def _ask(turn: Turn, params: Step, _: Step) -> None:
    call = params.get("toolCall") or {"toolCallId": turn.tool_id(), "title": "Run a tool?"}
    answer = await turn.ask(call, params.get("options", ALLOW_OR_DENY))
    turn.chunk(f"answer: {answer or 'cancelled'}\n")


async def _write(turn: Turn, name: str, step: Step) -> None:
    path = inside(turn.session.cwd, name)
    if path is None:
        raise _bad(f"SIM: {name} is outside the session's folder")
    await write_file(turn, path, read(path), step.get("text", ""))


async def _wait(turn: Turn, until: float | str | None, _: Step) -> None:
    if until is None:
        await asyncio.Event().wait()
    elif isinstance(until, str):
        while not Path(turn.session.cwd, until).exists():  # noqa: ASYNC110, ASYNC240
            await asyncio.sleep(0.01)
    else:
        await asyncio.sleep(until)


async def _raw(turn: Turn, line: str, _: Step) -> None:
    turn.out.write(line.encode("utf-8", "surrogatepass") + b"\n")


async def _request(turn: Turn, value: tuple[str, Step], __: Step) -> None:
    method, params = value
    _, answer = turn.peer.call(method, {"sessionId": turn.session.id, **params})
    try:
        result = await answer
    except RequestFailed as error:
        turn.chunk(f"error: {error.code}\n")
    else:
        turn.chunk(f"result: {json.dumps(result)}\n")


async def _stderr(_: Turn, text: str, __: Step) -> None:
    print(text, file=sys.stderr, flush=True)


async def _exit(_: Turn, status: int, __: Step) -> None:
    os._exit(status)


async def _grandchild(turn: Turn, _: Any, __: Step) -> None:
    turn.chunk(f"grandchild: {_start_sleeper()}\n")


async def _stop(turn: Turn, reason: str, _: Step) -> None:
    turn.stop_reason = reason


async def _fail(_: Turn, error: Step, __: Step) -> None:
    raise RequestFailed(error["code"], error["message"], error.get("data"))


async def _late(turn: Turn, steps: list[Step], _: Step) -> None:
    _check(steps)
    turn.late += steps


async def _together(turn: Turn, steps: list[Step], _: Step) -> None:
    _check(steps)
    await asyncio.gather(*(play(turn, [step]) for step in steps))


async def _echo(turn: Turn, _: Any, __: Step) -> None:
    turn.chunk(json.dumps(turn.prompt))


STEPS: dict[str, Callable[[Turn, Any, Step], Awaitable[None]]] = {
    "write": _write,
    "text": _text,
    "thought": _thought,
    "chunks": _chunks,
    "tool": _tool,
    "update": _update,
    "ask": _ask,
    "wait": _wait,
    "raw": _raw,
    "request": _request,
    "stderr": _stderr,
    "exit": _exit,
    "spawn_grandchild": _grandchild,
    "stop": _stop,
    "fail": _fail,
    "late": _late,
    "together": _together,
    "echo": _echo,
}


def _start_sleeper() -> int:
    sleeper = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return sleeper.pid
