"""Frames for the eye: one a line, the method first, and the session at the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from ..acp.fields import as_mapping, mapping, text
from .recording import Evidence

ARROWS = {"c2a": "→", "a2c": "←", "stderr": "!", "note": "#"}
MOST_LINES, WIDTH = 40, 220
SESSION_LETTERS = 8


def lines_of(frames: Sequence[Evidence], private: Callable[[str], str]) -> list[str]:
    """Frames as lines; a run of chunks is told by its first, its last, and their number.

    Args:
        frames: in their order.
        private: leaves out what is private.
    """
    lines: list[str] = []
    for is_chunk, run in groupby(frames, lambda frame: bool(_chunk_text(frame))):
        each = list(run)
        if is_chunk and len(each) > 3:
            letters = sum(len(_chunk_text(frame)) for frame in each[1:-1])
            told = f"{'':12} … {len(each) - 2} more such chunks, {letters:,} letters"
            lines += [_line(each[0], private), told, _line(each[-1], private)]
        else:
            lines += [_line(frame, private) for frame in each]
    if len(lines) > MOST_LINES:
        cut = f"{'':12} … {len(lines) - MOST_LINES:,} more lines: all are on the tape"
        lines = [*lines[: MOST_LINES // 2], cut, *lines[-MOST_LINES // 2 :]]
    return lines


def _line(frame: Evidence, private: Callable[[str], str]) -> str:
    words = private(" ".join(filter(None, _parts(frame.message))))
    cut = words if len(words) <= WIDTH else f"{words[:WIDTH]} … ({len(words):,} letters)"
    return f"{frame.t:10.3f} {ARROWS[frame.direction]} {cut}".replace("\n", "⏎")


def _parts(message: Any) -> tuple[str, ...]:
    told = as_mapping(message)
    number = f"#{_json(told['id'])}" if "id" in told else ""
    if "method" in told:
        session = text(mapping(told, "params"), "sessionId")[:SESSION_LETTERS]
        body = _json(_body(told["params"])) if "params" in told else ""
        method = text(told, "method") or _json(told["method"])
        return method, number, body, f"in {session}" if session else ""
    for key in ("result", "error"):
        if key in told:
            return number, key, _json(told[key])
    return (message if isinstance(message, str) else _json(message),)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _body(params: Any) -> Any:
    """What a request or notification carries, besides the session."""
    if not isinstance(params, dict):
        return params
    rest = {key: value for key, value in params.items() if key != "sessionId"}
    return rest["update"] if set(rest) == {"update"} else rest


def _chunk_text(frame: Evidence) -> str:
    update = mapping(mapping(as_mapping(frame.message), "params"), "update")
    if not text(update, "sessionUpdate").endswith("_chunk"):
        return ""
    return text(mapping(update, "content"), "text")
