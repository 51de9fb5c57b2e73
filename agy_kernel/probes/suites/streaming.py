"""P5, gate B: how a text comes, how soon and in which order, and whether tokens are told.

The seed saw pure deltas that end in the middle of a number, every update before the answer, and
tokens nowhere (its reference, "Streaming behavior" and "Usage").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...acp.fields import mapping, text
from .. import ends
from ..calls import of_session
from ..ends import stop_reason
from ..probe import Finding, NotAsked, probe
from ..prompts import COUNT, PRODUCT, THINK
from ..subject import Subject
from ..turns import Answer, Turn
from ..wire import Wire

LAST = 300
ANSWER_SECONDS, LONG_SECONDS, BARRIER_SECONDS = 120.0, 280.0, 2.0
BARRIER = "_agy-kernel/nothing"
"""No agent knows it: its error comes behind all that was sent before."""
OF_A_TURN = ("agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan")
HOW = {
    "deltas": "deltas",
    "whole": "the whole text in one chunk",
    "cumulative": "each chunk repeats the text so far",
    "repeated": "the last chunk repeats the whole text",
}
COUNTED = f"a prompt to count to {LAST}, which all probes of this suite share"


@probe(
    "Does a text come in deltas, and is it whole?",
    sends=COUNTED,
    looks_at="whether a chunk is a delta, the whole text, or all of the text so far; the numbers",
    prompts=1,
)
async def deltas(agent: Subject) -> Finding:
    _, turn, answer = await _counted(agent)
    how, said = _put_together(turn.chunks)
    splits = any(one[-1:].isdigit() and two[:1].isdigit() for one, two in pairwise(turn.chunks))
    facts = {
        "how": how,
        "splitNumbers": splits and how == "deltas",
        "stopReason": stop_reason(answer),
    }
    if wrong := _departs(said, LAST):
        return Finding("fail", f"the text is wrong: {wrong}{_unless_ended(answer)}", facts)
    if how != "deltas":
        return Finding("fallback", f"{HOW[how]}; no letter is lost", facts)
    where = "some end" if splits else "none ends"
    words = f"{len(turn.chunks)} deltas; {where} in the middle of a number; no letter is lost"
    return Finding("pass", words, facts)


@probe(
    "Is a long text whole, and how fast is it?",
    sends="a prompt to count to as many lines as its threshold says: 3,000 unless set",
    looks_at="the numbers, the seconds, and letters a second",
    prompts=1,
)
async def long(agent: Subject, *, lines: float = 3000.0) -> Finding:
    wire, session = await agent.wire(), await agent.session()
    turn = wire.prompt(session, COUNT.format(last=int(lines)))
    answer = await turn.answer(LONG_SECONDS)
    how, said = _put_together(turn.chunks)
    facts = {"how": how, "stopReason": stop_reason(answer)}
    if wrong := _departs(said, int(lines)):
        return Finding("fail", f"the text is wrong: {wrong}{_unless_ended(answer)}", facts)
    pace = f"{len(said) / answer.seconds:,.0f} letters a second" if answer.seconds else "at once"
    words = f"{int(lines):,} lines in {answer.seconds:.2f} s, {len(turn.chunks):,} chunks; {pace}"
    return Finding("pass", words, facts)


@probe(
    "How soon does the first text come?",
    sends=COUNTED,
    looks_at="seconds until the first chunk of the message",
    prompts=1,
)
async def first_text(agent: Subject, *, first_text_seconds: float = 10.0) -> Finding:
    _, turn, answer = await _counted(agent)
    if turn.first_text is None:
        return Finding("fail", f"no text came{_unless_ended(answer)}")
    words = f"{turn.first_text:.2f} s until the first text"
    return Finding("pass" if turn.first_text < first_text_seconds else "fail", words)


@probe(
    "Does everything of a turn come before the prompt is answered?",
    sends=f"{COUNTED}; then a method that nobody knows, whose answer ends the waiting",
    looks_at="updates behind the prompt's answer, until now",
    prompts=1,
)
async def order(agent: Subject) -> Finding:
    wire, turn, answer = await _counted(agent)
    if answer.is_silent:
        raise NotAsked("the prompt was not answered")
    if not wire.alive:
        raise NotAsked("the agent that has answered it was ended meanwhile")
    await wire.ask(BARRIER, {}, BARRIER_SECONDS)
    before, behind = _around_the_answer(wire, turn)
    late = [kind for kind in behind if kind in OF_A_TURN]
    facts = {"late": sorted(set(late)), "others": sorted(set(behind) - set(late))}
    if late:
        words = f"{len(late)} updates of the turn come behind the answer: a client must go on"
        return Finding("fallback", f"{words} listening", facts)
    return Finding("pass", f"all {before:,} updates come before the answer", facts)


@probe(
    "Are tokens told anywhere?",
    sends=COUNTED,
    looks_at="usage in the prompt's answer, usage_update, and the _meta of both and of all updates",
    gate="B",
    prompts=1,
)
async def usage(agent: Subject) -> Finding:
    wire, turn, answer = await _counted(agent)
    found: dict[str, set[str]] = {}
    for place, key in _told_tokens(answer, wire.updates.get(turn.session_id, ())):
        found.setdefault(place, set()).add(key)
    if not found:
        return Finding("absent", "tokens are told nowhere", {"where": {}})
    where = {place: sorted(keys) for place, keys in sorted(found.items())}
    words = "; ".join(f"in {place}: {', '.join(keys)}" for place, keys in where.items())
    return Finding("pass", words, {"where": where})


@probe(
    "Are thoughts told apart from the answer?",
    sends="a prompt to think before it answers",
    looks_at=f"agent_thought_chunk, and whether the answer holds {PRODUCT}",
    prompts=1,
)
async def thoughts(agent: Subject) -> Finding:
    wire, session = await agent.wire(), await agent.session()
    turn = wire.prompt(session, THINK)
    answer = await turn.answer(ANSWER_SECONDS)
    message = ends.said(turn, answer)
    chunks = turn.of_kind("agent_thought_chunk")
    is_right = PRODUCT in message
    facts = {"thoughts": bool(chunks), "rightAnswer": is_right}
    if not is_right:
        words = f"the answer is wrong: {message[:80]!r}{_unless_ended(answer)}"
        return Finding("fail", words, facts)
    if not chunks:
        return Finding("absent", f"no thoughts come, and the answer holds {PRODUCT}", facts)
    letters = sum(len(text(mapping(chunk, "content"), "text")) for chunk in chunks)
    words = f"{len(chunks)} chunks of thoughts, {letters:,} letters; the answer holds {PRODUCT}"
    return Finding("pass", words, facts)


@probe(
    "Does a chunk name the message that it belongs to?",
    sends=COUNTED,
    looks_at="messageId of every agent_message_chunk",
    prompts=1,
)
async def message_ids(agent: Subject) -> Finding:
    _, turn, _ = await _counted(agent)
    chunks = turn.of_kind("agent_message_chunk")
    ids = [text(chunk, "messageId") for chunk in chunks]
    if not any(ids):
        return Finding("absent", "no chunk has a messageId")
    named = len(ids) - ids.count("")
    messages = len(set(filter(None, ids)))
    words = f"{named} of {len(ids)} chunks name their message; {messages} messages"
    return Finding("pass" if named == len(ids) else "fallback", words, {"messages": messages})


# -- the prompt that they share


async def _counted(agent: Subject) -> tuple[Wire, Turn, Answer]:
    """The turn that counts, ended."""

    async def count() -> tuple[Wire, Turn, Answer]:
        wire, session = await agent.wire(), await agent.session()
        turn = wire.prompt(session, COUNT.format(last=LAST))
        return wire, turn, await turn.answer(ANSWER_SECONDS)

    return await agent.once("the count", count)


def _unless_ended(answer: Answer) -> str:
    """How the turn ended, for the end of a sentence; nothing where it ended well."""
    return "" if stop_reason(answer) == "end_turn" else f" ({ends.how(answer)})"


# -- what a text is made of


def _put_together(chunks: Sequence[str]) -> tuple[str, str]:
    """How a text came, which is one of ``HOW``, and the text."""
    whole = "".join(chunks)
    if len(chunks) <= 1:
        return "whole", whole
    if all(two.startswith(one) for one, two in pairwise(chunks)):
        return "cumulative", chunks[-1]
    if chunks[-1] == "".join(chunks[:-1]):
        return "repeated", chunks[-1]
    return "deltas", whole


def _departs(said: str, last: int) -> str:
    """Where a text is not the numbers from 1 to the last, in words; empty where it is."""
    lines = said.strip().split("\n")
    for number, line in enumerate(lines, start=1):
        if number > last or line.strip() != str(number):
            return f"line {number} is {line.strip()[:40]!r}"
    return "" if len(lines) == last else f"it ends with line {len(lines)}"


# -- what passed


def _around_the_answer(wire: Wire, turn: Turn) -> tuple[int, list[str]]:
    """How many updates of a turn came before its answer, and the kinds of those behind it."""
    frames = wire.recording.frames
    at = wire.recording.index_of_answer(turn.number)
    before = sum(1 for _ in of_session(frames[:at], turn.session_id, "session/update"))
    behind = of_session(frames[at:], turn.session_id, "session/update")
    return before, [text(mapping(params, "update"), "sessionUpdate") for params in behind]


def _told_tokens(answer: Answer, updates: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Where numbers of tokens are told, and by which names."""
    yield from _numbers(mapping(answer.fields, "usage"), "the answer's usage")
    yield from _in_meta(answer.fields, "the answer's _meta")
    for update in updates:
        kind = text(update, "sessionUpdate")
        if kind == "usage_update":
            yield from _numbers(update, kind)
        yield from _in_meta(update, f"_meta of {kind}")


def _in_meta(fields: Mapping[str, Any], place: str) -> Iterator[tuple[str, str]]:
    for _, key in _numbers(mapping(fields, "_meta"), place):
        if "token" in key.lower():
            yield place, key


def _numbers(value: Any, place: str, path: str = "") -> Iterator[tuple[str, str]]:
    """The names, as paths, of all numbers in an object, less what is in its ``_meta``."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            if name != "_meta":
                yield from _numbers(each, place, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(each, place, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield place, path
