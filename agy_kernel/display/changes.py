"""What a diff does to its file: shown by lines, a notebook by cells, and bytes not at all."""

from __future__ import annotations

from ..events import Diff
from . import diffs, notebook_cards, notebook_diffs
from .html import escape, faint, fold
from .saved_notebooks import is_notebook, is_notebook_path

LOOKED_AT = 8_000
MOST_ODD = 0.1  # of the characters of a text; of bytes that were read as one there are more
NO_TEXT = "".join(map(chr, [*range(9), *range(14, 27), *range(28, 32), 0xFFFD]))
ODD = dict.fromkeys(map(ord, NO_TEXT))


def what(diff: Diff) -> str:
    """What happens to the file: ``new file``, ``deleted``, ``renamed`` or ``changed``."""
    if diff.deleted:
        return "deleted"
    if diff.moved_from and diff.moved_from != diff.path:
        return "renamed"
    return "new file" if diff.old is None else "changed"


def stat(diff: Diff) -> str:
    """How much changes, in a few words."""
    if is_binary(diff):
        return "binary"
    compared = _cells(diff)
    if isinstance(compared, notebook_diffs.NotebookDiff):
        return compared.counts()
    return diffs.stat(diff)


def render(diff: Diff, full: str) -> str:
    """The change as HTML.

    Args:
        full: the command that shows all of it.
    """
    if is_binary(diff):
        return f"<div>{faint(escape(_sizes(diff)))}</div>"
    compared = _cells(diff)
    if isinstance(compared, notebook_diffs.NotebookDiff):
        return notebook_cards.render(compared, full)
    lines = diffs.render(diff, full)
    return f"<div>{escape(compared)}</div>{fold('as text', lines)}" if compared else lines


def plain(diff: Diff) -> str:
    """The change as text."""
    if is_binary(diff):
        return _sizes(diff)
    compared = _cells(diff)
    if isinstance(compared, notebook_diffs.NotebookDiff):
        return notebook_cards.plain(compared)
    return f"{compared}\n{diffs.plain(diff)}" if compared else diffs.plain(diff)


def is_binary(diff: Diff) -> bool:
    """Whether these are bytes that somebody took for text."""
    return _is_binary(diff.new) or _is_binary(diff.old or "")


def _is_binary(text: str) -> bool:
    start = text[:LOOKED_AT]
    odd = len(start) - len(start.translate(ODD))
    return "\0" in start or odd > MOST_ODD * len(start)


def _sizes(diff: Diff) -> str:
    sizes = [f"{len(side):,}" for side in (diff.old, None if diff.deleted else diff.new) if side]
    return f"a binary file, {' → '.join(sizes)} characters; not shown"


def _cells(diff: Diff) -> notebook_diffs.NotebookDiff | str:
    """The change by cells, or why it cannot be told; empty for what is no notebook."""
    if not is_notebook_path(diff.path):
        return ""
    compared = notebook_diffs.compare(diff)
    if not isinstance(compared, str):
        return compared
    # Some agents show the part of the file that they change, or the source of one cell.
    is_part = diff.old is not None and not is_notebook(diff.old)
    return "part of a notebook" if is_part else f"⚠ not a valid notebook: {compared}"
