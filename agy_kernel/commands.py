"""The words of ``%agy``: commands, told apart from prompts by their whole line.

``%agy new`` is a command and ``%agy new ideas for the plot`` is a prompt: a line is a command only
when all of it fits the command's grammar. ``%agy -- text`` is always a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from .conversation.transcript import ToolCall
from .display import diffs
from .display.entries import plain
from .display.tools import relative
from .errors import CommandError
from .events import Diff, Selector
from .host import Host

Run = Callable[[Host, list[str]], str]


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


# -- what they do


def _status(host: Host, _: list[str]) -> str:
    conversation = host.conversation
    engine = conversation.engine
    rows = [("agent", conversation.name), ("folder", conversation.cwd)]
    if engine is not None:
        rows.append(("running", f"{engine.info.label} {engine.info.version}, pid {engine.pid}"))
    else:
        rows.append(("running", "no; the next prompt starts it"))
    rows += [("session", conversation.session_id or "none yet")]
    rows += [("title", conversation.title)] if conversation.title else []
    rows += [(what, choices.name()) for what, choices in conversation.choices.items()]
    rows += [("permissions", f"{host.settings.permissions} (AGY_PERMISSIONS)")]
    return _table(rows) + "\n\n" + _list_of_commands()


def _new(host: Host, _: list[str]) -> str:
    host.conversation.new_session()
    return "The next prompt begins a new session; the agent will not remember this one."


def _choose(what: Selector) -> Run:
    def run(host: Host, words: list[str]) -> str:
        if words:
            return f"{what}: **{host.wait_for(host.conversation.choose(what, words[0]))}**"
        host.wait_for(host.conversation.ready())
        choices = host.conversation.choices.get(what)
        if choices is None:
            return f"The agent offers no choice of {what}."
        return "\n".join(
            f"- {'**' if c.id == choices.current else ''}`{c.id}` {c.name}"
            f"{'** (current)' if c.id == choices.current else ''}"
            for c in choices.available
        )

    return run


def _last(host: Host, _: list[str]) -> str:
    if not host.turns:
        return "There was no turn yet."
    shown, folder = host.turns[-1], host.conversation.cwd
    return "\n\n".join(plain(entry, folder) for entry in shown.transcript.entries)


def _diff(host: Host, words: list[str]) -> str:
    folder = host.conversation.cwd
    calls = [call for shown in host.turns for call in shown.transcript.tool_calls]
    if words:
        calls = [call for call in calls if call.id == words[0]]
    elif host.turns:
        calls = list(host.turns[-1].transcript.tool_calls)
    shown = [_one_diff(call, diff, folder) for call in calls for diff in call.changes]
    return "\n\n".join(shown) or "No diff to show."


def _one_diff(call: ToolCall, diff: Diff, folder: str) -> str:
    head = f"`{relative(diff.path, folder)}`: {diffs.what(diff)} {diffs.stat(diff)} ({call.status})"
    return f"{head}\n{fenced(diffs.plain(diff), 'diff')}"


def _tape(host: Host, words: list[str]) -> str:
    if words[:1] == ["save"]:
        path = Path(words[1]).expanduser()
        return f"{host.tape.save(path)} frames are in `{path}`."
    count = int(words[0]) if words else 10
    where = f"written to `{host.tape.path}`" if host.tape.path else "kept in memory"
    lines = [line[:400] for line in host.tape.tail(count)]
    return f"The wire is {where}. The last frames:\n{fenced(chr(10).join(lines), 'json')}"


def _help(_: Host, words: list[str]) -> str:
    if words:
        command = COMMANDS[words[0]]
        return f"`{command.usage}`\n\n{command.help}"
    return _list_of_commands()


# -- how it looks


def _list_of_commands() -> str:
    rows = [(f"`{c.usage}`", c.help) for c in COMMANDS.values()]
    rows.append(("`%agy -- TEXT`", "Send TEXT as a prompt, whatever it says."))
    return _table(rows)


def _table(rows: list[tuple[str, str]]) -> str:
    body = "\n".join(f"| {left} | {_cell(right)} |" for left, right in rows)
    return f"| | |\n|:--|:--|\n{body}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def fenced(text: str, language: str = "") -> str:
    """A code block, whatever the code says."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _at_most_one(words: list[str]) -> bool:
    return len(words) <= 1


def _tape_words(words: list[str]) -> bool:
    return not words or (len(words) == 1 and words[0].isdecimal()) or _is_save(words)


def _is_save(words: list[str]) -> bool:
    return len(words) == 2 and words[0] == "save"


COMMANDS: dict[str, Command] = {
    c.name: c
    for c in (
        Command("status", "", "Show agent, session, model and mode.", _status),
        Command("new", "", "Begin a new session with the next prompt.", _new),
        Command(
            "model", "[MODEL]", "List the models, or choose one.", _choose("model"), _at_most_one
        ),
        Command("mode", "[MODE]", "List the modes, or choose one.", _choose("mode"), _at_most_one),
        Command("last", "", "Show the last reply again, after a page reload.", _last),
        Command("diff", "[ID]", "Show the last turn's diffs in full.", _diff, _at_most_one),
        Command(
            "tape",
            "[N | save FILE]",
            "Show the last frames of the wire, or save what is kept.",
            _tape,
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
