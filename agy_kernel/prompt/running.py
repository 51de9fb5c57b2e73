"""A cell while it runs: what it has shown so far, as a front end shows it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from .cells import Cell, CellOutput, OutputKind


@dataclass(slots=True)
class _Stream:
    kind: OutputKind
    parts: list[str] = field(default_factory=list)


class Running:
    """A cell while it runs.

    Args:
        source: as it was typed.
        cell_id: the front end's; empty where it tells none.
        tags: the cell's tags.
    """

    def __init__(self, source: str, cell_id: str, tags: tuple[str, ...]) -> None:
        self.source, self._cell_id, self._tags = source, cell_id, tags
        self.traceback = ""
        self._began = time.monotonic()
        self._shown: list[CellOutput | _Stream] = []
        self._clears_next = False

    def write(self, kind: OutputKind, text: str) -> None:
        """Take text of a stream."""
        self._clear_if_due()
        last = self._shown[-1] if self._shown else None
        if isinstance(last, _Stream) and last.kind == kind:
            last.parts.append(text)
        else:
            self._shown.append(_Stream(kind, [text]))

    def show(self, output: CellOutput) -> None:
        """Take a display or a result."""
        self._clear_if_due()
        self._shown.append(output)

    def update(self, output: CellOutput) -> bool:
        """Put an output in the place of those with the same display id; false if there is none."""
        places = [n for n, shown in enumerate(self._shown) if _is_same(shown, output)]
        for place in places:
            self._shown[place] = output
        return bool(places)

    def clear(self, wait: bool) -> None:
        """Forget what was shown, at once or when something else is."""
        self._clears_next = wait
        if not wait:
            self._shown.clear()

    def ended(self, count: int, error: str) -> Cell:
        """The cell, now that it has run: its number, and its error if it failed."""
        outputs = (
            CellOutput(shown.kind, "".join(shown.parts)) if isinstance(shown, _Stream) else shown
            for shown in self._shown
        )
        return Cell(
            id=self._cell_id or f"in-{count}",
            count=count,
            source=self.source,
            outputs=tuple(outputs),
            error=error,
            seconds=time.monotonic() - self._began,
            tags=self._tags,
        )

    def _clear_if_due(self) -> None:
        if self._clears_next:
            self.clear(wait=False)


def shows(cell: Cell, output: CellOutput) -> bool:
    """Whether a cell has an output with the same display id."""
    return any(_is_same(shown, output) for shown in cell.outputs)


def updated(cell: Cell, output: CellOutput) -> Cell:
    """The cell with an output in the place of those with the same display id."""
    outputs = (output if _is_same(shown, output) else shown for shown in cell.outputs)
    return replace(cell, outputs=tuple(outputs))


def _is_same(shown: CellOutput | _Stream, output: CellOutput) -> bool:
    return isinstance(shown, CellOutput) and shown.display_id == output.display_id != ""
