"""What a program printed, as its terminal shows it in the end; and the ends of a long text."""

from __future__ import annotations

import re

ERASES = re.compile(r"\x1b\[[0-2]?K")


def as_left(text: str) -> str:
    """A program's output with each line in its last state.

    A progress bar goes back to the start of its line and writes over it. ANSI sequences are not
    taken out here, but for those that erase a line.
    """
    text = re.sub(r"\r+\n", "\n", text)
    if "\r" not in text and "\b" not in text:
        return text
    return "\n".join(_last_state(line) for line in text.split("\n"))


def excerpt(text: str, limit: int) -> tuple[str, int, str]:
    """The beginning and the end of a long text, whole lines if there are any.

    Args:
        limit: characters of both together.

    Returns:
        The beginning, how many characters are left out, and the end.
    """
    if len(text) <= limit:
        return text, 0, ""
    half = limit // 2
    head_end = text.rfind("\n", half // 2, half) + 1 or half
    tail_start = text.find("\n", len(text) - half, len(text) - half // 2) + 1 or len(text) - half
    return text[:head_end], tail_start - head_end, text[tail_start:]


def _last_state(line: str) -> str:
    shown = ""
    for part in line.split("\r"):
        kept, erases = ERASES.subn("", part)
        shown = kept if erases else kept + shown[len(kept) :]
    return _without_backspaces(shown) if "\b" in shown else shown


def _without_backspaces(line: str) -> str:
    shown: list[str] = []
    at = 0
    for sign in line:
        if sign == "\b":
            at = max(0, at - 1)
        else:
            shown[at : at + 1] = [sign]
            at += 1
    return "".join(shown)
