"""Completion and inspection in a prompt: ``%agy``, the agent's ``/commands``, ``@paths``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .agents.catalogue import CATALOGUE
from .commands import COMMANDS
from .conversation.conversation import Conversation
from .display.markdown import safe
from .options import NAMES
from .tables import fenced

SKIPPED = {".git", "node_modules", "__pycache__", ".venv", ".ipynb_checkpoints"}
MOST_PATHS = 200
PREVIEW_BYTES = 2_000

MENTION = re.compile(r"(?:^|\s)@([\w./~:-]*)$")
SUBCOMMAND = re.compile(r"^%%?agy[ \t]+(\w*)$")
CHOICE = re.compile(
    r"^%%?agy[ \t]+(?:(?:.*[ \t])?(?:--)?(model|mode)|(effort)|option[ \t]+(\S+))[ \t]+(\S*)$"
)
ARGUMENT = re.compile(r"^%%?agy[ \t]+(use|option|set|config[ \t]+(?:set|unset))[ \t]+(\S*)$")
OPTION = re.compile(r"^%%?agy[ \t]+(?:.*[ \t])?(-[\w-]*)$")
SPECIAL = ("cell:last", "error")
SLASH = re.compile(r"^/(\S*)$")


@dataclass(frozen=True, slots=True)
class Completion:
    """Matches for the text from ``start`` to the cursor; ``type`` is the front end's label."""

    matches: list[str]
    start: int
    type: str

    def reply(self, cursor: int) -> dict[str, Any]:
        """A ``complete_reply``'s content."""
        typed = [
            {"text": m, "type": self.type, "start": self.start, "end": cursor, "signature": ""}
            for m in self.matches
        ]
        return {
            "status": "ok",
            "matches": self.matches,
            "cursor_start": self.start,
            "cursor_end": cursor,
            "metadata": {"_jupyter_types_experimental": typed},
        }


def complete(
    code: str, cursor: int, names: Iterable[str], conversation: Conversation | None
) -> Completion:
    """What could stand at the cursor of a prompt.

    Args:
        names: the user's variables.
        conversation: knows the agent's commands, models and modes; None before the first prompt.
    """
    head = code[:cursor]
    if match := MENTION.search(head):
        mentions = _mentions(match[1], names, _folder(conversation))
        return Completion(mentions, match.start(1), "reference")
    if match := SLASH.match(head):
        slashes = [f"/{c.name}" for c in conversation.commands] if conversation else []
        return Completion(_starting(match[0], slashes), 0, "function")
    return _behind_agy(head, conversation) or Completion([], cursor, "text")


def _behind_agy(head: str, conversation: Conversation | None) -> Completion | None:
    """What could stand at the end of a line that begins with ``%agy``."""
    if match := CHOICE.match(head):
        known = conversation.choices if conversation else {}
        choices = known.get(match[1] or match[2] or match[3])
        words: Iterable[str] = [c.id for c in choices.available] if choices else []
    elif match := ARGUMENT.match(head):
        words = _arguments(match[1].split()[0], conversation)
    elif match := OPTION.match(head):
        words = NAMES
    elif match := SUBCOMMAND.match(head):
        words = COMMANDS
    else:
        return None
    at = match.lastindex or 0
    return Completion(_starting(match[at], words), match.start(at), "keyword")


def inspect(code: str, cursor: int, conversation: Conversation | None) -> str | None:
    """What there is to say about the word at the cursor, as Markdown."""
    line = code[code.rfind("\n", 0, cursor) + 1 :].partition("\n")[0]
    if (match := re.match(r"%%?agy\s+(\w+)", line)) and match[1] in COMMANDS:
        command = COMMANDS[match[1]]
        return f"`{command.usage}`\n\n{command.help}"
    if match := re.match(r"/(\S+)", line):
        commands = conversation.commands if conversation else ()
        known = next((c for c in commands if c.name == match[1]), None)
        return safe(f"**/{known.name}** {known.hint}\n\n{known.description}") if known else None
    for match in re.finditer(r"(?:^|\s)@(\S+)", code):
        if match.start() <= cursor <= match.end():
            return _preview(_folder(conversation), match[1])
    return None


def _arguments(command: str, conversation: Conversation | None) -> Iterable[str]:
    """What can stand behind a command."""
    if command == "use":
        return CATALOGUE
    if command == "option":
        return conversation.choices if conversation else ()
    from .settings import Settings

    return Settings.model_fields


def _folder(conversation: Conversation | None) -> Path:
    return Path(conversation.cwd) if conversation else Path.cwd()


def _mentions(prefix: str, names: Iterable[str], folder: Path) -> list[str]:
    public = sorted(name for name in names if not name.startswith("_"))
    return [
        *_starting(prefix, SPECIAL),
        *(_starting(prefix, public) if prefix else ()),
        *_paths(prefix, folder),
    ]


def _starting(prefix: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(prefix)]


def _paths(prefix: str, folder: Path) -> list[str]:
    directory, name = os.path.split(prefix)
    typed = prefix[: len(prefix) - len(name)]
    try:
        entries = sorted(os.scandir(folder / Path(directory).expanduser()), key=_folders_first)
    except (OSError, RuntimeError):  # there is no such folder, or no such home
        return []
    shown = [e for e in entries if _is_offered(e.name, name)]
    return [typed + e.name + ("/" if e.is_dir() else "") for e in shown[:MOST_PATHS]]


def _folders_first(entry: os.DirEntry[str]) -> tuple[bool, str]:
    return not entry.is_dir(), entry.name


def _is_offered(name: str, prefix: str) -> bool:
    hidden = name.startswith(".") and not prefix.startswith(".")
    return name.lower().startswith(prefix.lower()) and name not in SKIPPED and not hidden


def _preview(folder: Path, name: str) -> str | None:
    try:
        path = folder / Path(name).expanduser()
        if not path.is_file():
            return None  # reading a pipe could wait for ever
        with path.open("rb") as file:
            text = file.read(PREVIEW_BYTES).decode("utf-8", "replace")
    except (OSError, RuntimeError):
        return None
    return safe(f"`{path.name}`\n\n{fenced(text)}")
