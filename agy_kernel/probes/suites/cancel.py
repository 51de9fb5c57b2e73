"""P6, gate D: how a turn is stopped, and what is left of the session then.

The seed found ``session/cancel`` missing on RC01, having sent it with an id; the protocol has it as
a notification (acp-v1.md, part 2, row 1).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from ...acp.fields import mapping
from ..calls import asked_about, calls_of
from ..ends import how, said, stop_reason
from ..family import runs
from ..probe import Finding, NotAsked, Verdict, probe, worst
from ..prompts import COUNT, CREATE, REPLY, RUN
from ..refusals import is_unknown
from ..subject import Subject
from ..turns import Turn
from ..wire import Wire

COMMAND, FILE = "sleep 30", "stopped.txt"
BEGIN_SECONDS, END_SECONDS = 60.0, 60.0
RUN_SECONDS = 2.0
"""Some agents do not tell that a command runs: so long after it was allowed, it does."""
GLANCES, GLANCE_SECONDS = 20, 0.1
LAST = 3000
AT_ONCE_SECONDS = 0.25
"""A turn that is over so soon after its first text could not be stopped in its middle."""
OVER = "the turn was over before it could be stopped"
NUMBERS = re.compile(r"^\W*1[\d\W_]*", re.MULTILINE)
"""From the line that begins with 1 on: numbers, with whatever stands between them."""
WORD = re.compile(r"[^\W\d_]{3,}")


@probe(
    "Is a turn ended by session/cancel, the notification?",
    sends="a long prompt; session/cancel without an id once text comes; a second prompt",
    looks_at="the stop reason, how soon it comes, and whether the session answers afterwards",
    gate="D",
    prompts=2,
)
async def as_notification(agent: Subject, *, cancel_seconds: float = 2.0) -> Finding:
    wire, turn = await _counting(agent)
    wire.notify("session/cancel", {"sessionId": turn.session_id})
    turn.withdraw()
    return _with_leak(await _ended(wire, turn, cancel_seconds), turn)


@probe(
    "And by session/cancel with an id, which the protocol does not have?",
    sends="a long prompt; session/cancel as a request once text comes",
    looks_at="what the request is answered with, and whether the turn ends",
    prompts=2,
)
async def with_id(agent: Subject, *, cancel_seconds: float = 2.0) -> Finding:
    wire, turn = await _counting(agent)
    cancel = await wire.ask("session/cancel", {"sessionId": turn.session_id}, cancel_seconds)
    answer = await turn.answer(cancel_seconds)
    facts = {"answer": cancel.error.code if cancel.error else cancel.is_result}
    if answer.is_silent:
        return Finding("absent", f"the turn goes on; the request got {cancel.words}", facts)
    is_taken = cancel.is_result and not _is_whole(turn)
    if stop_reason(answer) != "cancelled" and not is_taken:
        words = f"the turn ends by itself ({how(answer)}); the request got {cancel.words}"
        return Finding("absent", words, facts)
    _, after = await _after(wire, turn)
    words = f"it ends the turn ({how(answer)}); {after}"
    return Finding("fallback", words, facts)


@probe(
    "Is a turn ended that waits for permission?",
    sends="a prompt for a file; session/cancel while the permission request is open, which is "
    "then answered “cancelled”",
    looks_at="the stop reason, the session afterwards, and that no file was written",
    prompts=2,
)
async def while_asking(agent: Subject, *, cancel_seconds: float = 2.0) -> Finding:
    wire, session = await agent.wire(), await agent.session()
    turn = wire.prompt(session, CREATE.format(name=FILE, text="STOPPED"), holds=True)
    if not await turn.until(lambda t: bool(t.asked), BEGIN_SECONDS):
        raise await _not_asked(turn, f"it asked for no permission: it said {turn.text[:80]!r}")
    wire.notify("session/cancel", {"sessionId": session})
    turn.withdraw()
    finding = await _ended(wire, turn, cancel_seconds)
    written = agent.observe("the file is there", (agent.folder / FILE).exists)
    return Finding("fail", "the file was written all the same") if written else finding


@probe(
    "Is a turn ended in which a command runs?",
    sends=f"a prompt to run `{COMMAND}`, which is allowed; session/cancel once it runs",
    looks_at="the stop reason, how soon it comes, whether the command is gone, and whether the "
    "session answers afterwards",
    prompts=2,
)
async def while_running(agent: Subject, *, cancel_seconds: float = 2.0) -> Finding:
    wire, session = await agent.wire(), await agent.session()

    def is_asked(call: Mapping[str, Any]) -> bool:
        return asked_about(wire, session, call).runs_only(COMMAND, agent.folder)

    def has_leave(turn: Turn) -> bool:
        return any(is_asked(mapping(params, "toolCall")) for params in turn.asked)

    turn = wire.prompt(session, RUN.format(command=COMMAND), allow=is_asked)
    if not await turn.until(lambda t: _runs(wire, t) or has_leave(t), BEGIN_SECONDS):
        raise await _not_asked(turn, f"it ran no such command: it said {turn.text[:80]!r}")
    await turn.until(lambda t: _runs(wire, t), RUN_SECONDS)
    wire.notify("session/cancel", {"sessionId": session})
    turn.withdraw()
    finding = await _ended(wire, turn, cancel_seconds)
    if not await _lives_on(agent, wire.pid):
        return finding
    words = f"{finding.words}; the command runs on"
    return Finding(worst(finding.verdict, "fallback"), words, {**finding.facts, "runs_on": True})


@probe(
    "Is a turn ended by session/close?",
    sends="a long prompt; session/close once text comes",
    looks_at="the answers to both (the protocol: what runs must be cancelled)",
    prompts=1,
)
async def by_closing(agent: Subject, *, cancel_seconds: float = 2.0) -> Finding:
    wire, turn = await _counting(agent)
    closed = await wire.ask("session/close", {"sessionId": turn.session_id}, cancel_seconds)
    answer = await turn.answer(cancel_seconds)
    facts = {"stopReason": stop_reason(answer)}
    if is_unknown(closed.error):
        return Finding("absent", f"session/close got {closed.words}", facts)
    ends = "the turn goes on" if answer.is_silent else f"the turn ends: {how(answer)}"
    if not closed.is_result or not answer.is_result or _is_whole(turn):
        return Finding("fail", f"session/close got {closed.words}, and {ends}", facts)
    return Finding("pass" if facts["stopReason"] == "cancelled" else "fallback", ends, facts)


@probe(
    "Can the conversation go on once the process was killed in the middle of a turn?",
    sends="a long prompt; KILL once text comes; a new process; session/load; a second prompt",
    looks_at="whether the session is there, and answers: the way around a missing cancel",
    prompts=2,
)
async def kill_and_load(agent: Subject) -> Finding:
    await agent.wire()
    agent.needs("load")
    wire, turn = await _counting(agent)
    await wire.kill()
    await agent.stop()
    wire = await agent.start()
    loaded = await agent.open("session/load", {"sessionId": turn.session_id})
    if not loaded.is_result:
        return Finding("fail", f"session/load got {loaded.words}")
    goes_on, after = await _after(wire, turn)
    return Finding(goes_on, f"the session is loaded; {after}")


async def _counting(agent: Subject) -> tuple[Wire, Turn]:
    """A turn in whose middle one is."""
    wire, session = await agent.wire(), await agent.session()
    turn = wire.prompt(session, COUNT.format(last=LAST))
    if not await turn.until(lambda t: bool(t.text), BEGIN_SECONDS):
        raise NotAsked(f"it said nothing that could be stopped: {(await turn.answer(0)).words}")
    await turn.until(lambda t: t.is_answered, AT_ONCE_SECONDS)
    # All that had come then has come in a replay too.
    await agent.here()
    if turn.is_answered or _is_whole(turn):
        raise await _not_asked(turn, OVER)
    return wire, turn


async def _not_asked(turn: Turn, words: str) -> NotAsked:
    """Why a turn could not be stopped.

    Raises:
        AgentError: the agent has ended in its middle, which says more.
    """
    if turn.is_answered:
        await turn.answer(0)
    return NotAsked(words)


def _is_whole(turn: Turn) -> bool:
    """Whether a turn has counted to its end."""
    return len(re.findall(r"\d+", turn.text)) >= LAST


async def _ended(wire: Wire, turn: Turn, cancel_seconds: float) -> Finding:
    """What came of a cancelled turn."""
    began = wire.recording.now()
    answer = await turn.answer(cancel_seconds)
    facts = {"stopReason": stop_reason(answer)}
    if answer.is_silent:
        return Finding("fail", f"the turn went on for {cancel_seconds:g} s", facts)
    seconds = max(0.0, turn.began + answer.seconds - began)
    if _is_whole(turn):
        return Finding("fail", f"it counts to its end, {seconds:.2f} s after the cancel", facts)
    ends: Verdict = "pass" if facts["stopReason"] == "cancelled" else "fallback"
    goes_on, after = await _after(wire, turn)
    words = f"{how(answer)}, {seconds:.2f} s after the cancel; {after}"
    return Finding(worst(ends, goes_on), words, facts)


def _with_leak(finding: Finding, turn: Turn) -> Finding:
    """Whether a turn that counts has said something else at its end: builds leak their errors."""
    numbers = NUMBERS.search(turn.text)
    leak = turn.text[numbers.end() :].strip() if numbers else ""
    if not WORD.search(leak):
        return finding
    words = f"{finding.words}; the message ends with {leak[:60]!r}"
    return Finding(worst(finding.verdict, "fallback"), words, {**finding.facts, "leaks": True})


async def _after(wire: Wire, stopped: Turn) -> tuple[Verdict, str]:
    """Whether the session answers another prompt, and how."""
    turn = wire.prompt(stopped.session_id, REPLY.format(words="STILL HERE"))
    answer = await turn.answer(END_SECONDS)
    if stop_reason(answer) != "end_turn":
        return "fail", f"the next prompt got {how(answer)}"
    if "STILL HERE" not in (words := said(turn, answer)):
        return "fallback", f"the next prompt got other words: {words[:60]!r}"
    return "pass", "the session goes on"


def _runs(wire: Wire, turn: Turn) -> bool:
    """Whether the command is under way that the prompt asks for."""
    calls = calls_of(wire.recording.frames, turn.session_id).values()
    return any(call.command == COMMAND and "in_progress" in call.statuses for call in calls)


async def _lives_on(agent: Subject, pid: int) -> bool:
    """Whether the command runs, although the turn is over; it has some time to end."""
    for _ in range(GLANCES):
        if agent.is_replay or not runs(pid, COMMAND):
            break
        await asyncio.sleep(GLANCE_SECONDS)
    return agent.observe("command that runs on", lambda: runs(pid, COMMAND))
