"""Notebooks as files: written for a test, and what holds for every one that was saved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from tests.support.notebook import VIEW

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
LANGUAGES = {"antigravity": "antigravity", "python3": "python"}


def write(path: Path, cells: Sequence[str], kernel: str) -> None:
    """Write a notebook that has not run.

    Args:
        path: where to.
        cells: the sources of its code cells; one that ends in ``# parameters`` gets that tag.
        kernel: the name of its kernel.
    """
    spec = {"name": kernel, "display_name": kernel, "language": LANGUAGES[kernel]}
    notebook = new_notebook(metadata={"kernelspec": spec})
    for source in cells:
        tags = ["parameters"] if source.endswith("# parameters") else []
        notebook.cells.append(new_code_cell(source, metadata={"tags": tags}))
    nbformat.write(notebook, path)


def read(path: Path) -> list[Any]:
    """The code cells of a saved notebook, after :func:`check_plain`."""
    notebook = nbformat.read(path, as_version=4)
    check_plain(notebook)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text(cell: Any) -> str:
    """What a reader without Markdown and HTML sees of a cell."""
    return "\n".join(_plain(output) for output in cell["outputs"])


def check_plain(notebook: Any) -> None:
    """A saved notebook is valid, without widgets, and can be read as plain text.

    Raises:
        AssertionError: some output cannot.
        nbformat.ValidationError: it is not valid.
    """
    nbformat.validate(nbformat.from_dict(notebook))
    assert "widgets" not in notebook["metadata"]
    outputs = [o for cell in notebook["cells"] for o in cell.get("outputs", [])]
    for output in outputs:
        assert VIEW not in output.get("data", {})
        plain = _plain(output)
        assert plain.strip(), output
        if output["output_type"] != "error":  # IPython colours tracebacks
            assert not CONTROLS.search(plain)
        assert not re.search("</?(div|span|pre|details)\\b", plain)


def _plain(output: Any) -> str:
    match output["output_type"]:
        case "stream":
            lines = output["text"]
        case "error":
            lines = "\n".join(output["traceback"])
        case _:
            lines = output["data"]["text/plain"]
    return lines if isinstance(lines, str) else "".join(lines)
