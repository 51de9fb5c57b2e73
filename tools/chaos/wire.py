"""What came and went between kernel and agents, as the tape has it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.kernels import prompt_of

from .words import letters

Frame = dict[str, Any]
ASKS = "session/request_permission"


@dataclass
class Heard:
    """What came of one prompt.

    Args:
        text: all letters that the agent has said.
        before_stop: how many of them came before it was asked to stop; None if it never was.
        ended: whether the agent has answered the prompt.
        session: where it was sent to; what other sessions tell belongs to nobody.
    """

    text: str = ""
    before_stop: int | None = None
    ended: bool = False
    session: str = ""


class Wire:
    """Reads a tape while it grows.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._offset = path, 0
        self._frames: list[tuple[str, Frame]] = []

    def forget(self) -> None:
        """From here on, only what is new counts."""
        self.frames()
        self._frames.clear()

    def frames(self) -> list[tuple[str, Frame]]:
        """Direction and frame, in order."""
        if self._path.exists():
            with self._path.open("rb") as file:
                file.seek(self._offset)
                whole, _, _ = file.read().rpartition(b"\n")
            self._offset += len(whole) + 1 if whole else 0
            self._frames += _parse(whole.splitlines())
        return self._frames

    def has_sent(self, prompt: str) -> bool:
        """Whether a prompt was sent."""
        sent = (frame for way, frame in self.frames() if way == "c2a")
        return any(f.get("method") == "session/prompt" and _typed(f) == prompt for f in sent)

    def heard(self) -> dict[str, Heard]:
        """What came of each prompt, by what was typed."""
        by_prompt: dict[str, Heard] = defaultdict(Heard)
        current, request = Heard(), None
        for way, frame in self.frames():
            method = frame.get("method")
            if way == "c2a" and method == "session/prompt":
                current, request = by_prompt[_typed(frame)], frame["id"]
                current.session = frame["params"]["sessionId"]
            elif way == "c2a" and method in ("session/load", "session/new", "session/resume"):
                current, request = Heard(), None  # what comes now is history
            elif way == "c2a" and method == "session/cancel" and current.before_stop is None:
                current.before_stop = len(current.text)
            elif way == "a2c" and method == "session/update":
                is_of_it = frame["params"]["sessionId"] == current.session
                current.text += _said(frame) if is_of_it else ""
            elif way == "a2c" and method is None and frame.get("id") == request:
                current.ended = True
        return by_prompt

    def replies(self) -> Iterator[tuple[int, bool]]:
        """For each question, the replies to it, and whether its process was the last one."""
        asked: list[tuple[int, Any]] = []
        replied: Counter[tuple[int, str]] = Counter()
        process = 0
        for way, frame in self.frames():
            if frame.get("method") == "initialize":
                process += 1
            elif way == "a2c" and frame.get("method") == ASKS:
                asked.append((process, json.dumps(frame["id"])))
            elif way == "c2a" and "method" not in frame:
                replied[process, json.dumps(frame["id"])] += 1
        return ((replied[key], key[0] == process) for key in asked)


def _parse(lines: list[bytes]) -> Iterator[tuple[str, Frame]]:
    for line in lines:
        entry = json.loads(line)
        if isinstance(entry.get("msg"), dict):
            yield entry["dir"], entry["msg"]


def _typed(frame: Frame) -> str:
    return prompt_of(frame).rstrip("\n")


def _said(frame: Frame) -> str:
    update = frame["params"]["update"]
    if update["sessionUpdate"] != "agent_message_chunk":
        return ""
    return letters(update["content"]["text"])
