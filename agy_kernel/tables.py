"""Markdown that ``%agy`` answers with."""

from __future__ import annotations

import re


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
