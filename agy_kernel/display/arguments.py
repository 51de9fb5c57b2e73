"""The arguments of a tool call, for people: a line each where they are flat, JSON where not."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

PLAIN = (str, int, float, bool, type(None))
INDENT = "    "


def readable(arguments: Mapping[str, Any]) -> str:
    """Arguments as text; what a value says cannot be taken for another argument."""
    if all(isinstance(value, PLAIN) for value in arguments.values()):
        return "\n".join(_line(_name(str(key)), value) for key, value in arguments.items())
    return as_json(arguments)


def as_json(value: Any) -> str:
    """Any value, for people."""
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


def _line(key: str, value: Any) -> str:
    if not isinstance(value, str):
        return f"{key}: {json.dumps(value)}"
    lines = value.splitlines()
    if len(lines) <= 1 and value == "".join(lines):
        quoted = json.dumps(value, ensure_ascii=False)
        return f"{key}: {value if _is_plain(value) else quoted}"
    return "\n".join([f"{key}:", *(INDENT + line for line in lines)])


def _name(key: str) -> str:
    return key if re.fullmatch(r"[\w.-]+", key) else json.dumps(key, ensure_ascii=False)


def _is_plain(value: str) -> bool:
    """Whether a text can be taken for nothing but a text."""
    try:
        json.loads(value)
    except ValueError:
        return value == value.strip() != ""
    return False
