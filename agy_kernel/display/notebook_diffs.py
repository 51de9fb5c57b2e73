"""Two states of a notebook, compared cell by cell (public reports 41 and 42).

Cells are the same if they have the same id, and what is left over if it says the same, or nearly
the same in the same place: older notebooks have no ids, and agents that write a whole notebook
often make new ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from ..events import Diff
from .diffs import longest_rising
from .saved_notebooks import NotANotebook, SavedCell, SavedNotebook, read

ALIKE = 0.5  # of the lines of two cells, to be taken for two states of one
SEARCHED = 20  # cells that are looked at for one that is like another
WORDS_READ = 300  # of each
KINDS = ("changed", "added", "removed", "moved")

Pairs = dict[int, int]


@dataclass(frozen=True, slots=True)
class CellChange:
    """What happens to one cell.

    Args:
        what: ``added``, ``removed``, ``changed`` or ``moved``.
        old: place before, from 1; None for an added cell.
        new: place after, from 1; None for a removed cell.
        notes: what changes besides its source and its place.
    """

    what: str
    before: SavedCell | None
    after: SavedCell | None
    old: int | None
    new: int | None
    notes: tuple[str, ...] = ()

    @property
    def cell(self) -> SavedCell:
        """The cell, as it is in the end."""
        cell = self.after or self.before
        assert cell is not None
        return cell

    @property
    def source(self) -> Diff | None:
        """Its source before and after, unless that stays."""
        before, after = self.before, self.after
        if before is not None and after is not None and before.source == after.source:
            return None
        old = None if before is None else before.source
        return Diff("", old, "" if after is None else after.source, deleted=after is None)


@dataclass(frozen=True, slots=True)
class NotebookDiff:
    """What happens to a notebook.

    Args:
        cells: the cells that change, in the order of the notebook.
        notes: what changes beside the cells.
        problem: why the new notebook is not valid.
        is_checked: whether nbformat was there to say so.
    """

    cells: tuple[CellChange, ...]
    notes: tuple[str, ...] = ()
    problem: str = ""
    is_checked: bool = True

    def counts(self) -> str:
        """How many cells change: ``1 changed, 2 added``."""
        counts = {what: sum(c.what == what for c in self.cells) for what in KINDS}
        parts = [f"{count} {what}" for what, count in counts.items() if count]
        return f"cells: {', '.join(parts)}" if parts else "no cell changes"


@lru_cache(maxsize=16)
def compare(diff: Diff) -> NotebookDiff | str:
    """What a diff of a notebook file does to its cells.

    Returns:
        A sentence that says why it cannot be told, where one side is no notebook.
    """
    try:
        old = read(diff.old) if diff.old and diff.old.strip() else SavedNotebook()
        new = SavedNotebook() if diff.deleted else read(diff.new)
    except NotANotebook as problem:
        return str(problem)
    notes = () if diff.old is None or diff.deleted else tuple(_differences(old.rest, new.rest))
    return NotebookDiff(tuple(_changes(old, new)), notes, new.problem, new.is_checked)


# -- which cell is which


def _matched(old: Sequence[SavedCell], new: Sequence[SavedCell]) -> Pairs:
    """Place of a cell before to its place after."""
    pairs = _by_id(old, new)
    for match in (_by_content, _by_likeness):
        left_old = [i for i in range(len(old)) if i not in pairs]
        taken = set(pairs.values())
        left_new = [j for j in range(len(new)) if j not in taken]
        pairs.update(match(old, new, left_old, left_new))
    return pairs


def _by_id(old: Sequence[SavedCell], new: Sequence[SavedCell]) -> Pairs:
    places = {cell.id: j for j, cell in reversed(list(enumerate(new))) if cell.id}
    pairs: Pairs = {}
    for i, cell in enumerate(old):
        if cell.id in places:
            pairs[i] = places.pop(cell.id)
    return pairs


def _by_content(
    old: Sequence[SavedCell], new: Sequence[SavedCell], left_old: list[int], left_new: list[int]
) -> Pairs:
    places: dict[tuple[str, str], list[int]] = {}
    for j in reversed(left_new):
        places.setdefault(_content(new[j]), []).append(j)
    return {i: places[key].pop() for i in left_old if places.get(key := _content(old[i]))}


def _by_likeness(
    old: Sequence[SavedCell], new: Sequence[SavedCell], left_old: list[int], left_new: list[int]
) -> Pairs:
    """Pairs in the order of both, each the first that is like enough."""
    pairs: Pairs = {}
    start = 0
    for i in left_old:
        for at, j in enumerate(left_new[start : start + SEARCHED], start):
            if old[i].kind == new[j].kind and _are_alike(old[i].source, new[j].source):
                pairs[i], start = j, at + 1
                break
    return pairs


def _content(cell: SavedCell) -> tuple[str, str]:
    return cell.kind, cell.source.strip()


def _are_alike(one: str, other: str) -> bool:
    words, others = one.split()[:WORDS_READ], other.split()[:WORDS_READ]
    matcher = SequenceMatcher(None, words, others, autojunk=False)
    return matcher.real_quick_ratio() >= ALIKE and matcher.ratio() >= ALIKE


# -- what happens to each


def _changes(old: SavedNotebook, new: SavedNotebook) -> Iterator[CellChange]:
    """The changes in the order of the new notebook; removed cells where they were."""
    pairs = _matched(old.cells, new.cells)
    before = {j: i for i, j in pairs.items()}
    unmoved = {i for i, _ in longest_rising(sorted(pairs.items()))}
    at = 0  # the old cell that comes next

    def removed(end: int) -> Iterator[CellChange]:
        for i in range(at, end):
            if i not in pairs:
                yield CellChange("removed", old.cells[i], None, i + 1, None)

    for j, cell in enumerate(new.cells):
        i = before.get(j)
        is_moved = i is not None and i not in unmoved
        end = at if is_moved else i if i is not None else _next(at, len(old.cells), pairs)
        yield from removed(end)
        at = end if is_moved or i is None else i + 1
        if i is None:
            yield CellChange("added", None, cell, None, j + 1)
        elif change := _change(old.cells[i], cell, i, j, is_moved):
            yield change
    yield from removed(len(old.cells))


def _next(at: int, end: int, pairs: Pairs) -> int:
    """The next old cell that is still there."""
    return next((i for i in range(at, end) if i in pairs), end)


def _change(
    before: SavedCell, after: SavedCell, i: int, j: int, is_moved: bool
) -> CellChange | None:
    notes = tuple(_notes(before, after))
    is_changed = before.source != after.source or notes
    if not is_changed and not is_moved:
        return None
    what = "moved" if is_moved else "changed"
    return CellChange(what, before, after, i + 1, j + 1, notes)


def _notes(before: SavedCell, after: SavedCell) -> Iterator[str]:
    if before.kind != after.kind:
        yield f"was {before.kind}"
    if before.outputs != after.outputs:
        count = len(after.outputs)
        words = f"{len(before.outputs)} → {count}" if len(before.outputs) != count else str(count)
        yield "outputs cleared" if not count else f"outputs changed ({words})"
    yield from _differences(before.rest, after.rest)


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for key in dict.fromkeys([*before, *after]):
        if key not in after:
            yield f"{key} removed"
        elif before.get(key) != after[key]:
            yield f"{key} {'changed' if key in before else 'added'}"
