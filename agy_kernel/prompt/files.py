"""Files, folders and other notebooks that a prompt names."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .cells import Cell, CellOutput, OutputKind
from .recorder import from_bundle

LARGEST_FILE = 2_000_000
MOST_ENTRIES = 200
PICTURE_ENDINGS = {".png", ".jpg", ".jpeg", ".gif", ".webp"}
SKIPPED = {".git", "__pycache__", "node_modules", ".venv", ".ipynb_checkpoints"}
KINDS: dict[str, OutputKind] = {"display_data": "display", "execute_result": "result"}


class Unreadable(ValueError):
    """A file cannot go along; says why."""


def is_picture(path: Path) -> bool:
    """Whether a file's name says that it is a picture; its bytes have the last word."""
    return path.suffix.lower() in PICTURE_ENDINGS


def read_bytes(path: Path, limit: int = 50_000_000) -> bytes:
    """A file's bytes.

    Raises:
        Unreadable: it cannot be read, or is larger than ``limit`` bytes.
    """
    try:
        if not path.is_file():
            raise Unreadable("it is not a file")
        if path.stat().st_size > limit:
            raise Unreadable(f"it has {path.stat().st_size:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None


def read_text(path: Path) -> str:
    """A text file.

    Raises:
        Unreadable: it cannot be read, is large, or is not text.
    """
    data = read_bytes(path, LARGEST_FILE)
    if b"\0" in data[:8_192]:
        raise Unreadable("it is not a text file")
    return data.decode("utf-8", "replace")


def list_folder(path: Path) -> str:
    """The names in a folder and below, folders with a slash; at most 200, and how many there are.

    Raises:
        Unreadable: it cannot be listed.
    """
    names: list[str] = []
    total = 0
    for name in _walk(path):
        total += 1
        if total <= MOST_ENTRIES:
            names.append(name)
        if total > 50 * MOST_ENTRIES:
            raise Unreadable(f"it holds more than {50 * MOST_ENTRIES:,} files")
    more = f"\n… {total - len(names)} more" if total > len(names) else ""
    return "\n".join(names) + more


def _walk(root: Path) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise Unreadable(error.strerror or str(error)) from None

    for folder, subfolders, files in os.walk(root, onerror=refuse):
        subfolders[:] = sorted(s for s in subfolders if s not in SKIPPED)
        here = Path(folder).relative_to(root)
        yield from (f"{here / s}/" for s in subfolders)
        yield from (str(here / f) for f in sorted(files))


def read_notebook(path: Path, cell: str = "") -> list[Cell]:
    """The code and Markdown cells of a saved notebook, as if they had run here.

    Args:
        cell: only the cell with this execution number, or at this place counted from 1.

    Raises:
        Unreadable: it is no notebook, or has no such cell.
    """
    try:
        notebook = json.loads(read_bytes(path).decode("utf-8", "replace"))
        cells = [_cell(n, raw) for n, raw in enumerate(notebook["cells"], 1)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, Unreadable):
            raise
        raise Unreadable("it is not a notebook") from None
    if not cell:
        return cells
    number = int(cell)
    chosen = [c for c in cells if c.count == number and c.outputs] or cells[number - 1 : number]
    if not chosen:
        raise Unreadable(f"it has no cell {number}")
    return chosen[:1]


def markdown_near(path: Path, cell_id: str, around: int = 3) -> str:
    """The saved notebook's Markdown cells just before a cell; empty where that is not known."""
    try:
        cells = json.loads(read_bytes(path, LARGEST_FILE * 10))["cells"]
        ids = [cell.get("id") for cell in cells]
        end = ids.index(cell_id) if cell_id in ids else len(cells)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ""
    before = [c for c in cells[:end] if c.get("cell_type") == "markdown" and not _is_private(c)]
    return "\n\n".join(_joined(c.get("source")) for c in before[-around:])


def _is_private(raw: Mapping[str, Any]) -> bool:
    return "agy-private" in (raw.get("metadata", {}).get("tags") or ())


def _cell(place: int, raw: Mapping[str, Any]) -> Cell:
    outputs = [o for o in raw.get("outputs", ()) if isinstance(o, dict)]
    errors = ("\n".join(o.get("traceback", ())) for o in outputs if o.get("output_type") == "error")
    return Cell(
        id=str(raw.get("id", f"cell-{place}")),
        count=raw.get("execution_count") or place,
        source=_joined(raw.get("source")),
        outputs=tuple(_output(o) for o in outputs if o.get("output_type") != "error"),
        error="\n".join(errors),
        tags=tuple(raw.get("metadata", {}).get("tags") or ()),
    )


def _output(raw: Mapping[str, Any]) -> CellOutput:
    if raw.get("output_type") == "stream":
        kind: OutputKind = "stderr" if raw.get("name") == "stderr" else "stdout"
        return CellOutput(kind, _joined(raw.get("text")))
    bundle = {k: _joined(v) for k, v in raw.get("data", {}).items() if isinstance(v, (str, list))}
    return from_bundle(KINDS.get(str(raw.get("output_type")), "display"), bundle)


def _joined(text: Any) -> str:
    return "".join(text) if isinstance(text, list) else str(text or "")
