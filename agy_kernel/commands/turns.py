"""``%agy`` about the last turn: shown again, its code put to use, an error sent along."""

from __future__ import annotations

from collections.abc import Sequence

from ..display.code import CodeBlock, code_blocks
from ..display.entries import plain
from ..display.place import Place
from ..errors import CommandError
from ..host import Host
from ..prompt.gather import Request


def last(host: Host, _: list[str]) -> str:
    """Show the last reply again."""
    if not host.turns:
        return "There was no turn yet."
    place = Place(host.conversation.cwd)
    return "\n\n".join(plain(entry, place) for entry in host.turns[-1].transcript.entries)


def code(host: Host, words: list[str]) -> str:
    """Put a code block of the last reply into the next cell."""
    blocks = code_blocks(host.turns[-1].transcript.text) if host.turns else []
    return offer_code(host, blocks, int(words[0]) if words else 1)


def fix(host: Host, _: list[str]) -> str:
    """Send the last error with its cell."""
    if host.context.recorder is None or host.context.recorder.last_error is None:
        raise CommandError("no cell has failed here, so there is nothing to fix.")
    host.prompt(Request("Explain this error and show how to fix it: @error"))
    return ""


def offer_code(host: Host, blocks: Sequence[CodeBlock], number: int = 1) -> str:
    """Put a code block into the next cell, not to be run by us; returns what to say of it."""
    if not 1 <= number <= len(blocks):
        count = f"{len(blocks)} code block{'s' if len(blocks) != 1 else ''}"
        return f"The reply has {count if blocks else 'no code block'}."
    host.shell.set_next_input(blocks[number - 1].as_cell(host.is_prompt_notebook))
    more = len(blocks) - number
    return f"{more} more: `%agy code {number + 1}`" if more else ""
