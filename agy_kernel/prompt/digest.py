"""What the agent should know of the notebook: what changed since it was last told, within a budget.

Pure: cells, what was sent before and the limits in, resources out. The order is the order of worth;
what does not fit is cut in the middle, then left out, and both are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import quote

from ..secrets import Masker
from .cells import Cell, fingerprint, words
from .render import cell_text, clean, one_line
from .tidy import cut, encodable, size, tidy

WORTH_CUTTING = 400  # bytes; less of a text says nothing
OLDER_CELLS = 100
PROSE_HEAD = "The notebook's Markdown before the prompt, as it was last saved:"


@dataclass(frozen=True, slots=True)
class Budget:
    """Bytes of text: of all resources together, and of one output of a cell."""

    total: int = 24_000
    output: int = 2_000


@dataclass(frozen=True, slots=True)
class Resource:
    """A text that goes along, under a stable address.

    Args:
        uri: ``notebook:///<path>#<cell id>``, or ``file:///...``.
        text: Markdown, or the file's own text.
        mime_type: of the text.
        kind: what it is; ``notes`` are what we write of the notebook ourselves.
    """

    uri: str
    text: str
    mime_type: str = "text/markdown"
    kind: Literal["cell", "file", "variable", "notes"] = "notes"


@dataclass(frozen=True, slots=True)
class MentionedCell:
    """A cell that the prompt names, and the notebook it is in."""

    notebook: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class Digest:
    """What goes along.

    Args:
        resources: in order of worth.
        sent: cell id to fingerprint, for every cell of this notebook whose text is among them, and
            the same of the notes.
        left_out: how many things did not fit.
    """

    resources: tuple[Resource, ...] = ()
    sent: Mapping[str, str] = field(default_factory=dict)
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What there is to tell, besides the cells.

    Args:
        notebook: address of the notebook, without a fragment.
        mentioned: what the prompt names.
        prose: the saved notebook's Markdown near the prompt.
        variables: a line for each variable, by its name; those go along that shown cells use.
    """

    notebook: str
    mentioned: Sequence[Resource | MentionedCell] = ()
    prose: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


def unsent(cells: Iterable[Cell], sent: Mapping[str, str]) -> list[Cell]:
    """The cells that the agent has not been told of as they are now, newest first."""
    new = [c for c in cells if not c.is_private and sent.get(c.id) != c.fingerprint]
    return new[::-1]


def digest(
    cells: Sequence[Cell],
    around: Surroundings,
    sent: Mapping[str, str],
    budget: Budget,
    masker: Masker,
) -> Digest:
    """Choose what goes along.

    Args:
        cells: every cell that has run and is known, oldest first, each once.
        sent: what was sent in this session before: ``Digest.sent`` of all its digests.
    """
    packing = _Packing(around.notebook, sent, budget, masker)
    new = unsent(cells, sent)
    failed = [cell for cell in new if cell.error][:1]
    for cell in failed:
        packing.add_cell(cell, around.notebook)
    for item in around.mentioned:
        if isinstance(item, MentionedCell):
            packing.add_cell(item.cell, item.notebook)
        else:
            packing.add_named(item)
    for cell in new:
        packing.add_cell(cell, around.notebook)
    packing.add_notes("markdown", _prose(around, budget, masker))
    packing.add_notes("older-cells", _older(cells, packing.shown, masker))
    packing.add_notes("variables", masker.mask(_used(around.variables, packing.shown)))
    return packing.done()


class _Packing:
    """Takes what comes while there is room; behind the first thing that has none, nothing."""

    def __init__(
        self, notebook: str, known: Mapping[str, str], budget: Budget, masker: Masker
    ) -> None:
        self._notebook, self._known, self._budget, self._masker = notebook, known, budget, masker
        self._room, self._is_full = budget.total, False
        self._resources: dict[tuple[str, str], Resource] = {}
        self._sent: dict[str, str] = {}
        self._left_out = 0
        self.shown: list[Cell] = []

    def add_cell(self, cell: Cell, notebook: str) -> None:
        uri, is_ours = f"{notebook}#{quote(cell.id)}", notebook == self._notebook
        if cell.is_private or (uri, cell.fingerprint) in self._resources:
            return
        text = "" if self._is_full else self._text(cell, is_ours and cell.id in self._known)
        if self._add(Resource(uri, text, kind="cell"), cell.fingerprint) and is_ours:
            self.shown.append(cell)
            self._sent[cell.id] = cell.fingerprint

    def add_named(self, resource: Resource) -> None:
        text = clean(resource.text, self._masker)
        self._add(replace(resource, text=text), resource.uri)

    def add_notes(self, name: str, text: str) -> None:
        key, mark = f"#{name}", fingerprint(text)
        if not text or self._known.get(key) == mark:
            return
        if self._add(Resource(f"{self._notebook}{key}", text), mark):
            self._sent[key] = mark

    def done(self) -> Digest:
        return Digest(tuple(self._resources.values()), self._sent, self._left_out)

    def _text(self, cell: Cell, is_known: bool) -> str:
        return cell_text(cell, self._budget.output, self._masker, is_known)

    def _add(self, resource: Resource, mark: str) -> bool:
        text = encodable(resource.text)
        self._is_full = self._is_full or (size(text) > self._room < WORTH_CUTTING)
        if self._is_full:
            self._left_out += 1
            return False
        text = cut(text, self._room)
        self._room -= size(text)
        self._resources[resource.uri, mark] = replace(resource, text=text)
        return True


def _prose(around: Surroundings, budget: Budget, masker: Masker) -> str:
    text = cut(clean(tidy(around.prose), masker), 2 * budget.output)
    return f"{PROSE_HEAD}\n\n{text}" if text else ""


def _older(cells: Sequence[Cell], shown: Sequence[Cell], masker: Masker) -> str:
    """A line for each cell that is not shown now: it was before, or did not fit."""
    ids = {cell.id for cell in shown}
    older = [cell for cell in cells if not cell.is_private and cell.id not in ids]
    return "\n".join(one_line(cell, masker) for cell in older[-OLDER_CELLS:])


def _used(variables: Mapping[str, str], shown: Sequence[Cell]) -> str:
    """The lines of the variables that the shown cells use."""
    used = set().union(*(words(cell.source) for cell in shown))
    return "\n".join(line for name, line in variables.items() if name in used)
