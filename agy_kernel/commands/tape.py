"""``%agy tape``: the wire, looked at."""

from __future__ import annotations

from pathlib import Path

from ..acp.tape import Tape
from ..host import Host
from ..tables import fenced
from .grammar import a_number

LONGEST_LINE = 400


def tape(host: Host, words: list[str]) -> str:
    """Show the last frames of the wire, or save what is kept; begin a file, end it, or ask."""
    kept = host.conversations.tape
    match words:
        case ["save", file]:
            path = _path(file)
            return f"{kept.save(path)} frames are in `{path}`."
        case ["start", file]:
            kept.start(_path(file))
            return f"{_where(kept)}{_beginning(host)}"
        case ["stop"]:
            return _stop(kept)
        case ["status"]:
            return _where(kept)
    lines = [line[:LONGEST_LINE] for line in kept.tail(int(words[0]) if words else 10)]
    return f"{_where(kept)} The last frames:\n{fenced(chr(10).join(lines), 'json')}"


def fits(words: list[str]) -> bool:
    """A number of frames, or what to do with a file."""
    is_of_file = len(words) == 2 and words[0] in ("save", "start")
    return a_number(words) or is_of_file or words in (["stop"], ["status"])


def _path(file: str) -> Path:
    return Path(file).expanduser().absolute()


def _where(tape: Tape) -> str:
    if not tape.is_writing:
        return "The wire is kept in memory."
    return f"The wire is written to `{tape.path}`, {tape.written} frames so far."


def _beginning(host: Host) -> str:
    """A tape can be replayed when it has the beginning of a connection."""
    if host.conversation.session_id is None:
        return ""
    return " To have a tape that can be replayed, begin it anew: `%agy restart`, then `%agy new`."


def _stop(tape: Tape) -> str:
    if not tape.is_writing:
        return "No file is being written."
    tape.close()
    return f"{tape.written} frames are in `{tape.path}`."
