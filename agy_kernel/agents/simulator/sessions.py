"""Sessions, and their files: one JSON object each, so that a fresh process can load them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import uuid
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .catalogue import DEFAULTS

FIRST_STEP = 7  # the first seed document's tool call was "<sessionId>:7"
TITLE_LENGTH = 60


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


@dataclass
class Exchange:
    """A prompt's text and the whole text of its answer: what a load replays."""

    user: str
    agent: str = ""


@dataclass
class Record:
    """What a session's file holds.

    Args:
        config: the chosen ``model`` and ``mode``.
        steps: counts the tool calls that have numbers, so that no number is used twice.
        exchanges: the turns so far.
        updated: when the last turn began, in ISO 8601.
    """

    cwd: str
    config: dict[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    steps: int = FIRST_STEP
    exchanges: list[Exchange] = field(default_factory=list)
    updated: str = field(default_factory=_now)


class Session:
    """An open session.

    Args:
        session_id: a UUID.
        record: what is kept of it.
        mcp_servers: names of the MCP servers that the client configured.
    """

    def __init__(self, session_id: str, record: Record, mcp_servers: tuple[str, ...] = ()) -> None:
        self.id, self.record, self.mcp_servers = session_id, record, mcp_servers
        self.turn: asyncio.Task[Any] | None = None

    @property
    def cwd(self) -> Path:
        """The folder that the session works in."""
        return Path(self.record.cwd)

    @property
    def mode(self) -> str:
        """The permission mode."""
        return self.record.config["mode"]

    def begin(self, prompt: str) -> Exchange:
        """Begin a turn."""
        exchange = Exchange(prompt)
        self.record.exchanges.append(exchange)
        self.record.updated = _now()
        return exchange

    def next_step(self) -> int:
        """The number of the next tool call that has one."""
        self.record.steps += 1
        return self.record.steps - 1


class Store:
    """The folder of sessions; made when the first one is saved.

    Args:
        folder: where; a folder that cannot be written costs only the memory of sessions.
        keep_config: whether a loaded session comes back with the model and mode that it had.
    """

    def __init__(self, folder: Path, keep_config: bool = False) -> None:
        self._folder, self._keep_config = folder / "sessions", keep_config
        self.brain = folder / "brain"
        self._complained = False

    def save(self, session: Session) -> None:
        """Write a session's file, atomically."""
        text = json.dumps({"id": session.id, **asdict(session.record)}, indent=1)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            _replace(self._file(session.id), text)
        except OSError as error:
            if not self._complained:
                self._complained = True
                print(f"simulator: sessions cannot be kept: {error}", file=sys.stderr)

    def load(self, session_id: str) -> Record | None:
        """Read a session's file; None where there is none."""
        if not _is_uuid(session_id):
            return None
        return self._read(self._file(session_id))

    def list(self) -> list[dict[str, str]]:
        """Every kept session as ``session/list`` tells of it, the latest first."""
        records = {file.stem: self._read(file) for file in self._folder.glob("*.json")}
        told = [_told(session_id, record) for session_id, record in records.items() if record]
        return sorted(told, key=lambda session: session["updatedAt"], reverse=True)

    def _file(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.json"

    def _read(self, file: Path) -> Record | None:
        try:
            kept = json.loads(file.read_text(encoding="utf-8"))
            return Record(
                kept["cwd"],
                {**DEFAULTS, **kept["config"]} if self._keep_config else dict(DEFAULTS),
                kept["steps"],
                [Exchange(**exchange) for exchange in kept["exchanges"]],
                kept["updated"],
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None  # no such session, or not a file of ours


def new_id() -> str:
    """A new session's id."""
    return str(uuid.uuid4())


def default_folder() -> Path:
    """Where sessions are kept unless told otherwise: the user's cache folder."""
    if sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home())
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "agy-kernel" / "simulator"


def _told(session_id: str, record: Record) -> dict[str, str]:
    told = {"sessionId": session_id, "cwd": record.cwd, "updatedAt": record.updated}
    if record.exchanges and (title := record.exchanges[0].user.strip()):
        told["title"] = title.splitlines()[0][:TITLE_LENGTH]
    return told


def _replace(file: Path, text: str) -> None:
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    fresh.touch(mode=0o600)
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(file)


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
