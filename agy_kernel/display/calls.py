"""What agents say of their tool calls: the fields that each of them names in its own way.

``rawInput`` and ``rawOutput`` may be anything. The names are those of the agents in
tests/agents/traffic, and of Antigravity's native tools.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from ..conversation.toolcalls import ToolCall
from ..events import Content, Diff, Terminal
from .arguments import as_json
from .mcp import mcp_tool, unwrapped

COMMAND_KEYS = ("command", "CommandLine", "cmd", "command_line")
FOLDER_KEYS = ("cwd", "Cwd", "workdir", "working_dir", "dir_path", "directory")
FILE_KEYS = (
    *("file_path", "filePath", "path", "TargetFile", "target_file", "AbsolutePath"),
    "notebook_path",
)
OUTPUT_KEYS = ("formatted_output", "aggregated_output", "output")
TEXT_KEYS = ("content", "text", "error", "message")
EXIT_KEYS = ("exit_code", "exitCode", "exit_status")
MOVE_KEYS = (
    ("source", "destination"),
    ("source_path", "destination_path"),
    ("old_path", "new_path"),
    ("oldPath", "newPath"),
    ("from", "to"),
    ("src", "dst"),
)
FINAL = ("completed", "failed")
EXIT_LINE = re.compile(r"Exit code (\d{1,3})(?:\n|$)")
COMPARED_CHARS = 100_000
SHELLS = ("sh", "bash", "zsh", "dash", "ksh", "fish")
SHELL_FOLDERS = ("", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/")
"""Any other program may do with a command whatever it likes, be its name that of a shell."""
SHELL_LINE = re.compile(
    r"""[\w./-]+\ -l?c\ (?:'[^']*'|"(?:[^"$`\\]|\\["\\])*"|\\'|[\w@%+=:,./-])+""", re.VERBOSE
)
"""A command line whose last word is to a shell what it is to us: nothing in it is expanded."""
PLAIN_ID = re.compile(r"[\w.:/-]{1,60}", re.ASCII)


def command_of(call: ToolCall) -> str:
    """The command that a call runs, if it runs one; without the shell around it."""
    if mcp_tool(call) is not None:
        return ""
    raw = arguments_of(call)
    for key in COMMAND_KEYS:
        value = raw.get(key)
        if isinstance(value, str) and value.strip():
            return _in_shell(value)
        if isinstance(value, list) and value:
            return _inner([str(word) for word in value])
    return ""


def folder_of(call: ToolCall) -> str:
    """The folder that a call names to work in."""
    return _first(arguments_of(call), FOLDER_KEYS)


def files_of(call: ToolCall) -> tuple[str, ...]:
    """The files that a call touches."""
    if call.paths:
        return call.paths
    named = _first(arguments_of(call), FILE_KEYS)
    return (named,) if named else ()


def all_files_of(call: ToolCall) -> tuple[str, ...]:
    """All files that a call names, and not only in the place that tells it best."""
    moved = (diff.moved_from for diff in call.changes if diff.moved_from)
    found = [*call.paths, *moved, *_each(arguments_of(call), FILE_KEYS)]
    # Alone they are anything: a letter goes from somebody to somebody.
    if found or call.kind == "move":
        found += _each(arguments_of(call), (key for pair in MOVE_KEYS for key in pair))
    return tuple(dict.fromkeys(found))


def moved_of(call: ToolCall) -> tuple[str, str] | None:
    """The paths of a file before and after, of a call that moves or renames one."""
    for diff in call.changes:
        if diff.moved_from and diff.moved_from != diff.path:
            return diff.moved_from, diff.path
    if call.kind != "move":
        return None
    raw = arguments_of(call)
    for keys in MOVE_KEYS:
        old, new = (_first(raw, [key]) for key in keys)
        if old and new:
            return old, new
    return (call.paths[0], call.paths[1]) if len(call.paths) == 2 else None


def arguments_of(call: ToolCall) -> Mapping[str, Any]:
    """The arguments of a call; empty where they are no object."""
    raw = call.raw_input
    # MCP tools come in an envelope (seed, phase 2, 3).
    return unwrapped(raw) if isinstance(raw, Mapping) else {}


def exit_status_of(call: ToolCall) -> str:
    """The exit status of a command, unless it is 0 or unknown."""
    raw = call.raw_output if isinstance(call.raw_output, Mapping) else {}
    value = next((raw[key] for key in EXIT_KEYS if raw.get(key) is not None), call.exit_status)
    # claude writes it above the output, and calls all that failed 1 in ``terminal_exit``.
    if call.status == "failed" and (said := EXIT_LINE.match(_first_words(call))):
        value = said[1]
    return str(value) if value not in (0, "0", None) else ""


def is_program(call: ToolCall) -> bool:
    """Whether a program's output is shown, which may move about on its terminal."""
    has_terminal = bool(call.printed) or any(isinstance(c, Terminal) for c in call.content)
    return call.kind == "execute" or has_terminal or bool(command_of(call))


def output_of(call: ToolCall) -> str:
    """What a call printed or returned."""
    return next((text for label, text in texts_of(call) if label == "output"), "")


def texts_of(call: ToolCall) -> list[tuple[str, str]]:
    """The texts of a call with their labels: what it says of itself, and what it returned.

    Text content is the output of a call that has ended, unless that returned one besides:
    codex-acp describes a command in the content of its permission request, and leaves it there.
    """
    told = "\n".join(text for item in call.content if (text := _text(item)))
    returned = max(_returned(call), "".join(call.printed), key=len)
    if not told or _say_the_same(told, returned):
        return [("output", returned)]
    own = returned if isinstance(call.raw_output, Mapping) or call.printed else ""
    is_output = call.status in FINAL and not own
    return [("output" if is_output else "details", told), ("output", own)]


def short_id(call: ToolCall) -> str:
    """What to type after a command for this call; empty where its id cannot be typed."""
    if PLAIN_ID.fullmatch(call.id):
        return call.id
    parts = PLAIN_ID.findall(call.id)
    return str(max(parts, key=len)) if parts else ""


def _returned(call: ToolCall) -> str:
    raw = call.raw_output
    if isinstance(raw, Mapping):
        streams = "".join(_first(raw, [key]) for key in ("stdout", "stderr"))
        text = _first(raw, OUTPUT_KEYS) or streams or _first(raw, TEXT_KEYS)
        return text or (as_json(raw) if raw and not exit_status_of(call) else "")
    if raw is None or call.superseded:
        return ""
    # Antigravity's is a string for display, often just the title again (seed, phase 2, 3).
    text = raw if isinstance(raw, str) else as_json(raw)
    return "" if text.strip() in ("", call.title) else text


def _first_words(call: ToolCall) -> str:
    text = call.printed[0] if call.printed else call.raw_output
    return text[:20] if isinstance(text, str) else ""


def _first(raw: Mapping[str, Any], keys: Iterable[str]) -> str:
    return next((v for key in keys if isinstance(v := raw.get(key), str) and v), "")


def _each(raw: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    return [value for key in keys if (value := _first(raw, [key]))]


def _in_shell(command: str) -> str:
    words = shlex.split(command) if SHELL_LINE.fullmatch(command) else []
    return words[2] if _is_shell(words) else command


def _inner(words: list[str]) -> str:
    return words[2] if _is_shell(words) else shlex.join(words)


def _is_shell(words: list[str]) -> bool:
    if len(words) != 3 or words[1] not in ("-c", "-lc"):
        return False
    folder, slash, name = words[0].rpartition("/")
    return name in SHELLS and folder + slash in SHELL_FOLDERS


def _text(item: Content | Diff | Terminal) -> str:
    if isinstance(item, Terminal):
        return item.output
    return _unfenced(item.text) if isinstance(item, Content) and item.type == "text" else ""


def _say_the_same(one: str, other: str) -> bool:
    if len(one) + len(other) > COMPARED_CHARS:
        return one.strip() == other.strip()
    return one.split() == other.split()


def _unfenced(text: str) -> str:
    inner = text.strip()
    if not inner.startswith("```") or "\n" not in inner:
        return text
    body, _, last = inner.partition("\n")[2].rpartition("\n")
    return body if last.startswith("```") else text
