"""What a call printed or returned, cut to what a card or a console can bear."""

from __future__ import annotations

from ..conversation.toolcalls import ToolCall
from ..text import clean
from .calls import short_id
from .printed import as_left, excerpt

OUTPUT_CHARS = 20_000


def bounded(text: str, full: str, is_printed: bool = False) -> str:
    """A text of a call, at most 20,000 characters of it; what is left out is counted.

    Args:
        full: the command that shows all of it.
        is_printed: whether a program printed it, on a terminal.
    """
    head, left_out, tail = excerpt(text, OUTPUT_CHARS)
    if not left_out:
        return in_full(head, is_printed)
    note = f"… {left_out:,} characters are not shown here: {full} …"
    return "\n".join([in_full(head, is_printed), note, in_full(tail, is_printed)])


def in_full(text: str, is_printed: bool = False) -> str:
    """All of a text, as a terminal shows it in the end if a program printed it."""
    return clean(as_left(text) if is_printed else text).strip("\n")


def command(name: str, call: ToolCall) -> str:
    """The command that shows all of a call."""
    return f"%agy {name} {short_id(call)}".rstrip()
