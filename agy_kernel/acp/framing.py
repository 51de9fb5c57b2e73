"""Frames out of a stream of bytes: one JSON text a line, however the bytes are split."""

from __future__ import annotations

from typing import NamedTuple

MAX_FRAME = 64 * 1024 * 1024
KEPT = 4096


class Torn(NamedTuple):
    """What is kept of a line that was too long: enough to tell what was lost."""

    head: bytes
    tail: bytes


Line = bytes | Torn


class FrameSplitter:
    """Cuts a stream of bytes into lines.

    Args:
        max_frame: bytes; of a longer line only both ends are kept.
    """

    def __init__(self, max_frame: int = MAX_FRAME) -> None:
        self._max_frame, self._kept = max_frame, min(KEPT, max_frame)
        self._open = bytearray()
        self._head: bytes | None = None  # of a line that is too long already

    def feed(self, data: bytes) -> list[Line]:
        """Take some bytes; returns the lines that they complete, without their newlines."""
        *ended, rest = data.split(b"\n")
        lines = [self._close(piece) for piece in ended]
        self._extend(rest)
        return lines

    def rest(self) -> Line:
        """What came after the last newline."""
        return self._close(b"")

    def _close(self, piece: bytes) -> Line:
        if not self._open and len(piece) <= self._max_frame:
            return piece
        self._extend(piece)
        head, end = self._head, bytes(self._open)
        self._head = None
        self._open.clear()
        return end if head is None else Torn(head, end)

    def _extend(self, piece: bytes) -> None:
        self._open += piece
        if self._head is None and len(self._open) > self._max_frame:
            self._head = bytes(self._open[: self._kept])
        if self._head is not None:
            del self._open[: -self._kept]
