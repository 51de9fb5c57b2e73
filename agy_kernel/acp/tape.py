"""The wire, recorded: always in a ring, and in a file where one is asked for.

A line of the file is ``{"t": seconds, "dir": "c2a" | "a2c" | "stderr" | "note", "msg": ...}``;
``msg`` is the frame itself, or a string where what came was not JSON. A note is no frame: it says
what the wire does not, such as the status that the agent ended with. Each agent that is started
begins with a header, ``{"tape": 1, ...}``. What is private never reaches a file or an eye
(``privacy.py``).
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import stat
import time
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from .. import __version__
from ..errors import SettingsError
from .privacy import Privacy

log = logging.getLogger(__name__)

Direction = Literal["c2a", "a2c", "stderr", "note"]
NOTE: Literal["note"] = "note"
EXIT = "exit"
"""The note of how an agent ended that nobody had told to."""
CLOSED = "closed"
"""The note that the client has ended the agent."""

FORMAT = 1
RING_ENTRIES = 2_000
RING_BYTES = 4 * 1024 * 1024
FILE_BYTES = 256 * 1024 * 1024
OLDER = 3
DIGITS = 4  # of the seconds


class Tape:
    """Records frames as they pass.

    Args:
        path: file to append every frame to as it happens; made readable by its owner only.
        privacy: what is left out of files and of what is shown; this machine's unless given.
        file_bytes: of a file that has grown longer, the name gets ``.1`` behind it and a new one
            is begun; ``OLDER`` such files are kept.

    Raises:
        SettingsError: the file cannot be written.
    """

    def __init__(
        self,
        path: Path | None = None,
        privacy: Privacy | None = None,
        file_bytes: int = FILE_BYTES,
    ) -> None:
        self.path = path
        self.written = 0
        self._given, self._file_bytes = privacy, file_bytes
        self._agent: dict[str, Any] = {}
        self._ring: deque[_Entry] = deque()
        self._bytes = 0
        self._start = time.monotonic()
        self._size = 0
        self._file: IO[bytes] | None = self._open_to_append(path) if path else None

    # -- what is recorded

    def begins(self, name: str, command: Sequence[str]) -> None:
        """An agent is started: what follows is its traffic, and ids begin anew."""
        self._agent = {"name": name, "command": list(command)}
        self._write_header()

    def knows(self, hello: Mapping[str, Any]) -> None:
        """The agent has told its own name and version; for files that are begun later."""
        self._agent = {**self._agent, "info": hello.get("agentInfo")}

    def sent(self, line: bytes, is_json: bool = True) -> None:
        """Record a frame of the client's."""
        self._record("c2a", line, is_json)

    def received(self, line: bytes, is_json: bool = True) -> None:
        """Record a line of the agent's; what is not JSON is kept as a string."""
        self._record("a2c", line, is_json)

    def stderr(self, line: bytes) -> None:
        """Record what the agent wrote to stderr."""
        self._record("stderr", line, is_json=False)

    def note(self, name: str, value: Any) -> None:
        """Record what the wire does not tell.

        Args:
            name: what it is.
            value: JSON.
        """
        self._record(NOTE, json.dumps({name: value}, ensure_ascii=False).encode("utf-8", "replace"))

    # -- files

    def start(self, path: Path) -> None:
        """Write every frame from now on to another file.

        Raises:
            SettingsError: the file cannot be written; then all stays as it was.
        """
        file = self._open_to_append(path)
        self.close()
        self.path, self._file, self.written = path, file, 0
        self._write_header()

    def close(self) -> None:
        """Close the file; the ring stays."""
        if self._file:
            self._file.close()
            self._file = None

    @property
    def is_writing(self) -> bool:
        """Whether frames go to a file now."""
        return self._file is not None

    def save(self, path: Path) -> int:
        """Write the ring to a file; returns the number of frames."""
        with private_file(path, "wb") as file:
            file.write(self._header())
            file.writelines(entry.encode(self._privacy) for entry in self._ring)
        return len(self._ring)

    def tail(self, n: int) -> list[str]:
        """The last ``n`` lines, as a file would hold them."""
        entries = list(self._ring)[-n:] if n else []
        return [entry.encode(self._privacy).decode().rstrip() for entry in entries]

    @property
    def last_time(self) -> float:
        """When the last line was recorded, in seconds, as it stands in a file."""
        return round(self._ring[-1].t, DIGITS)

    @property
    def _privacy(self) -> Privacy:
        # Made when it is needed: most kernels never show a frame to anybody.
        if self._given is None:
            self._given = Privacy.of_this_machine()
        return self._given

    def _record(self, direction: Direction, line: bytes, is_json: bool = True) -> None:
        entry = _Entry(time.monotonic() - self._start, direction, line, is_json)
        self._ring.append(entry)
        self._bytes += len(line)
        while len(self._ring) > RING_ENTRIES or (self._bytes > RING_BYTES and len(self._ring) > 1):
            self._bytes -= len(self._ring.popleft().line)
        if self._file:
            self._write(entry.encode(self._privacy))
            self.written += 1

    def _write_header(self) -> None:
        if self._file:
            self._write(self._header())

    def _header(self) -> bytes:
        header = {
            "tape": FORMAT,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "platform": platform.platform(),
            "client": {"name": "agy-kernel", "version": __version__},
            "agent": self._privacy.frame(self._agent) | self._command(),
        }
        return f"{json.dumps(header, ensure_ascii=False)}\n".encode("utf-8", "replace")

    def _command(self) -> dict[str, list[str]]:
        words = self._agent.get("command")
        return {"command": self._privacy.command(words)} if words else {}

    def _write(self, line: bytes) -> None:
        assert self._file is not None
        try:
            self._file.write(line)
            self._size += len(line)
            if self._size > self._file_bytes:
                self._rotate()
        except (OSError, SettingsError) as error:
            # A full disk ends the recording, not the conversation.
            reason = error.strerror if isinstance(error, OSError) else error
            log.warning("the tape %s ends here: %s", self.path, reason)
            self.close()

    def _rotate(self) -> None:
        assert self.path is not None
        self.close()
        for number in range(OLDER, 0, -1):
            newer = self.path if number == 1 else _older(self.path, number - 1)
            if newer.exists():
                newer.replace(_older(self.path, number))
        self._file = self._open_to_append(self.path)
        self._write_header()

    def _open_to_append(self, path: Path) -> IO[bytes]:
        file = private_file(path, "ab")
        self._size = os.fstat(file.fileno()).st_size
        return file


class _Entry(NamedTuple):
    t: float
    direction: Direction
    line: bytes
    is_json: bool

    def encode(self, privacy: Privacy) -> bytes:
        # A frame goes in as it came: decoding and encoding it again would cost as much as all else.
        text = self.line.decode("utf-8", "replace").strip()
        # Between the tokens of a frame a carriage return may stand; in a line of ours it may not.
        if self.is_json:
            message = privacy.line(text.replace("\r", " "))
        else:
            message = json.dumps(privacy.text(text))
        line = f'{{"t": {self.t:.{DIGITS}f}, "dir": "{self.direction}", "msg": {message}}}\n'
        return line.encode("utf-8", "replace")


def _older(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def private_file(path: Path, mode: Literal["ab", "wb"]) -> IO[bytes]:
    """Open a file that only its owner reads, to be written at once.

    Raises:
        SettingsError: it cannot be written.
    """
    try:
        file: IO[bytes] = open(path, mode, buffering=0, opener=_private)  # noqa: SIM115 - closed by who asked
    except OSError as error:
        raise SettingsError(f"the tape {path} cannot be written: {error.strerror}") from None
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        with contextlib.suppress(OSError):  # the file is another's, who let us write
            path.chmod(0o600)
    return file


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
