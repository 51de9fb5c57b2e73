"""What a session tells around the answer to a request: before it, or behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..acp.fields import as_mapping, mapping, text
from .recording import Evidence, Recording, answers


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
    """The updates of a session since a method was last asked for, which was answered.

    Args:
        recording: of the agent's run.
        method: of the request.
        session_id: the session.
    """
    frames = recording.between(float("-inf"), float("inf"))
    at = max(n for n, frame in enumerate(frames) if _field(frame, "c2a", "method") == method)
    number, since = as_mapping(frames[at].message).get("id"), frames[at + 1 :]
    answer = next(
        n for n, f in enumerate(since) if f.direction == "a2c" and answers(f.message, number)
    )
    t = since[answer].t
    return [
        Update(text(update, "sessionUpdate"), update, frame.t - t, n > answer)
        for n, frame in enumerate(since)
        for update in _updates(frame, session_id)
    ]


def joined(updates: Iterable[Update], kind: str) -> str:
    """The text of all chunks of a kind."""
    return "".join(update.text for update in updates if update.kind == kind)


def _updates(frame: Evidence, session_id: str) -> Iterable[Mapping[str, Any]]:
    params = mapping(as_mapping(frame.message), "params")
    is_update = _field(frame, "a2c", "method") == "session/update"
    return (
        [mapping(params, "update")] if is_update and params.get("sessionId") == session_id else []
    )


def _field(frame: Evidence, direction: str, name: str) -> str:
    return text(as_mapping(frame.message), name) if frame.direction == direction else ""
