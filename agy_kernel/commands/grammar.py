"""What a command is, and how it is told from a prompt: by its whole line.

``%agy new`` is a command and ``%agy new ideas for the plot`` is a prompt: a line is a command only
when all of it fits the command's grammar. ``%agy -- text`` is always a prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from ..errors import CommandError
from ..host import Host

Run = Callable[[Host, list[str]], str]
"""Does what a command is for; returns the Markdown to show, which may be nothing."""

Fits = Callable[[list[str]], bool]
"""Whether some words are arguments that a command takes."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    Args:
        name: its first word.
        arguments: for the usage line.
        help: one sentence.
        run: does it.
        fits: whether some words are arguments that it takes.
    """

    name: str
    arguments: str
    help: str
    run: Run
    fits: Fits = lambda words: not words

    @property
    def usage(self) -> str:
        """How it is written."""
        return f"%agy {self.name} {self.arguments}".rstrip()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A line that is not a command."""

    text: str


def tell_apart(line: str, commands: Mapping[str, Command]) -> tuple[Command, list[str]] | Prompt:
    """Tell a command from a prompt.

    Args:
        line: what stands behind ``%agy``; empty for the command ``status``.
        commands: by name; ``help`` and ``status`` are among them.

    Raises:
        CommandError: a single word that is nearly a command, or one that lacks its arguments.
    """
    stripped = line.strip()
    name, *words = stripped.split() or ["status"]
    if name == "--":
        return Prompt(stripped[2:].strip())
    if stripped == "--help":
        return commands["help"], []
    command = commands.get(name)
    if command is not None and (words == ["--help"] or command.fits(words)):
        return (commands["help"], [name]) if words == ["--help"] else (command, words)
    near = get_close_matches(name, commands, n=1, cutoff=0.75)
    if not words and near:
        raise CommandError(
            f"did you mean {commands[near[0]].usage!r}? To send it as a prompt: %agy -- {stripped}"
        )
    return Prompt(stripped)


# -- grammars


def at_most_one(words: list[str]) -> bool:
    """One word, or none."""
    return len(words) <= 1


def a_name(words: list[str]) -> bool:
    """One word, or several in quotation marks."""
    return len(words) == 1 or _is_quoted(" ".join(words))


def perhaps_a_name(words: list[str]) -> bool:
    """A name, or nothing."""
    return not words or a_name(words)


def unquoted(words: list[str]) -> str:
    """Words without the quotation marks around them."""
    text = " ".join(words)
    return text[1:-1] if _is_quoted(text) else text


def _is_quoted(text: str) -> bool:
    return len(text) > 2 and text[0] in "\"'" and text[0] == text[-1]


def exactly_one(words: list[str]) -> bool:
    """One word."""
    return len(words) == 1


def perhaps_a_word_and_a_name(words: list[str]) -> bool:
    """Nothing, a word, or a word and a name."""
    return len(words) < 2 or a_name(words[1:])


def a_number(words: list[str]) -> bool:
    """A number, or nothing."""
    return not words or (len(words) == 1 and words[0].isdecimal())
