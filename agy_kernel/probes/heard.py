"""What a session tells around the answer to a request: before it, or behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..acp.fields import as_mapping, mapping, text
from .recording import Evidence, Recording, answers
from .wire import Wire

COMMANDS = "available_commands_update"


@dataclass(frozen=True, slots=True)
class Update:
    """A ``session/update``.

    Args:
        kind: its ``sessionUpdate``.
        fields: its ``update``.
        after: seconds from the answer to it; negative where it came before.
        is_late: whether it stands behind the answer.
    """

    kind: str
    fields: Mapping[str, Any]
    after: float
    is_late: bool

    @property
    def text(self) -> str:
        """The text in a chunk."""
        return text(mapping(self.fields, "content"), "text")


def heard(recording: Recording, method: str, session_id: str) -> list[Update]:
    """The updates of a session since it was last opened by a method.

    Args:
        recording: of the agent's run.
        method: of the request.
        session_id: the session.
    """
    frames = recording.between(float("-inf"), float("inf"))
    asked, answered = _opened(frames, method, session_id)
    t = frames[answered].t
    return [
        Update(text(update, "sessionUpdate"), update, frame.t - t, n > answered)
        for n, frame in enumerate(frames[asked:], asked)
        for update in _updates(frame, session_id)
    ]


async def commands_of(wire: Wire, session_id: str, within: float) -> list[Update]:
    """The commands of a new session, as often as they are told in so many seconds."""

    def told() -> list[Update]:
        updates = heard(wire.recording, "session/new", session_id)
        return [u for u in updates if u.kind == COMMANDS and u.after <= within]

    await wire.until(lambda: bool(told()), within)
    return told()


def joined(updates: Iterable[Update], kind: str) -> str:
    """The text of all chunks of a kind."""
    return "".join(update.text for update in updates if update.kind == kind)


def _opened(frames: Sequence[Evidence], method: str, session_id: str) -> tuple[int, int]:
    """Where the request stands that has opened a session, and where its answer does."""
    for asked in reversed(range(len(frames))):
        if _field(frames[asked], "c2a", "method") != method:
            continue
        request = as_mapping(frames[asked].message)
        answered = _answered(frames, asked, request.get("id"))
        told = mapping(as_mapping(frames[answered].message), "result")
        if session_id in (text(mapping(request, "params"), "sessionId"), text(told, "sessionId")):
            return asked, answered
    raise LookupError(f"{method} has opened no session {session_id}")


def _answered(frames: Sequence[Evidence], asked: int, number: Any) -> int:
    """Where the answer to a request stands; or the request itself, where there is none."""
    later = range(asked + 1, len(frames))
    found = (n for n in later if frames[n].direction == "a2c")
    return next((n for n in found if answers(frames[n].message, number)), asked)


def _updates(frame: Evidence, session_id: str) -> Iterable[Mapping[str, Any]]:
    params = mapping(as_mapping(frame.message), "params")
    is_update = _field(frame, "a2c", "method") == "session/update"
    return (
        [mapping(params, "update")] if is_update and params.get("sessionId") == session_id else []
    )


def _field(frame: Evidence, direction: str, name: str) -> str:
    return text(as_mapping(frame.message), name) if frame.direction == direction else ""
