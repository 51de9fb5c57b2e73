"""The Markdown of a turn's parts, made once for each state of what they show."""

from __future__ import annotations

from collections.abc import Iterable

from ..conversation.transcript import Entry
from .entries import markdown
from .pages import Segment
from .place import Place


class Rendered:
    """Remembers what the parts that may be drawn again look like.

    Of a part of a text that is sealed nothing but the Markdown is kept: with the message it was
    made from, every state of a long message would stay in memory.

    Args:
        place: where they are shown.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._made: dict[tuple[int, int], tuple[Entry | None, str]] = {}

    def markdown(self, entry: Entry, segment: Segment) -> str:
        """The Markdown of a part of an entry."""
        key, state = (segment.entry, segment.start), entry if segment.end is None else None
        made = self._made.get(key)
        if made is None or made[0] is not state:
            made = self._made[key] = state, markdown(entry, segment, self._place)
        return made[1]

    def forget(self, segments: Iterable[Segment]) -> None:
        """Let go of parts that will hardly be drawn again; they are made anew if they are."""
        for segment in segments:
            self._made.pop((segment.entry, segment.start), None)
