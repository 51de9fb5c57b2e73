"""How a transcript is spread over the outputs of a cell.

JupyterLab shows 50 outputs of a cell; a question beyond them would be invisible, and the turn
would wait for ever. So a turn makes at most 40. At first each stretch of text, each run of tool
calls and each question is a page of its own, in order of arrival. When most outputs are used, one
rolling page takes everything that follows, larger each time it is begun anew, and questions are
asked in a slot below it.

Long texts are cut in parts, so that only the last one has to be drawn again while it grows. Pages
only know where things go; what they look like is told to them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..conversation.transcript import Entry, Message
from .cuts import cut_point, hard_cut

MAX_OUTPUTS = 40
OWN_PAGES = 24
LAST_PAGE = MAX_OUTPUTS - 3  # a slot for questions may follow, and the footer will
BLOCK = 8_000
HARD_BLOCK = 64_000
WORK_BLOCK = 16_000
ROLLING_BLOCK = 64_000

Kind = Literal["text", "work", "question", "rolling", "slot", "footer"]


@dataclass(slots=True)
class Segment:
    """A part of the transcript: an entry, or of a text the part from ``start`` to ``end``.

    Args:
        end: None while the part may grow.
        prefix: what opens the part again where a code fence was cut.
        suffix: what closes it.
        size: characters that it takes on its page, more or less.
    """

    entry: int
    start: int = 0
    end: int | None = None
    prefix: str = ""
    suffix: str = ""
    size: int = 0

    def text(self, message: Message) -> str:
        """The Markdown of this part."""
        return self.prefix + self.exact(message) + self.suffix

    def exact(self, message: Message) -> str:
        """What the agent said in this part."""
        return message.text[self.start : self.end]


@dataclass(slots=True, eq=False)
class Page:
    """One output.

    Args:
        kind: what it may hold; a ``slot`` holds nothing of its own, only open questions.
        shown: what was published last; None before anything was.
        has_plain: whether a plain text was published with it.
    """

    kind: Kind = "work"
    segments: list[Segment] = field(default_factory=list)
    display_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    shown: str | None = None
    has_plain: bool = False

    @property
    def size(self) -> int:
        """Characters, more or less."""
        return sum(segment.size for segment in self.segments)


class Pages:
    """The pages of one turn.

    Args:
        measure: tells how many characters an entry takes that is no text.
    """

    def __init__(self, measure: Callable[[Segment], int]) -> None:
        self._measure = measure
        self._all: list[Page] = []
        self._spare: Page | None = None
        self._of_entry: list[Page] = []
        self._dirty: set[Page] = set()

    # -- what is shown where

    def place(self, entries: Sequence[Entry]) -> None:
        """Give every new entry a page, and cut what has grown too long."""
        for index in range(len(self._of_entry), len(entries)):
            self._cut_up(entries, index - 1)
            segment = Segment(index)
            if not isinstance(entries[index], Message):
                segment.size = self._measure(segment)
            self._put(self._page_for(entries[index]), segment)
        self._cut_up(entries, len(entries) - 1)

    def touch(self, index: int) -> None:
        """An entry has changed."""
        self._dirty.add(self._of_entry[index])

    def ask(self, index: int) -> Page:
        """The page on which to ask about an entry."""
        page = self._slot() if self._is_long else self._alone(index)
        self._dirty.add(page)
        return page

    def asked(self, page: Page) -> None:
        """No question is shown on this page any more."""
        if page.kind == "question":
            page.kind = "work"
        self._dirty.add(page)

    def spare(self) -> Page:
        """An output at the end, which the next page takes over."""
        if self._spare is None:
            self._spare = Page()
        return self._spare

    def footer(self) -> Page:
        """A page at the end, with nothing else on it."""
        return self._new("footer")

    # -- what is to be drawn

    @property
    def has_changes(self) -> bool:
        """Whether something is to be drawn."""
        return bool(self._dirty)

    def changed(self) -> list[Page]:
        """The pages to be drawn, in the order of their outputs; they count as drawn then."""
        pages = [page for page in self._all if page in self._dirty]
        self._dirty.clear()
        return pages

    def finish(self) -> None:
        """Everything is to be drawn for good."""
        self._dirty.update(page for page in self._all if page.kind != "footer")

    def is_sealed(self, page: Page) -> bool:
        """Whether no text grows on a page any more."""
        return not self._of_entry or page is not self._of_entry[-1]

    # -- placing

    @property
    def _is_long(self) -> bool:
        return len(self._all) >= OWN_PAGES

    def _put(self, page: Page, segment: Segment) -> None:
        if self._of_entry:
            self._dirty.add(self._of_entry[-1])  # it may be sealed now
        page.segments.append(segment)
        self._of_entry[segment.entry :] = [page]
        self._dirty.add(page)

    def _page_for(self, entry: Entry) -> Page:
        if self._is_long:
            return self._rolling()
        if isinstance(entry, Message) and entry.role == "agent":
            return self._new("text")
        last = self._all[-1] if self._all else None
        has_room = last is not None and last.kind == "work" and last.size < WORK_BLOCK
        return last if last is not None and has_room else self._new("work")

    def _rolling(self) -> Page:
        rolling = [page for page in self._all if page.kind == "rolling"]
        capacity = ROLLING_BLOCK << max(0, len(rolling) - 1)
        if rolling and (len(self._all) >= LAST_PAGE or rolling[-1].size < capacity):
            return rolling[-1]
        return self._new("rolling")

    def _new(self, kind: Kind) -> Page:
        page, self._spare = self._spare or Page(), None
        page.kind = kind
        self._all.append(page)
        return page

    # -- questions

    def _slot(self) -> Page:
        if self._all[-1].kind != "slot":
            self._new("slot")
        return self._all[-1]

    def _alone(self, index: int) -> Page:
        """The page of an entry, and nothing else on it; the order is kept if it is the last one."""
        page = self._of_entry[index]
        at = next(i for i, segment in enumerate(page.segments) if segment.entry == index)
        is_first, is_last = at == 0, page is self._all[-1]
        own = page
        if not is_first or (not is_last and len(page.segments) > 1):
            own = self._move(page, at, at + 1, "question")
        if is_last:
            self._move(page, at + 1 if own is page else at, len(page.segments), "work")
        own.kind = "question"
        return own

    def _move(self, page: Page, start: int, end: int, kind: Kind) -> Page:
        """Move segments to a new page."""
        moved = page.segments[start:end]
        if not moved:
            return page
        del page.segments[start:end]
        new = self._new(kind)
        new.segments += moved
        for segment in moved:
            self._of_entry[segment.entry] = new
        self._dirty |= {page, new}
        return new

    # -- cutting text

    def _cut_up(self, entries: Sequence[Entry], index: int) -> None:
        message = entries[index] if index >= 0 else None
        if isinstance(message, Message):
            while self._cut(index, message):
                pass

    def _cut(self, index: int, message: Message) -> bool:
        segment = self._of_entry[index].segments[-1]
        text = segment.prefix + message.text[segment.start : segment.start + HARD_BLOCK + 1]
        segment.size = len(text)
        at, suffix, prefix = _cut_of(text)
        if not at:
            return False
        segment.end = segment.start + at - len(segment.prefix)
        segment.suffix, segment.size = suffix, at
        self._put(self._page_for(message), Segment(index, segment.end, prefix=prefix))
        return True


def _cut_of(text: str) -> tuple[int, str, str]:
    """Where to cut a text, and what to add on both sides; 0 where it is to stay whole."""
    if len(text) <= BLOCK:
        return 0, "", ""
    if at := cut_point(text[:HARD_BLOCK], BLOCK // 2):
        return at, "", ""
    return hard_cut(text, HARD_BLOCK) if len(text) > HARD_BLOCK else (0, "", "")
