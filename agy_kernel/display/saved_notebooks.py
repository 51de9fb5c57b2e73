"""A notebook file's text as cells, and what is wrong with it.

The cells are read tolerantly, so that a notebook that is not quite valid can be compared all the
same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .notebook_check import problem_of

COUNTS = ("execution_count", "prompt_number")
NOISE = ("metadata.execution", "metadata.ExecuteTime")  # when a cell ran

Raw = Mapping[str, Any]


class NotANotebook(ValueError):
    """A text has no cells; says why."""


@dataclass(frozen=True, slots=True)
class SavedCell:
    """A cell as it lies in a file.

    Args:
        id: since nbformat 4.5; empty before.
        kind: ``code``, ``markdown`` or ``raw``.
        outputs: without the counts of executions.
        rest: everything else that is kept of it, such as metadata and attachments.
    """

    id: str
    kind: str
    source: str
    outputs: tuple[str, ...] = ()
    rest: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class SavedNotebook:
    """A notebook file.

    Args:
        rest: what is kept beside the cells, such as ``metadata`` and ``nbformat``.
        problem: why it is not valid; empty if it is.
        is_checked: whether nbformat was there to say so.
    """

    cells: tuple[SavedCell, ...] = ()
    rest: Mapping[str, str] = field(default_factory=dict, hash=False)
    problem: str = ""
    is_checked: bool = True


def is_notebook_path(path: str) -> bool:
    """Whether a file is a notebook by its name."""
    return path.lower().endswith(".ipynb")


def is_notebook(text: str) -> bool:
    """Whether a text can be read as a notebook."""
    try:
        read(text)
    except NotANotebook:
        return False
    return True


@lru_cache(maxsize=4)
def read(text: str) -> SavedNotebook:
    """The cells of a notebook file.

    Raises:
        NotANotebook: it is not JSON, or has no list of cells.
    """
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotANotebook(f"it is not JSON: {error}") from None
    if not isinstance(raw, dict) or not _has_cells(raw):
        raise NotANotebook("it has no list of cells")
    cells = tuple(_cells(raw))
    rest = _rest(raw, {"cells"})
    problem, is_checked = problem_of(raw)
    return SavedNotebook(cells, rest, problem, is_checked)


def _has_cells(raw: Raw) -> bool:
    return isinstance(raw.get("cells"), list) or isinstance(raw.get("worksheets"), list)


def _cells(raw: Raw) -> Iterator[SavedCell]:
    sheets = [raw, *_objects(raw.get("worksheets"))]  # nbformat 3 has its cells on worksheets
    yield from (_cell(cell) for sheet in sheets for cell in _objects(sheet.get("cells")))


def _cell(raw: Raw) -> SavedCell:
    cell_id = raw.get("id")
    known = {"id", "cell_type", "source", "input", "outputs", *COUNTS}
    return SavedCell(
        id=cell_id if isinstance(cell_id, str) else "",
        kind=str(raw.get("cell_type", "")),
        source=_joined(raw.get("source", raw.get("input"))),
        outputs=tuple(_output(output) for output in _objects(raw.get("outputs"))),
        rest=_rest(raw, known),
    )


def _rest(raw: Raw, known: set[str]) -> dict[str, str]:
    """All other fields, and those of the metadata one by one."""
    metadata = raw.get("metadata")
    inner = metadata if isinstance(metadata, dict) else {}
    fields = {key: value for key, value in raw.items() if key not in {*known, "metadata"}}
    fields |= {f"metadata.{key}": value for key, value in inner.items()}
    return {key: _canonical(value) for key, value in fields.items() if key not in NOISE}


def _output(raw: Raw) -> str:
    return _canonical({k: v for k, v in raw.items() if k not in COUNTS})


def _objects(value: Any) -> Sequence[Raw]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _joined(text: Any) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text or "")


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
