"""What the replies do: each takes the turn, and what its pattern found in the prompt."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable

from . import texts
from .programs import revise
from .tools import (
    ask_question,
    call_mcp_tool,
    inside,
    read,
    run_command,
    write_file,
    write_plan,
)
from .turn import Turn

Act = Callable[[Turn, re.Match[str]], Awaitable[None]]

CRASH_STATUS = 3

# -- commands that the agent intercepts


async def plan(turn: Turn, found: re.Match[str]) -> None:
    """``/plan``: write a plan, and leave the decision to the person."""
    task = found["task"].strip() or "the task at hand"
    await turn.think(texts.PLAN_THOUGHT)
    name, draft = "implementation_plan.md", texts.PLAN.format(task=task)
    if write_plan(turn, name, draft, draft + texts.PLAN_FOOTER):
        await turn.say(texts.PLANNED.format(task=task, name=name))
    else:
        await turn.say("I could not write the plan: its folder cannot be written to.")


async def log_out(turn: Turn, _: re.Match[str]) -> None:
    """``/logout``: forget the sign-in."""
    turn.wants_sign_out = True
    await turn.say("You are logged out. (Simulated: there were no credentials to clear.)")


# -- tools


async def run(turn: Turn, found: re.Match[str]) -> None:
    """Show how a command looks."""
    command = (found["command"] or found["typed"]).strip().strip("`")
    outcome = await run_command(turn, command)
    if outcome == "denied":
        await turn.say(f"Then I leave it: `{command}` was not run.")
        return
    await turn.say(
        f"There you are: `{command}`. Its output is **simulated**; "
        "I show how a command looks, and run none.\n"
    )


async def write(turn: Turn, found: re.Match[str]) -> None:
    """Create or change a file."""
    name = found["file"]
    path = inside(turn.session.cwd, name)
    if path is None:
        await turn.say(f"`{name}` is outside the notebook's folder, and I write only inside it.")
        return
    try:
        old = read(path)
        new = revise(name, old, turn.text)
    except (OSError, UnicodeError) as error:
        await turn.say(f"I cannot edit `{name}`: {error}.")
        return
    if new is None:
        await turn.say(f"I write programs and notes, and leave a file like `{name}` to a model.")
        return
    await turn.say(f"I {'create' if old is None else 'change'} `{name}`.\n\n")
    outcome = await write_file(turn, path, old, new)
    await turn.say(_written(name, outcome, is_new=old is None))


def _written(name: str, outcome: str, *, is_new: bool) -> str:
    if outcome == "denied":
        return f"Then I leave it: `{name}` {'was not created' if is_new else 'is as it was'}."
    if outcome == "failed":
        return f"`{name}` could not be written; the tool call says why."
    verb = "now exists" if is_new else "has changed"
    hint = f" Try `Run python {name}` next." if name.endswith(".py") else ""
    return f"Done: `{name}` {verb}, and I have read it back.{hint}\n"


async def mcp(turn: Turn, found: re.Match[str]) -> None:
    """Show how a tool of an MCP server looks."""
    server = turn.session.mcp_servers[0] if turn.session.mcp_servers else "notebook"
    text = found["text"].strip() or "hello"
    outcome = await call_mcp_tool(turn, server, "echo", text)
    said = f"The tool answered `{text}`." if outcome == "done" else "Then I leave the tool alone."
    await turn.say(f"{said} (Simulated: no MCP server was called.)")


async def question(turn: Turn, _: re.Match[str]) -> None:
    """Ask the person something."""
    answer = await ask_question(turn, texts.QUESTION, tuple(texts.ANSWERS))
    if answer is None:
        await turn.say("No answer is an answer too. I go on without one.")
    else:
        await turn.say(f"**{answer}**: with pleasure. Prompt me with `{texts.ANSWERS[answer]}`.")


# -- words


def say(text: str) -> Act:
    """A reply that is always the same."""

    async def act(turn: Turn, _: re.Match[str]) -> None:
        await turn.say(text)

    return act


async def think(turn: Turn, _: re.Match[str]) -> None:
    """Think aloud, then answer."""
    await turn.think(texts.THOUGHT)
    await turn.say(texts.AFTER_THOUGHT)


async def draw(turn: Turn, _: re.Match[str]) -> None:
    """Send a picture."""
    await turn.say(texts.IMAGE)
    content = {"type": "image", "mimeType": "image/png", "data": texts.picture()}
    turn.update("agent_message_chunk", content=content)


async def anything(turn: Turn, _: re.Match[str]) -> None:
    """Say what was received."""
    kinds = [str(block.get("type")) for block in turn.prompt if block.get("type") != "text"]
    sent = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    attachments = f"Along with it came: {sent}.\n\n" if sent else ""
    await turn.say(texts.ANYTHING.format(quote=texts.quote(turn.text), attachments=attachments))


# -- ends other than a good one


async def wait(_: Turn, found: re.Match[str]) -> None:
    """Say nothing, for some seconds or until cancelled."""
    if found["seconds"]:
        await asyncio.sleep(float(found["seconds"]))
    else:
        await asyncio.Event().wait()


async def refuse(turn: Turn, _: re.Match[str]) -> None:
    """Refuse, with the stop reason for it."""
    turn.stop_reason = "refusal"
    await turn.say("No. (A simulated refusal.)")


async def crash(turn: Turn, _: re.Match[str]) -> None:
    """End the process in the middle of a sentence."""
    await turn.say("This answer ends in the middle of")
    print("simulator: crashed, as the prompt asked", file=sys.stderr, flush=True)
    os._exit(CRASH_STATUS)
