"""What passes on the wire while it is probed: on the tape, and at hand as evidence.

The wire does not tell everything: how much memory a process takes, whether a file was written. What
the prober sees elsewhere it notes on the tape. A replay then has everything: a probe that is put to
a tape sees the notes and the times that stand there, and comes to the same verdict.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..acp.tape import NOTE, Direction, Tape
from ..tapes.reading import Entry, of_run, read


@dataclass(frozen=True, slots=True)
class Evidence:
    """A frame that passed.

    Args:
        t: seconds since the recording began; of a replay as they stand on its tape.
        direction: ``c2a``, ``a2c``, ``stderr``, or ``note`` for what the prober saw elsewhere.
        message: the frame; a string where it was none.
    """

    t: float
    direction: Direction
    message: Any


class Recording(Tape):
    """A tape that is at hand while it is written.

    Args:
        path: the file; None for none.
        told: what a replayed tape has of this run; None where the agent is there itself.
    """

    def __init__(self, path: Path | None = None, told: Told | None = None) -> None:
        super().__init__(path)
        self._told = told
        self._began = time.monotonic()
        self.frames: list[Evidence] = []

    def sent(self, line: bytes, is_json: bool = True) -> None:
        """Record a frame of the client's."""
        super().sent(line, is_json)
        self._keep("c2a", line, is_json)

    def received(self, line: bytes, is_json: bool = True) -> None:
        """Record a line of the agent's."""
        super().received(line, is_json)
        self._keep("a2c", line, is_json)

    def note(self, name: str, value: Any) -> None:
        """Record what was seen elsewhere."""
        super().note(name, value)
        self.frames.append(Evidence(self._now(NOTE), NOTE, {name: value}))

    def noted(self, name: str) -> Any:
        """What the replayed tape has noted by this name next.

        Raises:
            LookupError: nothing; or no tape is replayed.
        """
        if self._told is None:
            raise LookupError(name)
        return self._told.noted(name)

    @property
    def is_replay(self) -> bool:
        """Whether a tape is played, and no agent there."""
        return self._told is not None

    def now(self) -> float:
        """Seconds since the recording began; of a replay, when the last frame stands there."""
        if self._told is not None:
            return self.frames[-1].t if self.frames else 0.0
        return time.monotonic() - self._began

    def answered_at(self, number: int) -> float:
        """When the answer to a request of the client's passed; now, where it has not."""
        for frame in reversed(self.frames):
            if frame.direction == "a2c" and _answers(frame.message, number):
                return frame.t
        return self.now()

    def _keep(self, direction: Direction, line: bytes, is_json: bool) -> None:
        text = line.decode("utf-8", "replace")
        message = json.loads(text) if is_json else text
        self.frames.append(Evidence(self._now(direction), direction, message))

    def _now(self, direction: Direction) -> float:
        told = self._told.time_of_next(direction) if self._told is not None else None
        return self.now() if told is None else told


def _answers(message: Any, number: int) -> bool:
    is_answer = isinstance(message, dict) and ("result" in message or "error" in message)
    return is_answer and message.get("id") in (number, str(number))


class Told:
    """What a tape tells of one run beyond its frames: their times, and the notes.

    Args:
        lines: the run's.
    """

    def __init__(self, lines: Iterable[Any]) -> None:
        self._times: dict[str, deque[float]] = {}
        self._notes: dict[str, deque[Any]] = {}
        for line in lines:
            if isinstance(line, Entry):
                self._add(line)

    def time_of_next(self, direction: str) -> float | None:
        """When the next frame of a direction passed; None behind the tape's end."""
        times = self._times.get(direction)
        return times.popleft() if times else None

    def noted(self, name: str) -> Any:
        """The next note of a name.

        Raises:
            LookupError: there is none.
        """
        notes = self._notes.get(name)
        if not notes:
            raise LookupError(name)
        return notes.popleft()

    def _add(self, entry: Entry) -> None:
        self._times.setdefault(entry.direction, deque()).append(entry.t)
        if entry.direction == NOTE and isinstance(entry.message, dict):
            for name, value in entry.message.items():
                self._notes.setdefault(name, deque()).append(value)


def told_of_run(tape: Path, number: int) -> Told:
    """What a tape tells of one start of an agent.

    Args:
        tape: the file.
        number: of the run, from 1.

    Raises:
        TapeError: it cannot be used, or has no such run.
    """
    return Told(of_run(read(tape, lambda _: None), number))
