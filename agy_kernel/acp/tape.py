"""The wire, recorded: always in a ring, and in a file where one is asked for.

A line of the file is ``{"t": seconds, "dir": "c2a" | "a2c" | "stderr", "msg": ...}``; ``msg`` is
the frame itself, or a string where what came was not JSON; codes of a sign-in are left out of that.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections import deque
from pathlib import Path
from typing import IO, Literal, NamedTuple

from ..errors import SettingsError
from .masks import masked

log = logging.getLogger(__name__)

Direction = Literal["c2a", "a2c", "stderr"]

RING_ENTRIES = 2_000
RING_BYTES = 4 * 1024 * 1024


class Tape:
    """Records frames as they pass.

    Args:
        path: file to append every frame to as it happens; made readable by its owner only.

    Raises:
        SettingsError: the file cannot be written.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._ring: deque[_Entry] = deque()
        self._bytes = 0
        self._start = time.monotonic()
        self._file: IO[bytes] | None = _open(path) if path else None

    def sent(self, line: bytes) -> None:
        """Record a frame of ours."""
        self._record("c2a", line)

    def received(self, line: bytes, is_json: bool = True) -> None:
        """Record a line of the agent's; what is not JSON is kept as a string."""
        self._record("a2c", line, is_json)

    def stderr(self, line: bytes) -> None:
        """Record what the agent wrote to stderr."""
        self._record("stderr", line, is_json=False)

    def close(self) -> None:
        """Close the file; the ring stays."""
        if self._file:
            self._file.close()
            self._file = None

    def save(self, path: Path) -> int:
        """Write the ring to a file; returns the number of frames."""
        with _open(path, "wb") as file:
            file.writelines(entry.encode() for entry in self._ring)
        return len(self._ring)

    def tail(self, n: int) -> list[str]:
        """The last ``n`` lines, as a file would hold them."""
        return [entry.encode().decode().rstrip() for entry in list(self._ring)[-n:]]

    def _record(self, direction: Direction, line: bytes, is_json: bool = True) -> None:
        entry = _Entry(time.monotonic() - self._start, direction, line, is_json)
        self._ring.append(entry)
        self._bytes += len(line)
        while len(self._ring) > RING_ENTRIES or (self._bytes > RING_BYTES and len(self._ring) > 1):
            self._bytes -= len(self._ring.popleft().line)
        if self._file:
            self._write(self._file, entry)

    def _write(self, file: IO[bytes], entry: _Entry) -> None:
        try:
            file.write(entry.encode())
        except OSError as error:
            # A full disk ends the recording, not the conversation.
            log.warning("the tape %s ends here: %s", self.path, error.strerror)
            self.close()


class _Entry(NamedTuple):
    t: float
    direction: Direction
    line: bytes
    is_json: bool

    def encode(self) -> bytes:
        # A frame goes in as it came: decoding and encoding it again would cost as much as all else.
        text = self.line.decode("utf-8", "replace").strip()
        # Between the tokens of a frame a carriage return may stand; in a line of ours it may not.
        message = text.replace("\r", " ") if self.is_json else json.dumps(masked(text))
        return f'{{"t": {self.t:.4f}, "dir": "{self.direction}", "msg": {message}}}\n'.encode()


def _open(path: Path, mode: Literal["ab", "wb"] = "ab") -> IO[bytes]:
    try:
        return open(path, mode, buffering=0, opener=_private)
    except OSError as error:
        raise SettingsError(f"the tape {path} cannot be written: {error.strerror}") from None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
