"""Whether a notebook is valid, by nbformat (public report 42).

It comes with every Jupyter, but is no part of our core, and takes two seconds of CPU to import. So
a notebook is held against nbformat's own schema first, and nbformat is only asked why one is not
valid, or about formats of which we do not know the schema's place.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NOT_CHECKED = "nbformat is not installed, so the notebook was not checked"
IDS_SINCE = (4, 5)
REASON_CHARS = 300

Validator = Callable[[Any], Any]


def problem_of(raw: dict[str, Any]) -> tuple[str, bool]:
    """Why a notebook is not valid, which is nothing if it is; and whether it could be checked.

    Args:
        raw: the notebook; nbformat may change it.
    """
    version = raw.get("nbformat"), raw.get("nbformat_minor", 0)
    if not all(isinstance(part, int) for part in version):
        return "it does not say which nbformat it has", True
    if problem := _problem_of_ids(raw, version):
        return problem, True
    if find_spec("nbformat") is None:
        return "", False
    validate = _validator(*version)
    if validate is not None and _accepts(validate, raw):
        return "", True
    return _reason(raw), True


def _problem_of_ids(raw: Mapping[str, Any], version: Sequence[Any]) -> str:
    """What nbformat would not say: it gives new ids to cells that have none, or share one."""
    cells = raw.get("cells")
    if tuple(version) < IDS_SINCE or not isinstance(cells, list):
        return ""
    ids = [str(cell.get("id", "")) for cell in cells if isinstance(cell, dict)]
    if "" in ids:
        return f"cell {ids.index('') + 1} has no id"
    twice = next((cell_id for cell_id, count in Counter(ids).items() if count > 1), None)
    return f"two cells have the id {twice!r}" if twice is not None else ""


@cache
def _validator(major: int, minor: int) -> Validator | None:
    spec = find_spec("nbformat")
    folders = spec.submodule_search_locations if spec is not None else None
    name = f"v{major}/nbformat.v{major}.{minor}.schema.json"
    file = next((f for folder in folders or () if (f := Path(folder, name)).is_file()), None)
    if file is None:
        return None
    import fastjsonschema

    compiled: Validator = fastjsonschema.compile(json.loads(file.read_text(encoding="utf-8")))
    return compiled


def _accepts(validate: Validator, raw: Any) -> bool:
    try:
        validate(raw)
    except Exception:  # whatever an odd notebook makes of a validator
        return False
    return True


def _reason(raw: dict[str, Any]) -> str:
    import nbformat

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nbformat.validate(raw)
    except Exception as error:  # whatever an odd notebook makes of a validator
        message = str(getattr(error, "message", "") or error).strip()
        first = message.split("\n")[0] or type(error).__name__
        return first if len(first) <= REASON_CHARS else f"{first[:REASON_CHARS]}…"
    return ""
