"""Prompts that would sign the person out, all programs of theirs included (public report 54)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..events import Command

SLASH = re.compile(r"\s*/(\S+)(?:[ \t]+(\S+))?")
OUT = re.compile(r"(?<![a-z])(?:log|sign)[-_ ]?(?:out|off)(?![a-z])", re.IGNORECASE)


def signs_out(text: str, commands: Iterable[Command]) -> bool:
    """Whether a prompt is a command of the agent's that signs out.

    Args:
        text: the prompt.
        commands: that the agent says it has; one whose description speaks of it counts, too.
    """
    if (slash := SLASH.match(text)) is None:
        return False
    name, argument = slash[1], slash[2] or ""
    if OUT.search(name) or (name.casefold() == "auth" and OUT.search(argument)):
        return True
    return any(c.name.lstrip("/") == name and OUT.search(c.description) for c in commands)
