"""How a transcript is spread over the outputs of a cell.

JupyterLab shows 50 outputs of a cell; a question beyond them would be invisible, and the turn
would wait for ever. So a turn makes at most 40. At first each stretch of text, each run of tool
calls and each question is a page of its own, in order of arrival. When the turn turns out to be
long, everything that follows goes to a small page at the end, and a large page above it takes that
over again and again. A large page holds a share of the whole: the longer the turn, the larger.
Questions are then asked in a slot below.

Long texts are cut in parts, so that only the last one has to be drawn again while it grows. Pages
only know where things go; what they look like is told to them.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..conversation.transcript import Entry, Message
from .cuts import cut_point, hard_cut

MAX_OUTPUTS = 40
OWN_PAGES = 20
LAST_PAGE = MAX_OUTPUTS - 3  # a slot for questions may follow, and the footer will
BLOCK = 8_000
HARD_BLOCK = 64_000
WORK_BLOCK = 16_000
LONG = 64_000
LARGE_PAGE = 32_000  # a browser renders that much Markdown in a tenth of a second or two
LARGE_SHARE = 8  # so that outputs suffice for 3 MB of prose, or 14 MB of code
TAIL_SHARE = 4

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
        shown: hash of what was published last; None before anything was.
        has_plain: whether a plain text was published with it.
        rests_until: when it may be drawn again, unless something was put on it or taken away.
    """

    kind: Kind = "work"
    segments: list[Segment] = field(default_factory=list)
    display_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    shown: int | None = None
    has_plain: bool = False
    rests_until: float = 0.0

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
        self._large: Page | None = None
        self._tail: Page | None = None
        self._capacity = LARGE_PAGE
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
        self._wake(page)
        return page

    def asked(self, page: Page) -> None:
        """No question is shown on this page any more."""
        if page.kind == "question":
            page.kind = "work"
        self._wake(page)

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

    def changed(self, now: float = math.inf) -> list[Page]:
        """The pages to be drawn, in the order of their outputs; they count as drawn then.

        Args:
            now: pages that rest until later are left out.
        """
        pages = [p for p in self._all if p in self._dirty and p.rests_until <= now]
        self._dirty.difference_update(pages)
        return pages

    def finish(self) -> None:
        """What was not drawn for good is to be drawn."""
        self._dirty.update(p for p in self._all if p.kind != "footer" and not p.has_plain)

    def is_sealed(self, page: Page) -> bool:
        """Whether nothing more is put on a page, and no text grows on it."""
        is_last = bool(self._of_entry) and page is self._of_entry[-1]
        return not is_last and page not in (self._large, self._tail)

    # -- placing

    @property
    def _is_long(self) -> bool:
        return self._tail is not None or len(self._all) >= OWN_PAGES or self._size >= LONG

    @property
    def _size(self) -> int:
        return sum(page.size for page in self._all)

    def _put(self, page: Page, segment: Segment) -> None:
        if self._of_entry:
            self._wake(self._of_entry[-1])  # it may be sealed now
        page.segments.append(segment)
        self._of_entry[segment.entry :] = [page]
        self._wake(page)

    def _wake(self, page: Page) -> None:
        page.rests_until = 0.0
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
        """The small page at the end; before it holds much, the large one takes that over."""
        if self._tail is None:
            self._tail = self._new("rolling")
        elif self._tail.size >= self._capacity // TAIL_SHARE:
            self._grow_large(self._tail)
        return self._tail

    def _grow_large(self, tail: Page) -> None:
        large = self._large
        is_full = large is None or large.size >= self._capacity
        if large is None or (is_full and len(self._all) < LAST_PAGE):
            self._large, self._tail = tail, self._new("rolling")
            if large is not None:
                self._wake(large)  # it is sealed now
        else:
            self._move(tail, 0, len(tail.segments), large)
        self._capacity = max(LARGE_PAGE, self._size // LARGE_SHARE)

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
            own = self._split(page, at, at + 1, "question")
        if is_last:
            self._split(page, at + 1 if own is page else at, len(page.segments), "work")
        own.kind = "question"
        return own

    def _split(self, page: Page, start: int, end: int, kind: Kind) -> Page:
        """Move segments, if there are any, to a new page."""
        if start == end:
            return page
        new = self._new(kind)
        self._move(page, start, end, new)
        return new

    def _move(self, page: Page, start: int, end: int, to: Page) -> None:
        moved = page.segments[start:end]
        del page.segments[start:end]
        to.segments += moved
        for segment in moved:
            self._of_entry[segment.entry] = to
        self._wake(page)
        self._wake(to)

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
