"""Which prompt does what: a table of plain words.

The first line of the table whose pattern is found in the prompt's text decides. What ends a turn
badly must stand at the beginning of the prompt, so that no ordinary prompt runs into it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from . import acts, exact, texts
from .phrases import (
    CALL,
    COLOUR,
    COUNT,
    CREATE,
    LINKED,
    MULTIPLY,
    READ,
    RECALL,
    REMEMBER,
    REPLY,
    RUN,
    SECRET,
    SEVERAL,
    TWO_TONE,
    WHICH,
)
from .turn import Turn

FILE_NAME = r"[\w./~-]*\w\.[a-z]\w{0,4}\b"
FIRST = r"\A\s*(?:please\s+)?"
PASSED_ON = r"\A\s*(?:please\s+|/[\w-]+\s+)?"
"""A command that is not one of the agent's is passed on to the model, which sees to the rest."""


class Reply(NamedTuple):
    """A kind of prompt.

    Args:
        pattern: searched for in the text, upper and lower case alike.
        example: a prompt of this kind; empty for none that a person would type.
        effect: what it does.
        act: does it.
        introduces: whether the first reply of a session begins with the introduction.
    """

    pattern: str
    example: str
    effect: str
    act: acts.Act
    introduces: bool = True


async def reply(turn: Turn) -> None:
    """Answer a prompt by its words."""
    for kind in REPLIES:
        if found := re.search(kind.pattern, turn.text, re.IGNORECASE):
            if kind.introduces and not _introduced(turn):
                await turn.say(texts.INTRODUCTION)
            await kind.act(turn, found)
            return


def _introduced(turn: Turn) -> bool:
    return any(texts.INTRODUCTION in e.agent for e in turn.session.record.exchanges)


async def _explain(turn: Turn, _: re.Match[str]) -> None:
    rows = [(kind.example, kind.effect) for kind in REPLIES if kind.example]
    await turn.say(texts.EXPLANATION.format(table=texts.table(rows)))


EXACT: dict[str, acts.Act] = {
    MULTIPLY: exact.multiply,
    REMEMBER: exact.repeat,
    RECALL: exact.recall,
    CREATE: exact.create,
    READ: exact.show,
    COLOUR: exact.fill,
    SEVERAL: exact.fill,
    TWO_TONE: exact.top_and_bottom,
    WHICH: exact.pick,
    SECRET: exact.tell_secret,
    LINKED: exact.follow,
    CALL: exact.call,
}
"""Prompts in fixed words, as programs send them: they are not among the examples."""

REPLIES = (
    Reply(
        rf"{FIRST}/?plan\b(?P<task>.*)",
        "/plan a birthday party",
        "I think, write a plan and leave the decision to you",
        acts.plan,
    ),
    Reply(r"\A\s*/logout\b", "/logout", "You are signed out until you sign in", acts.log_out),
    Reply(
        PASSED_ON + REPLY,
        "Reply with exactly: HELLO ACP",
        "I say it",
        exact.repeat,
        introduces=False,
    ),
    Reply(
        FIRST + COUNT,
        "Count from 1 to 20",
        "A number on each line",
        exact.count,
        introduces=False,
    ),
    *(Reply(FIRST + words, "", "", act, introduces=False) for words, act in EXACT.items()),
    Reply(
        rf"{FIRST}(?:{RUN}|run\s+(?P<typed>\S.*))",
        "Run python hello.py",
        "I ask, then show a command and what it might print",
        acts.run,
    ),
    Reply(
        rf"{FIRST}(?:wait|sleep)\b\D*(?P<seconds>\d+)?",
        "Wait",
        "Silence, until you press Stop",
        acts.wait,
        introduces=False,
    ),
    Reply(
        rf"{FIRST}error\b",
        "Error",
        "The turn fails as Antigravity's do: with a text",
        acts.say("Agent execution error: the prompt asked for one (simulated)."),
        introduces=False,
    ),
    Reply(rf"{FIRST}refuse\b", "Refuse", "The turn is refused", acts.refuse, introduces=False),
    Reply(
        rf"{FIRST}crash\b",
        "Crash",
        "The agent dies; the next prompt starts another",
        acts.crash,
        introduces=False,
    ),
    Reply(
        rf"\b(?:create|write|make|edit|change|fix|update|add)\b.*?(?P<file>{FILE_NAME})",
        "Create hello.py that greets",
        "I ask with a diff, then write the file",
        acts.write,
    ),
    Reply(
        r"\bmcp\b(?P<text>.*)",
        "mcp hello",
        "I ask, then show how a tool of an MCP server looks",
        acts.mcp,
    ),
    Reply(r"\bquestion\b", "Ask me a question", "I offer answers to choose from", acts.question),
    Reply(
        r"\blong\b",
        "Show a long answer",
        "Headings, a list, a table, code and formulas",
        acts.say(texts.LONG),
    ),
    Reply(
        r"\bdraw\b|\A\s*image\b|\b(?:show|send|make)\b.*\b(?:image|picture)\b",
        "Draw an image",
        "A picture comes as an image block",
        acts.draw,
    ),
    Reply(r"\bthink\b", "Think first", "A thought comes before the answer", acts.think),
    Reply(
        r"\bexplain\b|\bhelp\b|\byou (?:can )?do\b",
        "Explain what you can do",
        "This table",
        _explain,
    ),
    Reply(r"\b(?:hello|hi|hey)\b", "Say hello", "A greeting", acts.say(texts.HELLO)),
    Reply(r"", "How are you?", "I say what I received", acts.anything),
)
