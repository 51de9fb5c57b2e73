"""Write the settings into docs/settings.md, between its two marks, from the model itself.

``make docs`` runs it; tests/test_docs.py fails when the page is not what would be written.
"""

from __future__ import annotations

import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from agy_kernel.configuration import PREFIX
from agy_kernel.settings import Settings

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"
BEGIN, END = "<!-- begin: make docs writes what follows -->", "<!-- end -->"
PLAIN = {str: "text", bool: "`true` or `false`", int: "a whole number", float: "a number"}
STRUCTURES = {tuple: "a JSON list", dict: "a JSON object"}


def written(page: str) -> str:
    """The page with the settings as they are now.

    Args:
        page: the page's text, with both marks.
    """
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    settings = "\n".join(_section(name, field) for name, field in Settings.model_fields.items())
    return f"{before}{BEGIN}\n\n{settings}\n{END}{after}"


def _section(name: str, field: FieldInfo) -> str:
    facts = f"{_type(field)} · default {_default(field.get_default(call_default_factory=True))}"
    return f"### {name}\n\n`{PREFIX}{name.upper()}` · {facts}\n\n{field.description}\n"


def _type(field: FieldInfo) -> str:
    limits = [_limit(one) for one in field.metadata]
    return "".join([_in_words(field.annotation), *(limit for limit in limits if limit)])


def _in_words(kind: Any) -> str:
    origin = get_origin(kind)
    if origin is Annotated:
        return _in_words(get_args(kind)[0])
    if origin is Literal:
        *others, last = (f"`{value}`" for value in get_args(kind))
        return f"{', '.join(others)} or {last}" if others else last
    if origin in (Union, types.UnionType):
        return next(_in_words(one) for one in get_args(kind) if one is not type(None))
    if origin in STRUCTURES:
        return STRUCTURES[origin]
    return "a path" if issubclass(kind, Path) else PLAIN[kind]


def _limit(limit: Any) -> str:
    if (least := getattr(limit, "ge", None)) is not None:
        return f", {least:,} or more"
    return f", more than {limit.gt:,}" if hasattr(limit, "gt") else ""


def _default(value: Any) -> str:
    if value is None or value in ((), {}):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def main() -> None:
    """Write the page."""
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
