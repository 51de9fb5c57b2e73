"""Frames out of a stream of bytes: one JSON text a line, however the bytes are split."""

from __future__ import annotations

MAX_FRAME = 256 * 1024 * 1024


class FrameSplitter:
    """Cuts a stream of bytes into lines.

    Args:
        max_frame: bytes; of a longer line only the fact is reported, as None.
    """

    def __init__(self, max_frame: int = MAX_FRAME) -> None:
        self._max_frame = max_frame
        self._open = bytearray()
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes | None]:
        """Take some bytes; returns the lines that they complete, without their newlines."""
        *ended, rest = data.split(b"\n")
        lines: list[bytes | None] = []
        for piece in ended:
            lines += self._close(piece)
        self._extend(rest, lines)
        return lines

    def rest(self) -> bytes:
        """What came after the last newline."""
        return bytes(self._open)

    def _close(self, piece: bytes) -> list[bytes | None]:
        if self._skipping:
            self._skipping = False
            return []
        if len(self._open) + len(piece) > self._max_frame:
            self._open.clear()
            return [None]
        if not self._open:
            return [piece]
        line = bytes(self._open + piece)
        self._open.clear()
        return [line]

    def _extend(self, rest: bytes, lines: list[bytes | None]) -> None:
        if self._skipping:
            return
        self._open += rest
        if len(self._open) > self._max_frame:
            self._open.clear()
            self._skipping = True
            lines.append(None)
