"""The words of ``%agy``: commands, told apart from prompts by their whole line.

``%agy new`` is a command and ``%agy new ideas for the plot`` is a prompt: a line is a command only
when all of it fits the command's grammar. ``%agy -- text`` is always a prompt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from . import actions, recall
from .actions import Run
from .errors import CommandError
from .host import Host
from .tables import table


@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    Args:
        name: its first word.
        arguments: for the usage line.
        help: one sentence.
        run: does it; returns Markdown to show.
        fits: whether some words are arguments that it takes.
    """

    name: str
    arguments: str
    help: str
    run: Run
    fits: Callable[[list[str]], bool] = lambda words: not words

    @property
    def usage(self) -> str:
        """How it is written."""
        return f"%agy {self.name} {self.arguments}".rstrip()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A line that is not a command."""

    text: str


def parse(line: str) -> tuple[Command, list[str]] | Prompt:
    """Tell a command from a prompt.

    Raises:
        CommandError: a single word that is nearly a command.
    """
    stripped = line.strip()
    name, *words = stripped.split() or ["status"]
    if name == "--":
        return Prompt(stripped[2:].strip())
    if stripped == "--help":
        return COMMANDS["help"], []
    command = COMMANDS.get(name)
    if command is not None and (words == ["--help"] or command.fits(words)):
        return (COMMANDS["help"], [name]) if words == ["--help"] else (command, words)
    near = get_close_matches(name, COMMANDS, n=1, cutoff=0.75)
    if not words and near and command is None:
        raise CommandError(
            f"did you mean {COMMANDS[near[0]].usage!r}? To send it as a prompt: %agy -- {stripped}"
        )
    return Prompt(stripped)


# -- the list


def _status(host: Host, words: list[str]) -> str:
    return f"{actions.status(host, words)}\n\n{_list_of_commands()}"


def _help(_: Host, words: list[str]) -> str:
    if words:
        command = COMMANDS[words[0]]
        return f"`{command.usage}`\n\n{command.help}"
    return _list_of_commands()


def _list_of_commands() -> str:
    rows = [(f"`{c.usage}`", c.help) for c in COMMANDS.values()]
    rows.append(("`%agy -- TEXT`", "Send TEXT as a prompt, whatever it says."))
    return table(rows)


def _at_most_one(words: list[str]) -> bool:
    return len(words) <= 1


def _tape_words(words: list[str]) -> bool:
    return not words or (len(words) == 1 and words[0].isdecimal()) or _is_save(words)


def _number(words: list[str]) -> bool:
    return not words or (len(words) == 1 and words[0].isdecimal())


def _context_words(words: list[str]) -> bool:
    is_limit = len(words) == 2 and words[0] == "limit" and words[1].isdecimal()
    return not words or words in (["show"], ["on"], ["off"]) or is_limit


def _is_save(words: list[str]) -> bool:
    return len(words) == 2 and words[0] == "save"


COMMANDS: dict[str, Command] = {
    c.name: c
    for c in (
        Command("status", "", "Show agent, session, model and mode.", _status),
        Command("new", "", "Begin a new session with the next prompt.", actions.new),
        Command(
            "model",
            "[MODEL]",
            "List the models, or choose one.",
            actions.choose("model"),
            _at_most_one,
        ),
        Command(
            "mode", "[MODE]", "List the modes, or choose one.", actions.choose("mode"), _at_most_one
        ),
        Command("last", "", "Show the last reply again, after a page reload.", actions.last),
        Command(
            "diff",
            "[ID]",
            "Show diffs in full: the last turn's, or those of the tool call with this in its id.",
            recall.diff,
            _at_most_one,
        ),
        Command(
            "output",
            "[ID]",
            "Show in full what a tool call returned: the last one, or the one with this in its id.",
            recall.output,
            _at_most_one,
        ),
        Command(
            "code",
            "[N]",
            "Put a code block of the last reply into the next cell.",
            actions.code,
            _number,
        ),
        Command("fix", "", "Send the last error with its cell.", actions.fix),
        Command(
            "context",
            "[show | on | off | limit BYTES]",
            "Show what the next prompt would send, or say how much it may.",
            actions.context,
            _context_words,
        ),
        Command(
            "tape",
            "[N | save FILE]",
            "Show the last frames of the wire, or save what is kept.",
            actions.tape,
            _tape_words,
        ),
        Command(
            "help",
            "[COMMAND]",
            "List the commands, or explain one.",
            _help,
            lambda words: not words or (len(words) == 1 and words[0] in COMMANDS),
        ),
    )
}
