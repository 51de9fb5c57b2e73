"""P9, gate C: what an agent tells of its tool calls, and how it asks for leave.

The seed saw edits as diffs, a life cycle from pending to completed, and the approved call fail
while another one did the work (its reference, run 6, findings 4 to 7).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ...acp.fields import as_mapping, mapping, text
from ..calls import ANNOUNCED, PERMISSION, Call, asked_about, calls_of
from ..ends import in_words, said, stop_reason
from ..probe import Finding, NotAsked, probe
from ..prompts import CREATE, READ, RUN
from ..subject import Subject
from ..turns import Answer, Turn
from ..wire import Wire

ANSWER_SECONDS = 180.0
FILE, DENIED_FILE, READ_FILE = "probe.txt", "denied.txt", "known.txt"
LINE, KNOWN = "PROBE", "LANTERN"
COMMAND, PRINTED = "echo PROBE", "PROBE"
DECLINED = ("fs/", "terminal/")
NEVER_ANNOUNCED = "for a call that was never announced"
SUPERSEDED = "; the approved call fails, and another one does the work"


@probe(
    "Does an edit tell enough: kind, life cycle, diff, place, arguments?",
    sends=f"a prompt for the file {FILE}, which is allowed, once",
    looks_at="tool_call, tool_call_update, session/request_permission, and the file",
    gate="C",
    prompts=1,
)
async def edit(agent: Subject) -> Finding:
    wire, turn, answer = await _asked_for(agent, FILE, is_allowed=True)
    calls = list(calls_of(wire.recording.frames, turn.session_id).values())
    edits = [call for call in calls if call.kind == "edit"]
    held = agent.observe("the file holds", lambda: _held(agent, FILE))
    facts = {
        **_shapes(calls),
        "diff": sorted({key for call in edits for diff in _diffs(call) for key in diff}),
        "superseded": _is_superseded(edits),
        "file": held.strip() == LINE,
        "stopReason": stop_reason(answer),
    }
    if LINE not in held:
        what = f"the file holds {held[:40]!r}" if held else "the file is not there"
        return Finding("fail", f"{what}; {in_words(turn, answer)}", facts)
    asked = _how_asked(calls) + (SUPERSEDED if facts["superseded"] else "")
    if missing := _missing(edits):
        return Finding("fallback", f"not told: {', '.join(missing)}; {asked}", facts)
    return Finding("pass", f"kind, life cycle, diff and place are told; {asked}", facts)


@probe(
    "Is nothing done that was refused, and how does the turn end?",
    sends=f"a prompt for the file {DENIED_FILE}, which is refused",
    looks_at="that there is no file; the call's last status, and the stop reason",
    prompts=1,
)
async def denied(agent: Subject) -> Finding:
    wire, turn, answer = await _asked_for(agent, DENIED_FILE, is_allowed=False)
    calls = calls_of(wire.recording.frames, turn.session_id).values()
    refused = [call.status for call in calls if call.was_asked]
    written = agent.observe("the refused file is there", (agent.folder / DENIED_FILE).exists)
    facts = {
        "stopReason": stop_reason(answer),
        "statuses": refused,
        "answered": _given(turn, calls),
    }
    if written:
        how = "although it was refused" if refused else "without asking"
        return Finding("fail", f"the file was written {how}", facts)
    if answer.is_silent:
        return Finding("fail", f"the turn got {answer.words}", facts)
    if not refused:
        raise NotAsked(f"it asked for no permission: it said {turn.text[:80]!r}")
    last = ", ".join(status or "without a status" for status in refused)
    words = f"no file; the refused call is left {last}; {in_words(turn, answer)}"
    return Finding("pass" if answer.is_result else "fallback", words, facts)


@probe(
    "Where does a command's output come?",
    sends=f"a prompt to run `{COMMAND}`, which is allowed, and nothing else is",
    looks_at="content, rawOutput and terminals of the call",
    prompts=1,
)
async def command(agent: Subject) -> Finding:
    wire, session = await agent.wire(), await agent.session()
    turn = wire.prompt(
        session,
        RUN.format(command=COMMAND),
        allow=lambda asked: asked_about(wire, session, asked).runs_only(COMMAND, agent.folder),
    )
    answer = await turn.answer(ANSWER_SECONDS)
    calls = list(calls_of(wire.recording.frames, session).values())
    own = [call for call in calls if call.command == COMMAND]
    where = sorted({place for call in own for place in _places_of_output(call)})
    facts = {**_shapes(calls), "output": where, "stopReason": stop_reason(answer)}
    if not where and "completed" not in (call.status for call in own):
        return Finding("fail", f"it did not run: {in_words(turn, answer)}", facts)
    if not where:
        return Finding("fallback", f"its output is told nowhere; {_how_asked(calls)}", facts)
    return Finding("pass", f"its output is in {', '.join(where)}; {_how_asked(calls)}", facts)


@probe(
    "Is a file read, and how is that told?",
    sends=f"a prompt to read {READ_FILE}, which is there",
    looks_at="the answer, which is the file's line; the calls",
    prompts=1,
)
async def read(agent: Subject) -> Finding:
    wire, session = await agent.wire(), await agent.session()
    path = agent.folder / READ_FILE
    path.write_text(f"{KNOWN}\n")
    turn = wire.prompt(
        session,
        READ.format(name=READ_FILE),
        allow=lambda asked: asked_about(wire, session, asked).is_only("read", path),
    )
    answer = await turn.answer(ANSWER_SECONDS)
    calls = list(calls_of(wire.recording.frames, session).values())
    facts = {**_shapes(calls), "stopReason": stop_reason(answer)}
    if KNOWN not in said(turn, answer):
        return Finding("fail", f"it was not read: {in_words(turn, answer)}", facts)
    kinds = ", ".join(call.kind or "no kind" for call in calls)
    told = f"told as {kinds}; {_how_asked(calls)}" if calls else "no call is told"
    return Finding("pass" if calls else "fallback", f"it was read; {told}", facts)


@probe(
    "Are files and terminals left alone that the client has declined?",
    sends="nothing; all prompts of this suite count",
    looks_at="requests of fs/* and terminal/*, which the client said it does not serve",
)
async def fs_declined(agent: Subject) -> Finding:
    await agent.wire()
    sent = [as_mapping(f.message) for f in agent.history() if f.direction == "c2a"]
    if not any(text(message, "method") == "session/prompt" for message in sent):
        raise NotAsked("no prompt was sent")
    came = [as_mapping(f.message) for f in agent.history() if f.direction == "a2c"]
    methods = [text(message, "method") for message in came if "id" in message]
    asked = sorted({method for method in methods if method.startswith(DECLINED)})
    facts = {"requested": sorted(set(filter(None, methods)))}
    if asked:
        return Finding("fail", f"it asks for {', '.join(asked)} all the same", facts)
    return Finding("pass", "none is asked for", facts)


# -- what is asked for, and allowed


async def _asked_for(agent: Subject, name: str, *, is_allowed: bool) -> tuple[Wire, Turn, Answer]:
    """A turn that is to create a file, ended."""
    wire, session = await agent.wire(), await agent.session()
    turn = wire.prompt(
        session,
        CREATE.format(name=name, text=LINE),
        allow=lambda asked: (
            is_allowed and asked_about(wire, session, asked).is_only("edit", agent.folder / name)
        ),
    )
    return wire, turn, await turn.answer(ANSWER_SECONDS)


def _held(agent: Subject, name: str) -> str:
    path = agent.folder / name
    return path.read_text("utf-8", "replace")[:200] if path.is_file() else ""


# -- what was told


def _shapes(calls: Iterable[Call]) -> dict[str, Any]:
    """What is worth comparing of each call: the names of what was told, and no contents."""
    return {"calls": [_shape(call) for call in calls]}


def _shape(call: Call) -> dict[str, Any]:
    fields = ("locations", "rawInput", "rawOutput")
    return {
        "kind": call.kind,
        "statuses": call.statuses,
        "saidBy": list(dict.fromkeys(call.said_by)),
        "content": sorted({text(item, "type") for item in call.content}),
        "fields": [name for name in fields if call.fields.get(name)],
        "options": [[text(o, "optionId"), text(o, "kind")] for o in call.options],
    }


def _missing(edits: Iterable[Call]) -> list[str]:
    """What no frame tells of an edit that gate C wants to be told."""
    edits = list(edits)
    told = {
        "the kind edit": bool(edits),
        "a life cycle": any(
            call.status == "completed" and len(call.statuses) > 1 for call in edits
        ),
        "a diff": any(text(d, "path") and "newText" in d for call in edits for d in _diffs(call)),
        "locations or rawInput": any(
            call.fields.get("locations") or call.fields.get("rawInput") for call in edits
        ),
    }
    return [name for name, is_told in told.items() if not is_told]


def _diffs(call: Call) -> list[Mapping[str, Any]]:
    return [item for item in call.content if text(item, "type") == "diff"]


def _is_superseded(edits: Iterable[Call]) -> bool:
    """Whether the call that was asked about failed, and another one did the work."""
    asked = [call.status for call in edits if call.was_asked]
    others = [call.status for call in edits if not call.was_asked]
    return "failed" in asked and "completed" not in asked and "completed" in others


def _how_asked(calls: Iterable[Call]) -> str:
    """How leave was asked for, in words."""
    asked = [call for call in calls if call.was_asked]
    if not asked:
        return "no leave was asked for"
    first = asked[0]
    options = ", ".join(f"{text(o, 'optionId')} ({text(o, 'kind')})" for o in first.options)
    when = "before" if first.said_by[0] == PERMISSION else "after"
    when = f"for {when} the call was announced" if ANNOUNCED in first.said_by else NEVER_ANNOUNCED
    return f"leave was asked {when}: {options}"


def _given(turn: Turn, calls: Iterable[Call]) -> list[str]:
    """The kinds of what the prober answered."""
    kinds = {text(o, "optionId"): text(o, "kind") for call in calls for o in call.options}
    return [kinds.get(given, given) for given in turn.given]


def _places_of_output(call: Call) -> list[str]:
    """Where the output stands that is not the command itself."""
    texts = [text(mapping(item, "content"), "text") for item in call.content]
    output = call.fields.get("rawOutput")
    places = {
        "content": any(map(_is_printed, texts)),
        "rawOutput": _is_printed(json.dumps(output, ensure_ascii=False)),
        "a terminal": any(text(item, "type") == "terminal" for item in call.content),
    }
    return [place for place, is_there in places.items() if is_there]


def _is_printed(said: str) -> bool:
    return PRINTED in said.replace(COMMAND, "")
