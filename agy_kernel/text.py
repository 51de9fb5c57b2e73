"""Text that came from outside, without what a terminal or a page would take for a command."""

from __future__ import annotations

import re

# Controls other than tab and newline, and those that reorder text on the screen.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-_])")
NEWLINES = re.compile("\r\n?|[\u2028\u2029]")
# Letters and marks that take no ink, although Unicode calls them printable.
UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def clean(text: str) -> str:
    r"""Text without ANSI sequences, control characters and lone surrogates; newlines as ``\\n``."""
    if not text.isascii():
        # A pair of surrogates may have come in two chunks; what has no partner becomes "?".
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return CONTROLS.sub("", ANSI.sub("", NEWLINES.sub("\n", text)))


def revealed(text: str) -> str:
    """Text of which everything can be seen: what would be invisible is named, as in ``⟨U+202E⟩``.

    For what would run or be written, such as a command or a path: there a letter without width
    makes a difference. Spaces, tabs and newlines stay.
    """
    odd = (letter for letter in set(text) if letter not in " \t\n" and _is_unseen(letter))
    names = {ord(letter): f"⟨U+{ord(letter):04X}⟩" for letter in odd}
    return text.translate(names) if names else text


def _is_unseen(letter: str) -> bool:
    return letter in UNSEEN or not letter.isprintable()
