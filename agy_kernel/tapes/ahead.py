"""The frames of one run, read as they are needed; one can look some way ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from .frames import Frame, Frames
from .reading import Entry, Header

FAR = 5_000  # frames


class Ahead:
    """A tape's frames, one by one.

    Args:
        lines: the lines of one run.
    """

    def __init__(self, lines: Iterator[Header | Entry]) -> None:
        told = Frames()
        self._frames = (frame for line in lines for frame in told.of(line))
        self._kept: deque[Frame] = deque()
        self.line = 0

    def next(self) -> Frame | None:
        """The next frame; None at the end."""
        frame = self.peek()
        if frame is not None:
            self.line = self._kept.popleft().entry.line
        return frame

    def peek(self) -> Frame | None:
        """The next frame, which stays the next."""
        return self.find(lambda _: True)

    def find(self, is_it: Callable[[Frame], bool]) -> Frame | None:
        """The first frame of a kind, looked for among the next ``FAR`` ones."""
        for frame in self._kept:
            if is_it(frame):
                return frame
        while len(self._kept) < FAR and (read := next(self._frames, None)):
            self._kept.append(read)
            if is_it(read):
                return read
        return None
