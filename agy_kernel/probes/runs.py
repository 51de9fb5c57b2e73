"""The starts of an agent, one after the other, and all that is seen of them: on one tape.

What probes are put to is a kind of this: a ``Subject``, which speaks frame by frame, or a
``Partner``, which has conversations with an engine.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ..acp.process import Launch
from .probe import NotAsked
from .recording import Evidence, Recording, told_of_run

T = TypeVar("T")
BEGINNING, END = float("-inf"), float("inf")
Place = tuple[int, float]
"""The number of a start, from 1, and a place on its recording."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Where an agent is started for a suite.

    Args:
        launch: how to start it.
        folder: where it works; nothing else is in there at first.
        tape: where everything is recorded; None for nowhere.
        replay: the tape to play in place of the agent.
        about: noted at each start.
    """

    launch: Launch
    folder: Path
    tape: Path | None = None
    replay: Path | None = None
    about: Mapping[str, Any] = field(default_factory=dict)


class Runs(ABC):
    """Starts of an agent on one stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._recordings: list[Recording] = []
        self._seen_before: list[Evidence] = []
        self._once: dict[str, tuple[Any, tuple[Evidence, ...]]] = {}

    @property
    def folder(self) -> Path:
        """Where the agent works."""
        return self._stage.folder

    @property
    def is_replay(self) -> bool:
        """Whether a tape is played, and no agent there."""
        return self._stage.replay is not None

    @property
    @abstractmethod
    def info(self) -> Mapping[str, Any]:
        """Who it says it is: ``name``, ``title``, ``version``."""

    @abstractmethod
    async def stop(self) -> None:
        """End the agent, politely at first, and whatever it started."""

    @abstractmethod
    async def settle(self) -> None:
        """Leave nothing running that the next probe would hear of."""

    def _new_run(self) -> tuple[Launch, Recording]:
        """How the next start is made, and what records it.

        Raises:
            TapeError: the tape that is played has no such start.
        """
        number, stage = len(self._recordings) + 1, self._stage
        told = told_of_run(stage.replay, number) if stage.replay is not None else None
        recording = Recording(stage.tape, told, stage.about)
        self._recordings.append(recording)
        if stage.replay is None:
            return stage.launch, recording
        command = (sys.executable, "-m", "agy_kernel.cli", "replay", str(stage.replay))
        return Launch("replay", (*command, "--run", str(number))), recording

    # -- what is seen

    def observe(self, name: str, measure: Callable[[], T]) -> T:
        """See something that does not pass on the wire, and note it; of a replay, as it was noted.

        Args:
            name: what it is.
            measure: returns it; JSON.

        Raises:
            NotAsked: the tape that is played has no such note.
        """
        recording = self._recordings[-1]
        if not recording.is_replay:
            value = measure()
        else:
            try:
                value = recording.noted(name)
            except LookupError:
                raise NotAsked(f"the tape does not tell the {name}") from None
        recording.note(name, value)
        return value

    async def once(self, what: str, make: Callable[[], Awaitable[T]]) -> T:
        """What several probes look at, made by the first of them; all have its evidence."""
        if what not in self._once:
            begin = await self.here()
            value = await make()
            self._once[what] = value, self.between(begin, await self.here())
        else:
            self._seen_before += self._once[what][1]
        return self._once[what][0]  # type: ignore[no-any-return]  # of the same make

    async def here(self) -> Place:
        """Where everything is now: the same frame in a replay."""
        recordings = len(self._recordings)
        return recordings, await self._recordings[-1].part_ends() if recordings else BEGINNING

    def between(self, begin: Place, end: Place) -> tuple[Evidence, ...]:
        """What has passed between two places."""
        found: list[Evidence] = []
        for number in range(max(begin[0], 1), end[0] + 1):
            first = begin[1] if number == begin[0] else BEGINNING
            last = end[1] if number == end[0] else END
            found += self._recordings[number - 1].between(first, last)
        return tuple(found)

    async def probed(self, ask: Awaitable[T]) -> tuple[T, tuple[Evidence, ...]]:
        """Put a question; returns what was found, and all that has passed meanwhile."""
        self._seen_before = []
        begin = await self.here()
        try:
            found = await ask
            evidence = self.between(begin, await self.here())
        finally:
            await self.settle()
        return found, (*self._seen_before, *evidence)

    def history(self) -> tuple[Evidence, ...]:
        """All that has passed, over all starts."""
        return tuple(frame for recording in self._recordings for frame in recording.frames)
