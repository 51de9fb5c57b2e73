"""What passes on the wire while it is probed: on the tape, and at hand as evidence.

The wire does not tell everything: how much memory a process takes, whether a file was written. What
the prober sees elsewhere it notes on the tape. A replay then has everything: a probe that is put to
a tape sees the notes and the times that stand there, and comes to the same verdict.
"""

from __future__ import annotations

import asyncio
import json
from array import array
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..acp.fields import as_mapping, mapping, text
from ..acp.tape import CLOSED, EXIT, NOTE, Direction, Tape
from ..tapes.arrived import SAYS
from ..tapes.reading import Entry, Header, of_run, read

ABOUT = "probing"
"""The note that a run begins with: which suite, whether live, and the thresholds."""
PART = "part"
"""The note that a part of a recording ends with."""
LATE_SECONDS = 2.0
"""So long a replay is waited for that owes nothing: the client has departed from its tape."""
SLOW_SECONDS = 60.0
"""So long the next frame of a replay is waited for that owes one: the machine may be busy."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A frame that passed.

    Args:
        t: seconds since the recording began; of a replay as they stand on its tape.
        direction: ``c2a``, ``a2c``, ``stderr``, or ``note`` for what the prober saw elsewhere.
        message: the frame; a string where it was none.
        place: its place among the others: in a replay a client may be quicker than it was.
    """

    t: float
    direction: Direction
    message: Any
    place: int = 0


class Recording(Tape):
    """A tape that is at hand while it is written.

    Args:
        path: the file; None for none.
        told: what a replayed tape has of this run; None where the agent is there itself.
        about: noted at the start.
    """

    def __init__(
        self,
        path: Path | None = None,
        told: Told | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(path)
        self._about = dict(about or {})
        self._told = told
        self._news = asyncio.Event()
        self.all_came = asyncio.Event()
        """Set when a replay has nothing more to say, and does not end by itself either."""
        self._is_closed = self._has_ended = self._departs = False
        self.frames: list[Evidence] = []
        self.kept_bytes = 0
        """How long the lines of all frames are."""

    def begins(self, name: str, command: Sequence[str]) -> None:
        """An agent is started: what follows is its traffic."""
        super().begins(name, command)
        self.note(ABOUT, self._about)

    def sent(self, line: bytes, is_json: bool = True) -> None:
        """Record a frame of the client's."""
        super().sent(line, is_json)
        self._keep("c2a", line, is_json)

    def received(self, line: bytes, is_json: bool = True) -> None:
        """Record a line of the agent's."""
        super().received(line, is_json)
        self._keep("a2c", line, is_json)

    def stderr(self, line: bytes) -> None:
        """Record what the agent wrote to stderr; a replay says there where the client departs."""
        super().stderr(line)
        if self._told is not None and line.startswith(SAYS):
            self._departs = True
            self._news.set()

    def note(self, name: str, value: Any) -> None:
        """Record what was seen elsewhere."""
        super().note(name, value)
        self._has_ended = self._has_ended or name in (EXIT, CLOSED)
        self._add(NOTE, {name: value})

    def end(self) -> None:
        """Another agent is started: what this one still says stands on no tape."""
        notes = (frame.message for frame in self.frames if frame.direction == NOTE)
        if not any(EXIT in note or CLOSED in note for note in notes):
            self.note(CLOSED, True)
        self.close()

    def close(self) -> None:
        """End the recording."""
        super().close()
        self._is_closed = True

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

    @property
    def signed_in_by(self) -> str | None:
        """The method by which a replayed client has signed in; None where it has not."""
        return self._told.signed_in_by if self._told is not None else None

    def now(self) -> float:
        """When the last frame has passed, in seconds since the recording began.

        It is the same in a replay, so that what is found there is.
        """
        return self.frames[-1].t if self.frames else 0.0

    async def part_ends(self) -> float:
        """Something ends here, which a replay has to end at the same frame; returns the place."""
        if self._is_closed:
            return float("inf")
        self.note(PART, True)
        place = self.frames[-1].place
        await self.caught_up(place)
        return place

    async def caught_up(self, place: float = float("inf"), time: float = float("inf")) -> None:
        """Wait until a replay has sent what stands on its tape up to a place and a time.

        What came in time when it was recorded is not too late because a replay is slow.
        """
        told = self._told
        while told is not None and not self._has_ended and told.has_more("a2c", place, time):
            self._news.clear()
            try:
                async with asyncio.timeout(self._patience(told)):
                    await self._news.wait()
            except TimeoutError:
                return

    def _patience(self, told: Told) -> float:
        return SLOW_SECONDS if told.owes and not self._departs else LATE_SECONDS

    def between(self, begin: float, end: float) -> list[Evidence]:
        """The frames between two places, in their order on the tape."""
        found = [f for f in self.frames if begin < f.place < end and not _is_ours(f)]
        return sorted(found, key=lambda frame: frame.place)

    def answered_at(self, number: int) -> float:
        """When the answer to a request of the client's passed; now, where it has not."""
        index = self.index_of_answer(number)
        return self.frames[index].t if index < len(self.frames) else self.now()

    def index_of_answer(self, number: int) -> int:
        """Where among the frames the answer to a request of the client's stands; or behind all."""
        for index in reversed(range(len(self.frames))):
            frame = self.frames[index]
            if frame.direction == "a2c" and answers(frame.message, number):
                return index
        return len(self.frames)

    def _keep(self, direction: Direction, line: bytes, is_json: bool) -> None:
        self.kept_bytes += len(line)
        words = line.decode("utf-8", "replace")
        message = json.loads(words) if is_json else words
        self._add(direction, message)

    def _next_place(self) -> int:
        return self.frames[-1].place + 1 if self.frames else 0

    def _add(self, direction: Direction, message: Any) -> None:
        told = self._told.next(direction) if self._told is not None else None
        t, place = told or (self.last_time, self._next_place())
        self.frames.append(Evidence(t, direction, message, place))
        self._news.set()
        if self._told is not None and self._told.was_closed and not self._told.has_more("a2c"):
            self.all_came.set()


def _is_ours(frame: Evidence) -> bool:
    """Whether a note is about the recording, and tells nothing of the agent."""
    return frame.direction == NOTE and not {ABOUT, PART}.isdisjoint(frame.message)


def answers(message: Any, number: Any) -> bool:
    """Whether a frame is the answer to the request with this number."""
    is_answer = isinstance(message, dict) and ("result" in message or "error" in message)
    return is_answer and message.get("id") in (number, str(number))


class Told:
    """What a tape tells of one run beyond its frames: their times and places, and the notes.

    Args:
        lines: the run's.
    """

    def __init__(self, lines: Iterable[Header | Entry]) -> None:
        self._places: dict[str, Places] = {}
        self._asked: set[str] = set()
        self._notes: dict[str, deque[Any]] = {}
        self.signed_in_by: str | None = None
        for line in lines:
            if isinstance(line, Entry):
                self._add(line)

    def next(self, direction: str) -> tuple[float, int] | None:
        """When the next frame of a direction passed, and its line; None behind the tape's end."""
        return self._places[direction].next() if self.has_more(direction) else None

    @property
    def was_closed(self) -> bool:
        """Whether it was the client that has ended the agent."""
        return CLOSED in self._notes

    @property
    def owes(self) -> bool:
        """Whether the next frame is the agent's; else a replay waits for the client."""
        theirs, ours = self._places.get("a2c"), self._places.get("c2a")
        return theirs is not None and (ours is None or theirs.line < ours.line)

    def has_more(
        self, direction: str, place: float = float("inf"), time: float = float("inf")
    ) -> bool:
        """Whether frames of a direction are still to come that passed before a place and a time."""
        places = self._places.get(direction)
        return places is not None and places.has_more(place, time)

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
        places = self._places.setdefault(entry.direction, Places())
        # A replay sends the members of a batch one by one.
        for frame in entry.message if isinstance(entry.message, list) else (entry.message,):
            if self._is_played(entry.direction, as_mapping(frame)):
                places.add(entry)
        said = as_mapping(entry.message)
        if entry.direction == NOTE:
            for name, value in said.items():
                self._notes.setdefault(name, deque()).append(value)
        elif entry.direction == "c2a" and said.get("method") == "authenticate":
            self.signed_in_by = text(mapping(said, "params"), "methodId")

    def _is_played(self, direction: str, frame: Mapping[str, Any]) -> bool:
        """Whether a replay sends it: no answer to what was not asked, or is answered already."""
        number = json.dumps(frame.get("id"))
        if direction == "c2a" and "method" in frame:
            self._asked.add(number)
        elif direction == "a2c" and "method" not in frame and frame.keys() & {"result", "error"}:
            is_first = number in self._asked
            self._asked.discard(number)
            return is_first
        return True


class Places:
    """Times and lines, one after the other; a tape may hold millions."""

    def __init__(self) -> None:
        self._times, self._lines, self._at = array("d"), array("q"), 0

    def add(self, entry: Entry) -> None:
        """The next one."""
        self._times.append(entry.t)
        self._lines.append(entry.line)

    @property
    def line(self) -> float:
        """The next one's line; behind all where none is left."""
        return self._lines[self._at] if self._at < len(self._lines) else float("inf")

    def has_more(self, place: float, time: float) -> bool:
        """Whether one is left that passed before a place, and until a time."""
        return self.line < place and self._times[self._at] <= time

    def next(self) -> tuple[float, int]:
        """The next one's time and line."""
        self._at += 1
        return self._times[self._at - 1], self._lines[self._at - 1]


def told_of_run(tape: Path, number: int) -> Told:
    """What a tape tells of one start of an agent.

    Args:
        tape: the file.
        number: of the run, from 1.

    Raises:
        TapeError: it cannot be used, or has no such run.
    """
    return Told(of_run(read(tape, lambda _: None), number))


def taped_about(tape: Path) -> dict[str, Any] | None:
    """What a tape was recorded with; None where no probes have recorded it.

    Raises:
        TapeError: it cannot be used.
    """
    for line in of_run(read(tape, lambda _: None), 1):
        if isinstance(line, Entry) and line.direction == NOTE and ABOUT in line.message:
            return dict(as_mapping(line.message[ABOUT]))
    return None
