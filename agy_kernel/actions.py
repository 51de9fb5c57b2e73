"""What the ``%agy`` commands do; each returns the Markdown to show, which may be nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from .display.code import CodeBlock, code_blocks
from .display.entries import plain
from .display.place import Place
from .errors import CommandError
from .events import Capabilities
from .host import Host
from .prompt.gather import Request
from .tables import fenced, table

Run = Callable[[Host, list[str]], str]

# Before an agent has said what it takes; the ones that are known take all of it.
EVERYTHING = Capabilities(image=True, embedded_context=True)


def status(host: Host, _: list[str]) -> str:
    """Show agent, session, model and mode."""
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
    return table(rows)


def new(host: Host, _: list[str]) -> str:
    """Begin a new session with the next prompt."""
    host.conversation.new_session()
    return "The next prompt begins a new session; the agent will not remember this one."


def choose(what: str) -> Run:
    """The command that lists the models or modes, or chooses one."""

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


def last(host: Host, _: list[str]) -> str:
    """Show the last reply again."""
    if not host.turns:
        return "There was no turn yet."
    place = Place(host.conversation.cwd)
    return "\n\n".join(plain(entry, place) for entry in host.turns[-1].transcript.entries)


def tape(host: Host, words: list[str]) -> str:
    """Show the last frames of the wire, or save what is kept."""
    if words[:1] == ["save"]:
        path = Path(words[1]).expanduser()
        return f"{host.conversations.tape.save(path)} frames are in `{path}`."
    count = int(words[0]) if words else 10
    tape = host.conversations.tape
    where = f"written to `{tape.path}`" if tape.path else "kept in memory"
    lines = [line[:400] for line in tape.tail(count)]
    return f"The wire is {where}. The last frames:\n{fenced(chr(10).join(lines), 'json')}"


def code(host: Host, words: list[str]) -> str:
    """Put a code block of the last reply into the next cell."""
    blocks = code_blocks(host.turns[-1].transcript.text) if host.turns else []
    return offer_code(host, blocks, int(words[0]) if words else 1)


def fix(host: Host, _: list[str]) -> str:
    """Send the last error with its cell."""
    if host.context.recorder is None or host.context.recorder.last_error is None:
        raise CommandError("no cell has failed here, so there is nothing to fix.")
    host.prompt(Request("Explain this error and show how to fix it: @error"))
    return ""


def context(host: Host, words: list[str]) -> str:
    """Show what the next prompt would send, or say how much it may."""
    choice = words[0] if words else "show"
    if choice in ("on", "off"):
        host.context.is_on = choice == "on"
        return f"What runs in the notebook {'goes' if host.context.is_on else 'does not go'} along."
    if choice == "limit":
        host.context.limit = int(words[1])
        return f"At most {host.context.limit:,} bytes of text go along with a prompt."
    return _preview(host)


def offer_code(host: Host, blocks: Sequence[CodeBlock], number: int = 1) -> str:
    """Put a code block into the next cell, not to be run by us; returns what to say of it."""
    if not 1 <= number <= len(blocks):
        count = f"{len(blocks)} code block{'s' if len(blocks) != 1 else ''}"
        return f"The reply has {count if blocks else 'no code block'}."
    host.shell.set_next_input(blocks[number - 1].as_cell(host.is_prompt_notebook))
    more = len(blocks) - number
    return f"{more} more: `%agy code {number + 1}`" if more else ""


def _preview(host: Host) -> str:
    conversation = host.conversation
    engine = conversation.engine
    capabilities = engine.capabilities if engine is not None else EVERYTHING
    pack = host.pack(Request("(your prompt)"), conversation.cwd)
    assembled = pack.assemble(conversation.session_id or "", capabilities)
    blocks = json.dumps(assembled.blocks, ensure_ascii=False, indent=1)
    said = "\n".join(f"- {notice}" for notice in assembled.notices)
    return f"{assembled.description or 'only the prompt'}\n\n{said}\n\n{fenced(blocks, 'json')}"
