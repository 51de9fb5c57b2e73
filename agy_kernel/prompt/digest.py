"""What the agent should know of the notebook: what changed since it was last told, within a budget.

Pure: cells, what was sent before and the limits in, resources out. The order is the order of worth;
what does not fit is cut in the middle, then left out, and both are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .cells import Cell, CellOutput
from .secrets import Masker
from .tidy import cut, size, tidy

WORTH_CUTTING = 400  # bytes; less of a text says nothing
OLDER_CELLS = 100
LINE = 100


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
    """

    uri: str
    text: str
    mime_type: str = "text/markdown"


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
        sent: cell id to fingerprint, for every cell whose text is among them.
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
        variables: a line for each variable that the shown cells use.
    """

    notebook: str
    mentioned: Sequence[Resource | MentionedCell] = ()
    prose: str = ""
    variables: Sequence[str] = ()


def unsent(cells: Iterable[Cell], sent: Mapping[str, str]) -> list[Cell]:
    """The cells that the agent has not been told of as they are now, newest last."""
    return [c for c in cells if not c.is_private and sent.get(c.id) != c.fingerprint]


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
        sent: cell id to fingerprint of what was sent in this session before.
    """
    new = unsent(cells, sent)
    packing = _Packing(budget.total)
    failed = [cell for cell in new if cell.error][-1:]
    for cell in failed:
        packing.add_cell(cell, around, sent, budget, masker)
    for item in around.mentioned:
        packing.add(_masked(item, budget, masker))
    for cell in reversed([cell for cell in new if cell not in failed]):
        packing.add_cell(cell, around, sent, budget, masker)
    if around.prose:
        packing.add(Resource(f"{around.notebook}#markdown", masker.mask(around.prose)))
    if older := _older(cells, new, masker):
        packing.add(Resource(f"{around.notebook}#older-cells", older))
    if around.variables:
        text = masker.mask("\n".join(around.variables))
        packing.add(Resource(f"{around.notebook}#variables", text, "text/plain"))
    return packing.done()


def _masked(item: Resource | MentionedCell, budget: Budget, masker: Masker) -> Resource:
    if isinstance(item, MentionedCell):
        return Resource(f"{item.notebook}#{item.cell.id}", cell_text(item.cell, budget, masker))
    return Resource(item.uri, masker.mask(item.text), item.mime_type)


class _Packing:
    def __init__(self, room: int) -> None:
        self._room = room
        self._resources: list[Resource] = []
        self._sent: dict[str, str] = {}
        self._left_out = 0

    def add(self, resource: Resource) -> bool:
        text = resource.text
        if any(known.uri == resource.uri for known in self._resources):
            return True
        if size(text) > self._room:
            if self._room < WORTH_CUTTING:
                self._left_out += 1
                return False
            text = cut(text, self._room)
        self._room -= size(text)
        self._resources.append(Resource(resource.uri, text, resource.mime_type))
        return True

    def add_cell(
        self,
        cell: Cell,
        around: Surroundings,
        sent: Mapping[str, str],
        budget: Budget,
        masker: Masker,
    ) -> None:
        text = cell_text(cell, budget, masker, is_known=cell.id in sent)
        if self.add(Resource(f"{around.notebook}#{cell.id}", text)):
            self._sent[cell.id] = cell.fingerprint

    def done(self) -> Digest:
        return Digest(tuple(self._resources), self._sent, self._left_out)


def cell_text(cell: Cell, budget: Budget, masker: Masker, is_known: bool = False) -> str:
    """A cell with its outputs, as Markdown."""
    state = f"failed after {cell.seconds:.1f} s" if cell.error else f"{cell.seconds:.1f} s"
    again = ", replaces what was sent of it before" if is_known else ""
    parts = [f"Cell [{cell.count}] ({state}{again})", fenced(masker.mask(cell.source), "python")]
    texts = ((o.kind, _output_text(o, budget, masker)) for o in cell.outputs)
    parts += [f"{kind}:\n{fenced(text)}" for kind, text in texts if text]
    if cell.error:
        error = cut(masker.mask(tidy(cell.error)), 2 * budget.output)
        parts.append(f"error:\n{fenced(error)}")
    return "\n".join(parts)


def fenced(text: str, language: str = "") -> str:
    """Text in a code fence that it cannot close itself."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _output_text(output: CellOutput, budget: Budget, masker: Masker) -> str:
    text = cut(masker.mask(tidy(output.text)), budget.output)
    picture = "(a picture)" if output.picture is not None else ""
    return "\n".join(part for part in (text, picture) if part)


def _older(cells: Sequence[Cell], new: Sequence[Cell], masker: Masker) -> str:
    """A line for each cell that was told of before."""
    told_now = {cell.id for cell in new}
    told = [c for c in cells if not c.is_private and c.id not in told_now][-OLDER_CELLS:]
    lines = (
        f"[{c.count}] {masker.mask(c.source).strip().partition(chr(10))[0][:LINE]}" for c in told
    )
    return "\n".join(lines)
