"""Markdown that ``%agy`` answers with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Self

PIECE = 200_000
MOST_PIECES = 40
CUT = "…"


class PlainText(str):
    """An answer that is shown as it is, and is no Markdown."""

    def pieces(self) -> Iterator[str]:
        """The text in pieces of whole lines, for an output each.

        A line that is longer than a piece is cut, with ``…`` on both sides of the cut.

        JupyterLab freezes for more than a second for each megabyte of one output, shows 50
        outputs of a cell, and drops streams that are faster than 1 MB a second.
        """
        size = max(PIECE, len(self) // MOST_PIECES)
        start = 0
        goes_on = ""
        while start < len(self):
            end = self.find("\n", start + size, start + 2 * size)
            if end < 0 and len(self) <= start + 2 * size:
                end = len(self)
            is_cut = end < 0
            end = start + size if is_cut else end
            yield goes_on + self[start:end] + (CUT if is_cut else "")
            goes_on = CUT if is_cut else ""
            start = end if is_cut else end + 1


class OurMarkdown(str):
    """An answer in Markdown that is safe already, with HTML that we wrote ourselves.

    Args:
        markdown: the answer.
        plain: the same as plain text.
    """

    plain: str

    def __new__(cls, markdown: str, plain: str) -> Self:
        """Make one."""
        made = super().__new__(cls, markdown)
        made.plain = plain
        return made


def table(rows: list[tuple[str, str]]) -> str:
    """A table of two columns without a heading."""
    body = "\n".join(f"| {_cell(left)} | {_cell(right)} |" for left, right in rows)
    return f"| | |\n|:--|:--|\n{body}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def fenced(text: str, language: str = "") -> str:
    """A code block, whatever the code says."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
