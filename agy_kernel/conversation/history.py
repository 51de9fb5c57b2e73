"""What was said in a session before it was loaded, shortened for reading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ..events import Event, TextChunk, ToolCallUpdate

KEPT, KEPT_CHARS = 40, 30_000


@dataclass(frozen=True, slots=True)
class Said:
    """A prompt, a reply, or the title of a tool call."""

    by: Literal["you", "agent", "tool"]
    text: str


@dataclass(frozen=True, slots=True)
class History:
    """The end of what was said.

    Args:
        said: in order.
        left_out: how many messages came before that.
    """

    said: tuple[Said, ...]
    left_out: int = 0


def history(events: Iterable[Event]) -> History:
    """What a replay tells; thoughts and all that is no message are left out."""
    said = [one for one in _joined(events) if one.text.strip()]
    kept: list[Said] = []
    room = KEPT_CHARS
    for one in reversed(said[-KEPT:]):
        if len(one.text) > room:
            break
        room -= len(one.text)
        kept.insert(0, one)
    return History(tuple(kept), len(said) - len(kept))


def _joined(events: Iterable[Event]) -> Iterable[Said]:
    titles: set[str] = set()
    by: Literal["you", "agent"] | None = None
    texts: list[str] = []
    for event in events:
        if isinstance(event, TextChunk) and event.role != "thought":
            who: Literal["you", "agent"] = "you" if event.role == "user" else "agent"
            if by is not None and by != who:
                yield Said(by, "".join(texts))
                texts = []
            by = who
            texts.append(event.text)
        elif isinstance(event, ToolCallUpdate) and event.title and event.id not in titles:
            titles.add(event.id)
            if by is not None:
                yield Said(by, "".join(texts))
            by, texts = None, []
            yield Said("tool", event.title)
    if by is not None:
        yield Said(by, "".join(texts))
