"""A tape for the eye: one line a frame."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..text import clean
from .frames import Frame, Frames
from .reading import Header, read

WIDTH = 160
ARROWS = {"c2a": "->", "a2c": "<-", "stderr": "!!", "note": "##"}


def show(path: Path, as_json: bool, on_cut: Callable[[str], None]) -> Iterator[str]:
    """A line for each header and frame.

    Args:
        path: the tape.
        as_json: whether each line is a JSON object, for programs.
        on_cut: told that the last line is cut.

    Raises:
        TapeError: the tape cannot be used.
    """
    frames = Frames()
    for line in read(path, on_cut):
        found = list(frames.of(line))
        if isinstance(line, Header) and line.line:
            yield json.dumps({"line": line.line, **line.about}) if as_json else _header(line)
        yield from (json.dumps(_object(f)) if as_json else _words(f) for f in found)


def _header(header: Header) -> str:
    about = header.about
    agent = about.get("agent") if isinstance(about.get("agent"), dict) else {}
    assert isinstance(agent, dict)
    command = " ".join(map(str, agent.get("command") or ["an agent"]))
    return clean(f"== {command} | {about.get('platform')} | {about.get('date')}")[:WIDTH]


def _words(frame: Frame) -> str:
    entry = frame.entry
    name = " ".join(part for part in (frame.method, frame.update) if part)
    number = f" #{frame.id}" if frame.id else ""
    sign = {"response": " error" if frame.is_error else " ok"}.get(frame.kind, "")
    body = json.dumps(frame.body, ensure_ascii=False)
    start = f"{entry.line:>6} {entry.t:>10.4f} {ARROWS[entry.direction]} {name}{number}{sign}"
    return clean(f"{start} {body}"[:WIDTH])


def _object(frame: Frame) -> dict[str, Any]:
    entry = frame.entry
    return {
        "line": entry.line,
        "t": entry.t,
        "dir": entry.direction,
        "kind": frame.kind,
        "method": frame.method,
        "update": frame.update,
        "msg": frame.message,
    }
