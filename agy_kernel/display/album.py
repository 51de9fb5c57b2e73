"""How much of pictures and sound one turn may put into a notebook."""

from __future__ import annotations

from collections.abc import Hashable

EACH_BYTES = 4 * 1024 * 1024
TURN_BYTES = 16 * 1024 * 1024


class Album:
    """What was shown of pictures and sounds in a turn.

    A saved notebook keeps each of them as base64, which is longer by a third: with a hundred of
    them no front end would open it.

    Args:
        each: bytes of the largest one.
        turn: bytes of all together.
    """

    def __init__(self, each: int = EACH_BYTES, turn: int = TURN_BYTES) -> None:
        self.each, self._turn = each, turn
        self._shown: dict[Hashable, int] = {}

    def is_too_large(self, size: int) -> str:
        """Why something of this size is not shown, wherever it is; nothing if it may be."""
        is_too_large = size > self.each
        return f"it has {size:,} bytes, and at most {self.each:,} are shown" if is_too_large else ""

    def refuses(self, key: Hashable, size: int) -> str:
        """Why something is not to be shown; if it is, nothing, and it counts as shown.

        Args:
            key: what it is and where it stands: drawn again, it counts once.
            size: bytes.
        """
        if key in self._shown:
            return ""
        if why := self.is_too_large(size):
            return why
        if size + sum(self._shown.values()) > self._turn:
            return f"with its {size:,} bytes this turn would show more than {self._turn:,}"
        self._shown[key] = size
        return ""
