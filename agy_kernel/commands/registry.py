"""All commands of ``%agy``, each with its grammar; what each does stands in the module it names."""

from __future__ import annotations

from ..host import Host
from ..signin import command as signin
from ..tables import table
from . import agents, context, doctor, permissions, recall, session, settings, tape, turns
from .grammar import (
    Command,
    Prompt,
    a_name,
    a_number,
    at_most_one,
    exactly_one,
    perhaps_a_name,
    perhaps_a_word_and_a_name,
    tell_apart,
)


def parse(line: str) -> tuple[Command, list[str]] | Prompt:
    """Tell a command from a prompt.

    Raises:
        CommandError: a single word that is nearly a command.
    """
    return tell_apart(line, COMMANDS)


def _status(host: Host, words: list[str]) -> str:
    return f"{session.status(host, words)}\n\n{_list_of_commands()}"


def _help(_: Host, words: list[str]) -> str:
    if words:
        command = COMMANDS[words[0]]
        return f"`{command.usage}`\n\n{command.help}"
    return _list_of_commands()


def _list_of_commands() -> str:
    rows = [(f"`{c.usage}`", c.help) for c in COMMANDS.values()]
    rows.append(("`%agy -- TEXT`", "Send TEXT as a prompt, whatever it says."))
    return table(rows)


def _is_a_command(words: list[str]) -> bool:
    return not words or (len(words) == 1 and words[0] in COMMANDS)


ALL = (
    Command("status", "", "Show agent, session, model and mode.", _status),
    # the session
    Command("new", "", "Begin a new session with the next prompt.", session.new),
    Command("sessions", "", "List the sessions in this folder.", session.sessions),
    Command(
        "resume",
        "[ID]",
        "Go on with an earlier session: this one, or the one used before.",
        session.resume,
        at_most_one,
    ),
    Command("fork", "", "Go on in a copy of this session.", session.fork),
    Command("close", "", "Close this session; the next prompt begins another.", session.close),
    Command(
        "delete", "ID", "Delete a session for good, after asking.", session.delete, exactly_one
    ),
    Command("restart", "", "End the agent; the next prompt starts it anew.", session.restart),
    # what is chosen in it
    Command(
        "model",
        "[MODEL]",
        "List the models, or choose one.",
        session.choose("model"),
        perhaps_a_name,
    ),
    Command(
        "effort",
        "[EFFORT]",
        "List how hard the model can think, or choose.",
        session.choose("effort"),
        perhaps_a_name,
    ),
    Command(
        "mode", "[MODE]", "List the modes, or choose one.", session.choose("mode"), perhaps_a_name
    ),
    Command(
        "option",
        "[OPTION [VALUE]]",
        "List all that the agent lets one choose, or choose.",
        session.option,
        perhaps_a_word_and_a_name,
    ),
    Command(
        "auth",
        "[METHOD | logout]",
        "Show how to sign in to the agent, sign in, or sign out.",
        signin.auth,
        signin.fits,
    ),
    # the last turn
    Command("last", "", "Show the last reply again, after a page reload.", turns.last),
    Command(
        "diff",
        "[ID]",
        "Show diffs in full: the last turn's, or those of the tool call with this in its id.",
        recall.diff,
        at_most_one,
    ),
    Command(
        "output",
        "[ID]",
        "Show in full what a tool call returned: the last one, or the one with this in its id.",
        recall.output,
        at_most_one,
    ),
    Command(
        "code",
        "[N]",
        "Put a code block of the last reply into the next cell.",
        turns.code,
        a_number,
    ),
    Command("fix", "", "Send the last error with its cell.", turns.fix),
    # what goes along
    Command(
        "context",
        "[show | on | off | limit BYTES]",
        "Show what the next prompt would send, or say how much it may.",
        context.context,
        context.fits,
    ),
    # the person's own
    Command(
        "permissions",
        "[reset]",
        "Show the rules and what was decided, or forget this session's rules.",
        permissions.permissions,
        lambda words: words in ([], ["reset"]),
    ),
    Command("agents", "", "List the agents that are known.", agents.agents),
    Command("use", "NAME", "Ask another agent from now on.", agents.use, a_name),
    Command(
        "mcp",
        "[list | add NAME COMMAND... | add NAME --http URL | remove NAME]",
        "List, add or remove the MCP servers that agents get.",
        agents.mcp,
        agents.is_mcp,
    ),
    Command(
        "set",
        "KEY VALUE",
        "Set something until this kernel ends.",
        settings.set_here,
        settings.fits,
    ),
    Command(
        "config",
        "[set KEY VALUE | unset KEY]",
        "Show the settings with where each comes from, or change your own file.",
        settings.config,
        settings.is_config,
    ),
    # looking closer
    Command(
        "doctor",
        "[--json]",
        "Look whether everything is in order: installation, agent, settings, and this kernel.",
        doctor.doctor,
        doctor.fits,
    ),
    Command(
        "tape",
        "[N | save FILE | start FILE | stop | status]",
        "Show the last frames of the wire, save what is kept, or write all that follows to a file.",
        tape.tape,
        tape.fits,
    ),
    Command("help", "[COMMAND]", "List the commands, or explain one.", _help, _is_a_command),
)
COMMANDS: dict[str, Command] = {command.name: command for command in ALL}
