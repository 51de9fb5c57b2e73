"""What the agent is told once, at the beginning of a session: what it is looking at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from .files import Unreadable, as_text, read_bytes

NAME = "AGENTS.md"

PROMPT_NOTEBOOK = (
    "Your user writes prompts in the cells of a Jupyter notebook; each cell is one prompt, and "
    "your reply is shown below it as Markdown."
)
PYTHON_NOTEBOOK = (
    "Your user works in a Jupyter notebook with a Python kernel and asks you from one of its "
    "cells; your reply is shown below that cell as Markdown. You cannot run code in their kernel: "
    "put code for them to run into fenced blocks."
)
BLOCKS = (
    "Resources with an address notebook:///<path>#<cell id> are cells that ran, with their "
    "outputs, the most important first; a cell that is sent again replaces what was sent of it "
    "before. #older-cells lists the other cells that ran, #variables the variables that the cells "
    "use, #markdown the notebook's own text before the prompt, as it was last saved. Images are "
    "plots and pictures from the notebook, newest first."
)


def instructions(is_prompt_notebook: bool, files: Iterable[Path]) -> str:
    """The block that goes with the first prompt of a session, the same for the same files.

    Args:
        is_prompt_notebook: whether a cell is a prompt, or one asks from Python.
        files: ``AGENTS.md`` files, the user's first; those that cannot be read are passed over.
    """
    parts = [PROMPT_NOTEBOOK if is_prompt_notebook else PYTHON_NOTEBOOK, BLOCKS]
    parts += [f"From {path.name} in {path.parent}:\n{text}" for path, text in _texts(files)]
    body = "\n\n".join(parts)
    return f"<notebook-instructions>\n{body}\n</notebook-instructions>"


def _texts(files: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    for path in files:
        try:
            text = as_text(read_bytes(path)).strip()
        except Unreadable:
            continue
        if text:
            yield path, text
