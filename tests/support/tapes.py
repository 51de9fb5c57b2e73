"""Tapes, written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HEADER = {"tape": 1, "date": "2026-01-01T00:00:00+00:00", "platform": "x", "client": {}}
HELLO = {"protocolVersion": 1, "agentInfo": {"name": "taped", "version": "1"}}


def sent(method: str, request_id: Any = None, **params: Any) -> dict[str, Any]:
    """What the client sent: a notification where it has no id."""
    return _line("c2a", _call(method, request_id, params))


def said(method: str, request_id: Any = None, **params: Any) -> dict[str, Any]:
    """What the agent sent."""
    return _line("a2c", _call(method, request_id, params))


def answered(request_id: Any, result: Any = None, **more: Any) -> dict[str, Any]:
    """What the agent answered; ``error`` instead of a result."""
    return _line("a2c", {"jsonrpc": "2.0", "id": request_id, **(more or {"result": result})})


def replied(request_id: Any, result: Any = None, **more: Any) -> dict[str, Any]:
    """What the client answered."""
    return answered(request_id, result, **more) | {"dir": "c2a"}


def chunk(text: str, session: str = "s1") -> dict[str, Any]:
    """The agent says something."""
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    return said("session/update", sessionId=session, update=update)


def prompt(request_id: Any, text: str, session: str = "s1") -> dict[str, Any]:
    """The client prompts."""
    block = {"type": "text", "text": text}
    return sent("session/prompt", request_id, sessionId=session, prompt=[block])


def opening() -> list[dict[str, Any]]:
    """The beginning of a connection, up to an open session ``s1``; ids 1 and 2."""
    return [
        sent("initialize", 1, protocolVersion=1, clientCapabilities={}),
        answered(1, HELLO),
        sent("session/new", 2, cwd="/taped/folder", mcpServers=[]),
        answered(2, {"sessionId": "s1"}),
    ]


def write(path: Path, lines: Iterable[dict[str, Any]], step: float = 0.001) -> Path:
    """Write a tape with a header; a line without a time comes ``step`` seconds after the last."""
    timed = ({"t": round(n * step, 6), **line} for n, line in enumerate(lines))
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (HEADER, *timed)))
    return path


def _line(direction: str, frame: dict[str, Any]) -> dict[str, Any]:
    return {"dir": direction, "msg": frame}


def _call(method: str, request_id: Any, params: dict[str, Any]) -> dict[str, Any]:
    number = {} if request_id is None else {"id": request_id}
    return {"jsonrpc": "2.0", **number, "method": method, "params": params}
