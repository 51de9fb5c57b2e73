"""The fields of a form: what each may hold, read from what a person typed, and checked.

Types and bounds are those of ``elicitation/create`` (agentclientprotocol.com, "elicitation").
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal
from urllib.parse import urlsplit

Value = str | int | float | bool | list[str]
Kind = Literal["text", "number", "integer", "yes_no", "choice", "choices"]

YES, NO = ("y", "yes", "true", "1", "on"), ("n", "no", "false", "0", "off")
PATTERN_SECONDS = 1.0
MOST_DIGITS = 1e15
MATCH = "import re, sys; sys.exit(re.search(sys.argv[1], sys.argv[2]) is None)"


@dataclass(frozen=True, slots=True)
class Item:
    """One value to choose, and what the person reads."""

    value: str
    title: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A field.

    Args:
        name: the agent's name for it.
        kind: what is to be given: a text, a number, yes or no, one or several of ``items``.
        title: what the person reads.
        description: more about it.
        required: whether it must be given.
        default: what it holds at first; None for nothing.
        items: what can be chosen.
        least: the least number, characters or choices.
        most: the most.
        pattern: a regular expression that a text must match somewhere.
        format: ``email``, ``uri``, ``date``, ``date-time``, or empty.
    """

    name: str
    kind: Kind = "text"
    title: str = ""
    description: str = ""
    required: bool = False
    default: Value | None = None
    items: tuple[Item, ...] = ()
    least: float | None = None
    most: float | None = None
    pattern: str = ""
    format: str = ""

    def with_default(self, default: Value | None) -> Field:
        """The same field, with something in it at first."""
        return replace(self, default=default)

    @property
    def label(self) -> str:
        """What the person reads."""
        return self.title or self.name


def read(field: Field, typed: str) -> Value | None:
    """The value that a person typed; None for nothing.

    Raises:
        ValueError: says in words what would be a value.
    """
    typed = typed if field.kind == "text" else typed.strip()
    if not typed:
        return None
    if field.kind in ("number", "integer"):
        return _number(field, typed)
    if field.kind == "yes_no":
        return _yes_or_no(typed)
    if field.kind == "choice":
        return _item(field, typed)
    if field.kind == "choices":
        return list(dict.fromkeys(_item(field, word) for word in typed.split(",") if word.strip()))
    return typed


def check(field: Field, value: Value | None) -> str:
    """What is wrong with a value, in words; empty when nothing is."""
    if value is None:
        return "is required" if field.required else ""
    if isinstance(value, str) and field.kind == "text":
        return _check_text(field, value)
    if isinstance(value, list):
        return _check_size(field, len(value), "choices")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _check_size(field, value, "")
    return ""


def bounds(field: Field) -> str:
    """What a value must be like, in words; empty where anything goes."""
    unit = {"text": " characters", "choices": " choices"}.get(field.kind, "")
    number = {"integer": "a whole number", "number": "a number"}
    parts = [field.format or number.get(field.kind, "")]
    if field.least is not None and field.most is not None:
        parts.append(f"{_told(field.least)} to {_told(field.most)}{unit}")
    elif field.least is not None:
        parts.append(f"at least {_told(field.least)}{unit}")
    elif field.most is not None:
        parts.append(f"at most {_told(field.most)}{unit}")
    parts.append(f"like {field.pattern}" if field.pattern else "")
    return ", ".join(part for part in parts if part)


def _told(bound: float) -> str:
    """A bound, exactly: whoever keeps to what is said must not be refused."""
    whole = int(bound) if abs(bound) < MOST_DIGITS and bound == int(bound) else bound
    return str(whole)


# -- reading


def _number(field: Field, typed: str) -> int | float:
    try:
        if field.kind == "integer":
            return int(typed)
        number = float(typed)
    except ValueError:
        wanted = "a whole number" if field.kind == "integer" else "a number"
        raise ValueError(f"{typed!r} is not {wanted}") from None
    if not math.isfinite(number):
        raise ValueError(f"{typed!r} is not a number that can be sent")
    return number


def _yes_or_no(typed: str) -> bool:
    if typed.casefold() not in (*YES, *NO):
        raise ValueError(f"{typed!r} is neither yes nor no")
    return typed.casefold() in YES


def _item(field: Field, typed: str) -> str:
    """The value that is meant by its number, its title or itself."""
    typed = typed.strip()
    if typed.isdecimal() and 1 <= int(typed) <= len(field.items):
        return field.items[int(typed) - 1].value
    for item in field.items:
        if typed.casefold() in (item.value.casefold(), item.title.casefold()):
            return item.value
    raise ValueError(f"{typed!r} is not one of 1 to {len(field.items)}")


# -- checking


def _check_text(field: Field, text: str) -> str:
    problem = _check_size(field, len(text), "characters")
    if not problem and field.format and not _has_format(field.format, text):
        problem = f"must be {FORMATS.get(field.format, field.format)}"
    if not problem and field.pattern and not _matches(field.pattern, text):
        problem = f"must match {field.pattern}"
    return problem


def _check_size(field: Field, size: float, unit: str) -> str:
    unit = f" {unit}" if unit else ""
    if field.least is not None and size < field.least:
        return f"must be at least {_told(field.least)}{unit}"
    if field.most is not None and size > field.most:
        return f"must be at most {_told(field.most)}{unit}"
    return ""


FORMATS = {
    "email": "an e-mail address",
    "uri": "an address like https://example.org",
    "date": "a date like 2026-11-30",
    "date-time": "a time like 2026-11-30T12:00:00Z",
}


def _has_format(name: str, text: str) -> bool:
    try:
        if name == "date":
            return date.fromisoformat(text).isoformat() == text
        if name == "date-time":
            return "T" in text.upper() and datetime.fromisoformat(text) is not None
        if name == "uri":
            return bool(urlsplit(text).scheme)
    except ValueError:
        return False
    return name != "email" or re.fullmatch(r"[^@\s]+@[^@\s]+", text) is not None


def _matches(pattern: str, text: str) -> bool:
    # The pattern is the agent's, and some take for ever: in a process of its own it can be ended.
    command: Sequence[str] = (sys.executable, "-I", "-S", "-c", MATCH, pattern, text)
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATTERN_SECONDS, check=False)
    except (subprocess.TimeoutExpired, ValueError, OSError):
        return True  # the agent checks what it wants for itself
    return done.returncode != 1 or b"Traceback" in done.stderr
