"""Agents that say the whole text so far again, cut to what is new.

A chunk should hold what is new. Some agents send the whole text so far in each chunk, others the
whole message once more after its pieces (peers.md, antigravity.md). A text can also repeat itself,
and must then be shown as it is: "ha" and "ha", "1" and "10", a line over and over. A chunk that
begins with all that came before it may be either; it counts as sent again

- in a row of chunks from the first one on, each of which begins with the whole one before it:
  where two have done so that repeat 16 characters together, or one that repeats 200, or one that
  runs on: 8 characters or more, words with a space between them, but none where the one text ends
  and the other begins, as if "all is well" were followed by "all is well today";
- after several chunks: where it runs on, or where the text is 32 characters or more and came in
  four chunks or more; then a chunk that differs in the space around it counts, too.

A text that is a repetition itself, or that begins anew behind the repeated part, tells nothing: in
"abcd" and "abcdabcd" there is no end of the whole. What cannot be decided yet is held back until
the next chunk, at most eight of them, and is given out as it came when the row ends.
"""

from __future__ import annotations

from collections.abc import Callable

RUN_ON, TWICE, ONCE, LATER = 8, 16, 200, 32  # characters
PIECES = 4
MOST_HELD = 8
AROUND = 16  # characters of white space that may differ at the ends


class Resends:
    """How the text of one message comes."""

    def __init__(self) -> None:
        self._size = self._count = 0
        self._row = ""
        """The last chunk of the row, empty when the row has ended."""
        self._held: list[str] = []
        self._links = self._repeated = 0
        self._comes_whole = False

    @property
    def holds(self) -> bool:
        """Whether something is held back."""
        return bool(self._held)

    def take(self, chunk: str, so_far: Callable[[], str]) -> str:
        """What a chunk adds to the text.

        Args:
            so_far: the text so far; asked for when a chunk is about as long as that.
        """
        if len(chunk) + AROUND >= self._size:
            chunk = self._judge(chunk, so_far)
        elif self._row:
            chunk = self.rest() + chunk
        self._count += 1
        self._size += len(chunk)
        return chunk

    def rest(self) -> str:
        """What was held back, when there is no next chunk that could decide."""
        held = "".join(self._held)
        self._held.clear()
        self._row = ""
        return held

    def _judge(self, chunk: str, so_far: Callable[[], str]) -> str:
        if not self._count:
            self._row = chunk
            return chunk
        if self._row:
            return self._continue_row(chunk)
        text = so_far()
        if self._comes_whole or self._is_text_again(text, chunk):
            if chunk.startswith(text):
                self._comes_whole = True
                return chunk[len(text) :]
            if chunk.strip() == text.strip():
                return ""
        return chunk

    # -- a row from the first chunk on

    def _continue_row(self, chunk: str) -> str:
        last = self._row
        if len(chunk) <= len(last) or not chunk.startswith(last) or len(self._held) == MOST_HELD:
            return self.rest() + chunk
        if _tells(last, chunk):
            self._links += 1
            self._repeated += len(last)
            if self._is_row(last, chunk):
                self._comes_whole = True
                self.rest()
                return chunk[self._size :]
        self._row = chunk
        self._held.append(chunk)
        return ""

    def _is_row(self, last: str, chunk: str) -> bool:
        twice = self._links >= 2 and self._repeated >= TWICE
        return twice or len(last) >= ONCE or _runs_on(last, chunk)

    # -- after several chunks

    def _is_text_again(self, text: str, chunk: str) -> bool:
        if chunk.startswith(text) and _tells(text, chunk) and _runs_on(text, chunk):
            return True
        core = text.strip()
        is_long = len(core) >= LATER and self._count >= PIECES
        is_again = chunk.startswith(text) or chunk.strip() == core
        return is_long and is_again and _tells(core, chunk.strip())


def _tells(before: str, chunk: str) -> bool:
    """Whether it tells anything that ``chunk`` begins with ``before``."""
    behind = chunk[len(before) : 2 * len(before)]
    begins_anew = bool(behind) and before.startswith(behind)
    is_repetition = (before + before).find(before, 1) < len(before)
    return not begins_anew and not is_repetition


def _runs_on(before: str, chunk: str) -> bool:
    """Whether two texts of words would run into each other, if one were to follow the other."""
    ends = before[-1].isalnum() or before[-1] in ".!?"
    has_words = len(before) >= RUN_ON and len(before.split(maxsplit=1)) > 1
    return has_words and ends and chunk[0].isalnum()
