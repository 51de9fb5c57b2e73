"""Where a Markdown text that is still growing can be cut in two."""

from __future__ import annotations

import re
from itertools import pairwise

LINE = re.compile(r"[^\n]*\n|[^\n]+")
FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})([^\n]*)")
LONGEST_OPENING = 200


def cut_point(text: str, at_least: int) -> int | None:
    """Where ``text`` can be cut in two Markdown texts: behind its last blank line outside a fence.

    Args:
        text: Markdown that may still be growing.
        at_least: characters; an earlier cut is not worth its output.

    Returns:
        The index at which the second text begins, or None.
    """
    best, fence, position = None, "", 0
    for line, following in pairwise([*LINE.findall(text), ""]):
        position += len(line)
        fence = _next_fence(fence, line)
        # What is indented may belong to a list item, and would not behind a cut.
        if not fence and not line.strip() and following[:1].strip():
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
    opening = _open_fence(text[:end])
    match = FENCE.match(opening)
    if match is None:
        return end, "", ""
    newline = "" if text[:end].endswith("\n") else "\n"
    # What is absurdly long is not said again before each part.
    reopened = f"{opening}\n" if len(opening) <= LONGEST_OPENING else ""
    return end, f"{newline}{match[1]}{match[2]}\n", reopened


def _open_fence(text: str) -> str:
    """The opening line of the fence that is open at the end of ``text``, or nothing."""
    fence = opening = ""
    for line in LINE.findall(text):
        before, fence = fence, _next_fence(fence, line)
        opening = line if fence and not before else opening
    return opening.rstrip("\r\n") if fence else ""


def _next_fence(fence: str, line: str) -> str:
    """The marker of the fence that is open behind ``line``, when ``fence`` was before it."""
    match = FENCE.match(line)
    if match is None:
        return fence
    marker, info = match[2], match[3]
    if not fence:
        return marker if marker[0] == "~" or "`" not in info else ""
    closes = marker[0] == fence[0] and len(marker) >= len(fence) and not info.strip()
    return "" if closes else fence
