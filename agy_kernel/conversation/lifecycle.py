"""What has happened to a conversation, the last of it: for `%agy doctor`."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass

from .engine import Engine

KEPT = 60


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that has happened.

    Args:
        at: seconds since 1970.
        what: a few words.
    """

    at: float
    what: str


class Lifecycle:
    """The last moments of a conversation, and what was seen of processes that are gone.

    Args:
        now: the time, in seconds since 1970.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self.moments: deque[Moment] = deque(maxlen=KEPT)
        self.bad_frames: Counter[str] = Counter()
        self.last_words = ""

    def note(self, what: str) -> None:
        """Something has happened now."""
        self.moments.append(Moment(self._now(), what))

    def bury(self, engine: Engine) -> None:
        """Keep what has been seen of a process that is let go."""
        self.bad_frames.update(engine.bad_frames)
        self.last_words = engine.last_words
