"""How a transcript is spread over the outputs of a cell.

JupyterLab shows 50 outputs of a cell; a question beyond them would be invisible, and the turn
would wait for ever. So a turn makes at most 40. At first each stretch of text, each run of tool
calls and each question is a page of its own, in order of arrival. When most outputs are used, one
rolling page takes everything that follows, larger each time it is begun anew, and questions are
asked in a slot below it.

Pages only know where things go; what they look like is told to them.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..conversation.transcript import Entry, Message
from .markdown import cut_point, hard_cut

MAX_OUTPUTS = 40
OWN_PAGES = 24
LAST_PAGE = MAX_OUTPUTS - 3  # a slot for questions may follow, and the footer will
BLOCK = 8_000
HARD_BLOCK = 64_000
WORK_BLOCK = 16_000
ROLLING_BLOCK = 64_000

Kind = Literal["text", "work", "question", "rolling", "slot"]


@dataclass(slots=True)
class Segment:
    """A part of the transcript: an entry, or of a text the part from ``start`` to ``end``.

    Args:
        prefix: what opens the part again where a code fence was cut.
        suffix: what closes it.
    """

    entry: int
    start: int = 0
    end: int | None = None
    prefix: str = ""
    suffix: str = ""

    def text(self, message: Message) -> str:
        """The text of this part."""
        return self.prefix + message.text[self.start : self.end] + self.suffix


@dataclass(slots=True, eq=False)
class Page:
    """One output.

    Args:
        kind: what it may hold; a ``slot`` holds nothing of its own, only open questions.
        shown: what was published last; None before anything was.
    """

    kind: Kind = "work"
    segments: list[Segment] = field(default_factory=list)
    display_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    shown: str | None = None

    @property
    def size(self) -> int:
        """Characters, as last shown."""
        return len(self.shown or "")


class Pages:
    """The pages of one turn, in the order of their outputs."""

    def __init__(self) -> None:
        self.all: list[Page] = []
        self._spare: Page | None = None
        self._of_entry: list[Page] = []
        self.dirty: dict[Page, None] = {}

    # -- what is shown where

    def place(self, entries: Sequence[Entry]) -> None:
        """Give every new entry a page, and cut the last text when it has grown too long."""
        for index in range(len(self._of_entry), len(entries)):
            page = self._page_for(entries[index])
            page.segments.append(Segment(index))
            self._of_entry.append(page)
            self.dirty[page] = None
        if entries and isinstance(entries[-1], Message):
            while self._cut(len(entries) - 1, entries[-1]):
                pass

    def touch(self, index: int) -> None:
        """An entry has changed."""
        self.dirty[self._of_entry[index]] = None

    def ask(self, index: int) -> Page:
        """The page on which to ask about an entry."""
        if self._is_long:
            return self._slot()
        page = self._of_entry[index]
        alone = len(page.segments) == 1 and page is self.all[-1]
        return self._only_question(page) if alone else self._move_to_question(index, page)

    def asked(self, page: Page) -> None:
        """No question is shown on this page any more."""
        if page.kind == "question":
            page.kind = "work"
        self.dirty[page] = None

    def spare(self) -> Page:
        """An output at the end, which the next page takes over."""
        if self._spare is None:
            self._spare = Page()
        return self._spare

    def last(self) -> Page:
        """A page at the end, for the footer."""
        return self._new("work")

    # -- placing

    @property
    def _is_long(self) -> bool:
        return len(self.all) >= OWN_PAGES

    def _page_for(self, entry: Entry) -> Page:
        if self._is_long:
            return self._rolling()
        if isinstance(entry, Message) and entry.role == "agent":
            return self._new("text")
        last = self.all[-1] if self.all else None
        has_room = last is not None and last.kind == "work" and last.size < WORK_BLOCK
        return last if last is not None and has_room else self._new("work")

    def _rolling(self) -> Page:
        rolling = [page for page in self.all if page.kind == "rolling"]
        if rolling and (len(self.all) >= LAST_PAGE or rolling[-1].size < self._capacity):
            return rolling[-1]
        return self._new("rolling")

    @property
    def _capacity(self) -> int:
        begun = sum(page.kind == "rolling" for page in self.all)
        return ROLLING_BLOCK << max(0, begun - 1)

    def _new(self, kind: Kind) -> Page:
        page, self._spare = self._spare or Page(), None
        page.kind = kind
        self.all.append(page)
        return page

    # -- questions

    def _slot(self) -> Page:
        self._rolling()
        if self.all[-1].kind != "slot":
            self._new("slot")
        self.dirty[self.all[-1]] = None
        return self.all[-1]

    def _only_question(self, page: Page) -> Page:
        page.kind = "question"
        self.dirty[page] = None
        return page

    def _move_to_question(self, index: int, page: Page) -> Page:
        segment = next(s for s in page.segments if s.entry == index)
        page.segments.remove(segment)
        self.dirty[page] = None
        own = self._new("question")
        own.segments.append(segment)
        self._of_entry[index] = own
        self.dirty[own] = None
        return own

    # -- cutting text

    def _cut(self, index: int, message: Message) -> bool:
        page = self._of_entry[index]
        segment = page.segments[-1]
        text = segment.text(message)
        block, hard = BLOCK, HARD_BLOCK
        if page.kind == "rolling":
            block = hard = self._capacity
        if len(text) <= block or (self._is_long and len(self.all) >= LAST_PAGE):
            return False
        cut = cut_point(text[:hard], block // 2)
        if cut is None and len(text) <= hard:
            return False
        at, suffix, prefix = (cut, "", "") if cut is not None else hard_cut(text, hard)
        segment.end = segment.start + at - len(segment.prefix)
        segment.suffix = suffix
        self._continue(index, Segment(index, segment.end, prefix=prefix), page)
        return True

    def _continue(self, index: int, rest: Segment, page: Page) -> None:
        following = self._new("rolling" if self._is_long else "text")
        following.segments.append(rest)
        self._of_entry[index] = following
        self.dirty |= {page: None, following: None}
