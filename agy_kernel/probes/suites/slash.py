"""Gate F.7: what becomes of a prompt that begins with a slash.

The seed saw RC01 take ``/plan`` for itself, and write a plan without asking (its reference,
"Phase-2 probe findings", 4). Nothing here ever signs out.
"""

from __future__ import annotations

import os.path
from typing import Any

from ...acp.fields import mappings, text
from ..calls import Call, calls_of
from ..ends import in_words, said, stop_reason
from ..heard import commands_of
from ..probe import Finding, probe
from ..prompts import PLAN, SLASH_INSIDE, UNKNOWN_COMMAND
from ..subject import Subject
from ..turns import Answer, Turn
from ..wire import Wire

ANSWER_SECONDS = 120.0
OFFERED = "plan"
UNKNOWN, PASSED_ON, INSIDE = "agy-kernel-probe", "PASSED ON", "NO COMMAND"


@probe(
    "Which commands does it offer?",
    sends="session/new",
    looks_at="available_commands_update",
)
async def commands(agent: Subject, *, commands_seconds: float = 3.0) -> Finding:
    names = await _offered(agent, await agent.session(), commands_seconds)
    if not names:
        return Finding("absent", f"it offers none in {commands_seconds:g} s", {"commands": []})
    return Finding("pass", ", ".join(names), {"commands": names})


@probe(
    "Does the agent take a command that stands at the beginning of a prompt?",
    sends=f"“{PLAN}” where it offers that command, or else one that it cannot know",
    looks_at="whether the model gets it; what is done without asking",
    gate="F.7",
    prompts=1,
)
async def leading(agent: Subject, *, commands_seconds: float = 3.0) -> Finding:
    wire, session = await agent.wire(), await agent.session()
    if OFFERED not in await _offered(agent, session, commands_seconds):
        return _unknown_command(*await _put_unknown(agent))
    turn = wire.prompt(session, PLAN)
    answer = await turn.answer(ANSWER_SECONDS)
    calls = list(calls_of(wire.recording.frames, session).values())
    did = _done_unasked(agent, calls)
    facts = {"taken": bool(calls), "stopReason": stop_reason(answer), **did}
    if not calls:
        words = f"it offers /{OFFERED}, and answers it by text alone: {in_words(turn, answer)}"
        return Finding("fallback", words, facts)
    wrote = f"files written without asking: {did['written']}, outside its folder: {did['outside']}"
    words = f"it takes /{OFFERED} for itself; {wrote}. A prompt must not begin with / by accident"
    return Finding("fallback", words, facts)


@probe(
    "Does a command that it does not know reach the model?",
    sends=f"a prompt that begins with /{UNKNOWN}",
    looks_at=f"whether it says {PASSED_ON}",
    prompts=1,
)
async def unknown(agent: Subject) -> Finding:
    return _unknown_command(*await _put_unknown(agent))


@probe(
    "Is a slash in the middle of a prompt left alone?",
    sends="a prompt with /plan in its middle",
    looks_at=f"whether it says {INSIDE}, and calls no tool",
    prompts=1,
)
async def inside(agent: Subject) -> Finding:
    wire, session = await agent.wire(), await agent.session()
    turn = wire.prompt(session, SLASH_INSIDE)
    answer = await turn.answer(ANSWER_SECONDS)
    calls = calls_of(wire.recording.frames, session)
    facts = {"calls": len(calls), "stopReason": stop_reason(answer)}
    if INSIDE in said(turn, answer) and not calls:
        return Finding("pass", "it is text like any other", facts)
    words = f"it does not do as it is told: {len(calls)} tool calls; {in_words(turn, answer)}"
    return Finding("fail", words, facts)


async def _offered(agent: Subject, session: str, within: float) -> list[str]:
    """The names of the commands, as they are told first."""
    told = (await commands_of(await agent.wire(), session, within))[:1]
    return [text(c, "name") for each in told for c in mappings(each.fields, "availableCommands")]


async def _put_unknown(agent: Subject) -> tuple[Wire, Turn, Answer]:
    """The turn of a command that nobody knows, ended; two probes may look at it."""

    async def put() -> tuple[Wire, Turn, Answer]:
        wire, session = await agent.wire(), await agent.session()
        turn = wire.prompt(session, UNKNOWN_COMMAND)
        return wire, turn, await turn.answer(ANSWER_SECONDS)

    return await agent.once("the unknown command", put)


def _unknown_command(wire: Wire, turn: Turn, answer: Answer) -> Finding:
    calls = calls_of(wire.recording.frames, turn.session_id)
    is_passed_on = PASSED_ON in said(turn, answer) and UNKNOWN not in turn.text
    facts = {"taken": not is_passed_on, "stopReason": stop_reason(answer), "calls": len(calls)}
    if is_passed_on:
        return Finding("pass", "a command that it does not know is passed on to the model", facts)
    words = f"/{UNKNOWN} does not reach the model: {in_words(turn, answer)}"
    return Finding("fallback", words, facts)


def _done_unasked(agent: Subject, calls: list[Call]) -> dict[str, Any]:
    """What was done that no leave was asked for."""
    unasked = [c for c in calls if not c.was_asked and c.status == "completed"]
    files = {
        os.path.normpath(agent.folder / f) for c in unasked if c.kind == "edit" for f in c.files
    }
    outside = [file for file in files if not file.startswith(f"{agent.folder}{os.sep}")]
    return {
        "unasked": [c.kind for c in unasked],
        "written": len(files),
        "outside": len(outside),
    }
