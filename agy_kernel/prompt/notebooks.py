"""Saved notebooks: those that a prompt names, and the one that it stands in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .bundles import from_bundle
from .cells import Cell, CellOutput
from .files import LARGEST_FILE, Unreadable, read_bytes

LARGEST_OF_OURS = 20_000_000  # bytes; it is read with every prompt, and must not be felt
NO_NOTEBOOK = (ValueError, KeyError, TypeError, AttributeError, RecursionError)

Raw = Mapping[str, Any]


def read(path: Path, number: int | None = None) -> list[Cell]:
    """The cells of a saved notebook, as if they had run here.

    Args:
        number: only the cell with this execution number, else the one at this place, from 1.

    Raises:
        Unreadable: it is no notebook, or has no such cell.
    """
    with _no_surprises():
        notebook = _load(path, LARGEST_FILE)
        cells = list(enumerate(notebook["cells"], 1))
        if number is not None:
            ran = [(n, raw) for n, raw in cells if raw.get("execution_count") == number]
            cells = ran[:1] or [(n, raw) for n, raw in cells if n == number]
            if not cells:
                raise Unreadable(f"it has no cell {number}")
        return [_cell(n, raw, _language(notebook)) for n, raw in cells]


def markdown_near(path: Path, cell_id: str, around: int = 3) -> str:
    """The Markdown cells before a cell of a saved notebook.

    Returns:
        The last ones if the cell is not saved yet; nothing if the notebook is not.
    """
    try:
        with _no_surprises():
            raw = _load(path, LARGEST_OF_OURS)["cells"]
            ids = [cell.get("id") for cell in raw]
            end = ids.index(cell_id) if cell_id in ids else len(raw)
            before = [_cell(n, c, "") for n, c in enumerate(raw[:end]) if _is_markdown(c)]
    except Unreadable:
        return ""
    return "\n\n".join([c.source for c in before if not c.is_private][-around:])


@contextmanager
def _no_surprises() -> Iterator[None]:
    """Whatever a file holds that says it is a notebook, it is a notebook or it is not."""
    try:
        yield
    except Unreadable:
        raise
    except NO_NOTEBOOK:
        raise Unreadable("it is not a notebook") from None


def _load(path: Path, limit: int) -> Any:
    return json.loads(read_bytes(path, limit).decode("utf-8-sig", "replace"))


def _language(notebook: Raw) -> str:
    info = notebook.get("metadata", {}).get("language_info", {})
    return str(info.get("name", "python"))


def _is_markdown(raw: Raw) -> bool:
    return raw.get("cell_type") == "markdown"


def _cell(place: int, raw: Raw, language: str) -> Cell:
    outputs = [o for o in raw.get("outputs", ()) if isinstance(o, dict)]
    errors = [_traceback(o) for o in outputs if o.get("output_type") == "error"]
    count, tags = raw.get("execution_count"), raw.get("metadata", {}).get("tags")
    return Cell(
        id=str(raw.get("id", f"cell-{place}")),
        count=count if isinstance(count, int) else place,
        source=_joined(raw.get("source")),
        outputs=tuple(_output(o) for o in outputs if o.get("output_type") != "error"),
        error="\n".join(errors),
        tags=tuple(t for t in tags if isinstance(t, str)) if isinstance(tags, list) else (),
        language="markdown" if _is_markdown(raw) else language,
    )


def _output(raw: Raw) -> CellOutput:
    if raw.get("output_type") == "stream":
        return CellOutput(
            "stderr" if raw.get("name") == "stderr" else "stdout", _joined(raw["text"])
        )
    bundle = {k: _joined(v) for k, v in raw.get("data", {}).items() if isinstance(v, (str, list))}
    return from_bundle(
        "result" if raw.get("output_type") == "execute_result" else "display", bundle
    )


def _traceback(raw: Raw) -> str:
    lines = raw.get("traceback") or [f"{raw.get('ename')}: {raw.get('evalue')}"]
    return "\n".join(lines)


def _joined(text: Any) -> str:
    return "".join(text) if isinstance(text, list) else str(text or "")
