"""What a tool call names, wherever it does: files, folders, commands.

People are shown what an agent tells in its usual places; leave is given by all that stands there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..conversation.toolcalls import ToolCall
from ..display.calls import COMMAND_KEYS, FILE_KEYS, FOLDER_KEYS, MOVE_KEYS, command_of


def _plain(key: str) -> str:
    return re.sub(r"[\W_]", "", key).lower()


MOVED = [key for keys in MOVE_KEYS for key in keys]
COMMANDS = {*map(_plain, COMMAND_KEYS), "args", "argv", "script"}
FOLDERS = {*map(_plain, FOLDER_KEYS)}
FILES = {*map(_plain, (*FILE_KEYS, *MOVED)), "file", "filename", "files", "paths", "changes"}
PLACE = re.compile(r"\A(?:[/~]|file:|\.[/\\]|[A-Za-z]:[/\\]|\\\\)|(?:\A|[/\\])\.\.(?:[/\\]|\Z)")


def files(call: ToolCall) -> set[str]:
    """The files that a call names, in its places, its diffs, or anywhere in its arguments."""
    moved = {diff.moved_from for diff in call.changes if diff.moved_from}
    strings = ((name, value) for name, value in _members(call) if isinstance(value, str))
    said = {value for name, value in strings if value and _is_file(name, value)}
    return {*call.paths, *moved, *said}


def folders(call: ToolCall) -> set[str]:
    """The folders that its arguments name to work in."""
    members = _members(call)
    return {value for name, value in members if name in FOLDERS and isinstance(value, str)} - {""}


def commands(call: ToolCall) -> set[str]:
    """The commands that its arguments name, each without the shell around it."""
    told = (value for name, value in _members(call) if name in COMMANDS)
    return {command_of(ToolCall("", raw_input={"command": value})) for value in told} - {""}


def leads_to(name: str, base: Path, wanted: Path) -> bool:
    """Whether a name is that of a file, and of no other one by ``..`` or a link.

    Args:
        name: as the agent tells it.
        base: the folder in which it is looked for.
        wanted: the file or folder that it should be.
    """
    try:
        real = Path(os.path.realpath(base / name))
        there = Path(os.path.realpath(wanted.parent)) / wanted.name
    except ValueError:  # what the system takes for no name
        return False
    return ".." not in Path(name).parts and real == there


def _is_file(name: str, value: str) -> bool:
    elsewhere = name in FOLDERS or name in COMMANDS
    return name in FILES or (not elsewhere and PLACE.search(value) is not None)


def _members(call: ToolCall) -> Iterator[tuple[str, Any]]:
    """All that the arguments hold, however deep, and the name above it; keys are members too.

    Arguments that are no object are taken for a command.
    """
    raw = call.raw_input
    waiting = [("" if isinstance(raw, Mapping) else "command", raw)]
    while waiting:
        name, value = waiting.pop()
        yield name, value
        if isinstance(value, Mapping):
            waiting += ((name, key) for key in value)
            waiting += ((_plain(str(key)), inner) for key, inner in value.items())
        elif isinstance(value, list) and name not in COMMANDS:
            waiting += (("" if isinstance(v, Mapping) else name, v) for v in value)
