"""A comparison of two notebooks, cell by cell, as HTML and as text."""

from __future__ import annotations

from collections.abc import Iterator

from . import diffs
from .html import escape, faint, fold
from .notebook_check import NOT_CHECKED
from .notebook_diffs import CellChange, NotebookDiff

SHOWN_CELLS = 12
FOLDED_CELLS = 60
ID_CHARS = 64  # as many as nbformat allows


def render(compared: NotebookDiff, full: str) -> str:
    """The changed cells as HTML.

    Args:
        full: the command that shows all.
    """
    first, rest = compared.cells[:SHOWN_CELLS], compared.cells[SHOWN_CELLS:]
    parts = [f"<div>{escape(note)}</div>" for note in remarks(compared)]
    parts += [_cell(change, full) for change in first]
    if rest:
        body = "".join(_cell(change, full) for change in rest[:FOLDED_CELLS])
        if len(rest) > FOLDED_CELLS:
            left_out = len(rest) - FOLDED_CELLS
            body += f"<div>{faint(escape(f'… {left_out} cells are not shown here: {full}'))}</div>"
        parts.append(fold(f"{len(rest)} more cells", body))
    return "".join(parts)


def plain(compared: NotebookDiff) -> str:
    """The changed cells as text."""
    return "\n".join([*remarks(compared), *_plain_cells(compared)])


def remarks(compared: NotebookDiff) -> Iterator[str]:
    """What is to be said of the notebook as a whole."""
    if compared.problem:
        yield f"⚠ not a valid notebook: {compared.problem}"
    elif not compared.is_checked:
        yield NOT_CHECKED
    if compared.notes:
        yield f"notebook: {', '.join(compared.notes)}"


def title(change: CellChange) -> str:
    """One line: which cell, and what happens to it."""
    place = change.new if change.new is not None else change.old
    where = f"{change.old} → {change.new}" if change.what == "moved" else f"{place}"
    name = f", id {change.cell.id[:ID_CHARS]}" if change.cell.id else ""
    words = [f"cell {where} ({change.cell.kind or 'no type'}{name})", change.what]
    if change.what == "moved" and change.source is not None:
        words.append("and changed")
    if (source := change.source) is not None:
        words.append(diffs.stat(source))
    return " ".join(words) + "".join(f" · {note}" for note in change.notes)


def _cell(change: CellChange, full: str) -> str:
    head = f"<div>{faint(escape(title(change)))}</div>"
    source = change.source
    return head + (diffs.render(source, full) if source is not None else "")


def _plain_cells(compared: NotebookDiff) -> Iterator[str]:
    for change in compared.cells:
        yield f"@@ {title(change)} @@"
        if (source := change.source) is not None:
            yield diffs.plain(source)
