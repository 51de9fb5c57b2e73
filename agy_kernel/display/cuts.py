"""Where a Markdown text that is still growing can be cut in two."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})")
LONGEST_OPENING = 200


def cut_point(text: str, at_least: int) -> int | None:
    """Where ``text`` can be cut in two Markdown texts: behind its last blank line outside a fence.

    Args:
        text: Markdown that may still be growing.
        at_least: characters; an earlier cut is not worth its output.

    Returns:
        The index at which the second text begins, or None.
    """
    fenced = {n for begin, end in _fences(text) for n in range(begin + 1, end)}
    best, position = None, 0
    for number, (line, following) in enumerate(pairwise([*LINE.findall(text), ""]), 1):
        position += len(line)
        # What is indented may belong to a list item, and would not behind a cut.
        if not line.strip() and following[:1].strip() and number not in fenced:
            best = position
    return best if best is not None and best >= at_least else None


def hard_cut(text: str, at: int) -> tuple[int, str, str]:
    """Cut a text that has no good place, at the end of a line if one ends in the second half.

    Args:
        text: Markdown.
        at: the most characters that the first part may have.

    Returns:
        The index of the cut, what to add to the first part, and what to put before the second:
        an open code fence is closed, and opened again.
    """
    end = text.rfind("\n", at // 2, at) + 1 or at
    first = text[:end]
    newline = "" if first.endswith("\n") else "\n"
    opening = _open_fence(first, newline)
    match = FENCE.match(opening)
    if match is None:
        return end, "", ""
    # What is absurdly long is not said again before each part.
    reopened = f"{opening}\n" if len(opening) <= LONGEST_OPENING else ""
    return end, f"{newline}{match[0]}\n", reopened


def _open_fence(text: str, newline: str) -> str:
    """The opening line of the fence that another line would belong to, or nothing."""
    for begin, _ in _fences(text)[-1:]:
        opening = LINE.findall(text)[begin].rstrip("\r\n")
        match = FENCE.match(opening)
        more = f"{text}{newline}{match[1]}more" if match else text
        _, end = _fences(more)[-1]
        return opening if end == len(LINE.findall(more)) else ""
    return ""


def _fences(text: str) -> list[tuple[int, int]]:
    """The first line of each code fence and the one behind it, as Markdown has them.

    A list item that ends takes along a fence that was opened in it and not closed.
    """
    found = _Fences()
    parser = _blocks()
    parser.block.parse(text.replace("\r\n", "\n").replace("\r", "\n"), parser, {}, found)
    return [(token.map[0], token.map[1]) for token in found if token.map is not None]


class _Fences(list["Token"]):
    """Keeps no other token: those of a long text need a hundred times its memory."""

    def append(self, token: Token) -> None:
        if token.type == "fence":
            super().append(token)


@cache
def _blocks() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable("reference")
