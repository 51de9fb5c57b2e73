"""``%agy tape``: the wire, looked at."""

from __future__ import annotations

from pathlib import Path

from ..host import Host
from ..tables import fenced
from .grammar import a_number

LONGEST_LINE = 400


def tape(host: Host, words: list[str]) -> str:
    """Show the last frames of the wire, or save what is kept."""
    kept = host.conversations.tape
    if words[:1] == ["save"]:
        path = Path(words[1]).expanduser()
        return f"{kept.save(path)} frames are in `{path}`."
    where = f"written to `{kept.path}`" if kept.path else "kept in memory"
    lines = [line[:LONGEST_LINE] for line in kept.tail(int(words[0]) if words else 10)]
    return f"The wire is {where}. The last frames:\n{fenced(chr(10).join(lines), 'json')}"


def fits(words: list[str]) -> bool:
    """A number of frames, or where to save them."""
    return a_number(words) or (len(words) == 2 and words[0] == "save")
