"""The seed's live parity run (its section 6): seven scenarios that every engine has to pass.

They are put to the ``Engine`` protocol and to the conversation that stands on it, so that another
engine than ACP's goes through them as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...conversation.toolcalls import ToolCall
from ...errors import CommandError, RequestFailed
from ...events import EFFORT, MODEL
from ...tapes.meaning import settled
from ..bridge import Bridge
from ..calls import is_only_of_server
from ..partner import Partner
from ..probe import Finding, NotAsked, probe
from ..prompts import CALL, COUNT, FAILURE, RECALL, REMEMBER, REPLY
from ..refusals import NO_SESSION
from ..talk import Exchange, Talk

SUBJECT = Partner

WORD, AGAIN, SECOND, SWITCHED = "kingfisher", "STILL HERE", "SECOND IN LINE", "SWITCHED"
TEXT = "heron"
LONG = 3000
BEGIN_SECONDS, LET_GO_SECONDS = 60.0, 2.0


@probe(
    "Does text come while it is written, each piece once?",
    sends="a prompt to count to 60",
    looks_at="the pieces, and whether they make up the numbers with nothing said again",
    prompts=1,
)
async def stream(engine: Partner, *, least_pieces: float = 3) -> Finding:
    said = await (await engine.talk()).ask(COUNT.format(last=60))
    raw = "".join(piece for _, piece in said.pieces)
    facts = {"stopReason": said.stop_reason, "said again": len(raw) > len(said.text)}
    if not said.is_good or said.text.split() != _numbers(60):
        return Finding("fail", f"the numbers did not come: {said.how}", facts)
    if len(raw) > len(said.text):
        words = f"{len(raw) - len(said.text):,} letters came again, and are left out"
        return Finding("fallback", words, facts)
    if len(said.pieces) < least_pieces:
        return Finding(
            "fallback", f"the text came whole, or nearly: {len(said.pieces)} in all", facts
        )
    seconds = said.pieces[-1][0] - said.pieces[0][0]
    return Finding("pass", f"{len(said.pieces)} pieces in {seconds:.2f} s, nothing twice", facts)


@probe(
    "Does a conversation go on, with the next prompt and in another process?",
    sends="a word to be remembered; which word it was; the same in a new process that opens the "
    "session again",
    looks_at="the word, the session's id, and that nothing old is said again",
    prompts=3,
)
async def continuity(engine: Partner) -> Finding:
    talk = await engine.talk()
    noted = await talk.ask(REMEMBER.format(word=WORD))
    if not noted.is_good or WORD in noted.text.casefold():
        raise NotAsked(f"the word was not noted: {noted.how}")
    if not _recalls(now := await talk.ask(RECALL)):
        return Finding("fail", f"the next prompt got {now.how}", {"recalled": "never"})
    session = talk.conversation.session_id
    talk = await engine.talk(session)
    later = await talk.ask(RECALL)
    facts = {"recalled": "in the process", "session kept": talk.conversation.session_id == session}
    if not facts["session kept"]:
        return Finding("fail", f"the session is lost: {_first(later.warnings)}", facts)
    if not _recalls(later):
        return Finding("fail", f"opened again, the session got {later.how}", facts)
    words = "the word is there with the next prompt, and in a new process; nothing is said again"
    return Finding("pass", words, {**facts, "recalled": "in another process"})


@probe(
    "Do two prompts at once keep apart?",
    sends="a prompt to count to 20, and right behind it one to say three words",
    looks_at="that the second begins after the first has ended, and both texts",
    prompts=2,
)
async def serialization(engine: Partner) -> Finding:
    talk = await engine.talk()
    one, two = talk.say(COUNT.format(last=20)), talk.say(REPLY.format(words=SECOND))
    await one.end()
    await two.end()
    order = [exchange for exchange, _ in talk.heard]
    overlaps = two in order and two in order[: len(order) - order[::-1].index(one)]
    facts = {"overlap": overlaps, "ends": [one.stop_reason, two.stop_reason]}
    if overlaps:
        return Finding("fail", "the second turn began before the first was over", facts)
    if not (one.is_good and two.is_good):
        return Finding("fail", f"one got {one.how}, the other {two.how}", facts)
    if one.text.split() != _numbers(20) or two.text.strip().rstrip(".") != SECOND:
        words = f"the texts are not their own: {one.text[-60:]!r} and {two.text[:60]!r}"
        return Finding("fail", words, facts)
    return Finding("pass", "one after the other, each with a text of its own", facts)


@probe(
    "Does the engine's agent call a tool of ours, and go on with the result?",
    sends="a prompt to call the tool of our server; this call alone is allowed",
    looks_at="whether our server was called, and whether the result is in the answer",
    prompts=1,
)
async def tool_round_trip(engine: Partner) -> Finding:
    async with engine.bridge() as bridge:
        talk = await engine.talk(servers={bridge.name: bridge.server})
        await talk.open()
        if bridge.server.type == "http" and not _takes_http(talk):
            raise NotAsked("HTTP servers are not offered")
        prompt = CALL.format(tool=bridge.tool, server=bridge.name, text=TEXT)
        said = await talk.say(prompt, lambda calls: _is_call(calls, bridge)).end()
        calls = engine.observe("calls of the bridge", lambda: bridge.calls)
    facts = {"calls": calls, "stopReason": said.stop_reason}
    if not calls:
        return Finding("fail", f"the tool was not called: {said.how}", facts)
    if not said.is_good:
        return Finding("fail", f"the tool was called, and the turn got {said.how}", facts)
    if bridge.result(TEXT) not in said.text:
        words = f"the tool was called, and its result is not in the answer: {said.text[:60]!r}"
        return Finding("fallback", words, facts)
    return Finding("pass", "the tool was called, and its result came back in the answer", facts)


@probe(
    "Can a turn be stopped, and the conversation go on?",
    sends="a prompt to count to 3,000; Stop once text comes; another prompt",
    looks_at="that it ends as cancelled, whether process and session outlive that, and the answer",
    prompts=2,
)
async def abort_and_recover(engine: Partner) -> Finding:
    talk, counting = await _counting(engine)
    session = talk.conversation.session_id
    await talk.conversation.stop(counting.turn)
    if not await counting.is_let_go(LET_GO_SECONDS):
        return Finding("fail", "the turn was given up, and is still open in the engine")
    if _is_whole(counting):
        raise NotAsked("the turn was over before it could be stopped")
    step = engine.observe("what ended the turn", lambda: _rung(talk))
    after = await talk.ask(REPLY.format(words=AGAIN))
    facts = {
        "stopReason": counting.stop_reason,
        "by": step,
        "process survived": not talk.conversation.restarts,
        "session kept": talk.conversation.session_id == session,
    }
    words = f"{counting.stop_reason or counting.how} by {step}"
    if not after.is_good or AGAIN not in after.text:
        return Finding("fail", f"{words}; the next prompt got {after.how}", facts)
    if not facts["session kept"]:
        words = f"{words}, and the session is lost: {_first(after.warnings)}"
        return Finding("fail", words, facts)
    if not facts["process survived"]:
        words = f"the process was ended ({step}) and another loaded the session, which goes on"
        return Finding("fallback", words, facts)
    is_clean = counting.stop_reason == "cancelled" and step == "session/cancel"
    words = f"{words}; the process survived, and the session goes on"
    return Finding("pass" if is_clean else "fallback", words, facts)


@probe(
    "Can model and effort be switched in a session that was opened again?",
    sends="another model and effort, and a prompt; in a new process the session, a choice again, "
    "and a prompt",
    looks_at="what the engine says is chosen, before and after the prompt, and what was kept",
    prompts=2,
)
async def switch(engine: Partner) -> Finding:
    talk = await engine.talk()
    await talk.open()
    before, others = _chosen(talk), _others(talk)
    if not others:
        return Finding("absent", "it offers no choice of model or effort")
    if wrong := await _choose(talk, others):
        return Finding("fail", f"in a new session: {wrong}", {"chosen": False})
    session = talk.conversation.session_id
    talk = await engine.talk(session)
    await talk.open()
    if talk.conversation.session_id != session or not others.keys() <= _chosen(talk).keys():
        return Finding("absent", "the session is not opened again, or offers no choice then")
    kept = _chosen(talk).items() >= others.items()
    wanted = {what: before[what] for what in others} if kept else others
    wrong = await _choose(talk, wanted)
    facts = {"offers": sorted(others), "kept": kept, "chosen": not wrong}
    if wrong:
        return Finding("fail", f"in a session that was opened again: {wrong}", facts)
    told = ", ".join(f"{what} {wanted[what]}" for what in sorted(wanted))
    if kept:
        return Finding("pass", f"kept when it was opened again, and switched: {told}", facts)
    words = f"forgotten when it was opened again, and chosen again then: {told}"
    return Finding("fallback", words, facts)


@probe(
    "Are errors seen, whatever fails?",
    sends="a prompt that wants the turn to fail; a prompt to a session that there is not; a long "
    "prompt, in whose middle the process is killed",
    looks_at="what a person is told each time: never an empty success",
    prompts=3,
)
async def error_visibility(engine: Partner) -> Finding:
    failing = await (await engine.talk()).ask(FAILURE)
    seen = {
        "a failing turn": _seen(failing),
        "an unknown session": await _in_no_session(engine),
        "a dead agent": await _in_a_dead_agent(engine),
    }
    words = "; ".join(f"{what}: {how}" for what, how in seen.items())
    return Finding("fail" if SILENCE in seen.values() else "pass", words, seen)


# -- what several of them look at

SILENCE = "not a word"


def _numbers(last: int) -> list[str]:
    return [str(n) for n in range(1, last + 1)]


def _recalls(said: Exchange) -> bool:
    """Whether it says the word, once, and nothing of what was said before."""
    text = said.text.casefold()
    return said.is_good and text.count(WORD) == 1 and "noted" not in text


def _first(warnings: list[str]) -> str:
    return settled(warnings[0]) if warnings else "nothing was said of it"


async def _counting(engine: Partner) -> tuple[Talk, Exchange]:
    """A turn in whose middle one is."""
    talk = await engine.talk()
    said = talk.say(COUNT.format(last=LONG))
    if not await said.until(lambda e: bool(e.text), BEGIN_SECONDS):
        raise NotAsked(f"it said nothing that could be stopped: {(await said.end(0)).how}")
    await engine.here()
    if said.is_over:
        raise NotAsked("the turn was over before it could be stopped")
    return talk, said


def _is_whole(counting: Exchange) -> bool:
    """Whether it has counted to the end, as if nothing had happened."""
    return counting.stop_reason == "end_turn" and counting.text.split() == _numbers(LONG)


def _rung(talk: Talk) -> str:
    """What was done to the turn last, of all that can be done to stop one."""
    return talk.conversation.rungs.get(talk.conversation.build, "nothing")


def _takes_http(talk: Talk) -> bool:
    running = talk.conversation.engine
    return running is not None and running.capabilities.mcp_http


def _is_call(calls: Sequence[ToolCall], bridge: Bridge) -> bool:
    """Whether a call is that of the bridge's tool, and nothing besides."""
    return is_only_of_server(calls, bridge.name, bridge.tool)


def _chosen(talk: Talk) -> dict[str, str]:
    choices = talk.conversation.choices
    return {what: choices[what].current for what in (MODEL, EFFORT) if what in choices}


def _others(talk: Talk) -> dict[str, str]:
    """For model and effort, where there are several, another than the one that is chosen."""
    found: dict[str, str] = {}
    for what, current in _chosen(talk).items():
        ids = (choice.id for choice in talk.conversation.choices[what].available)
        if other := next((each for each in ids if each != current), ""):
            found[what] = other
    return found


async def _choose(talk: Talk, wanted: dict[str, str]) -> str:
    """Choose, and send a prompt; says what is wrong then, empty where nothing is."""
    for what, value in wanted.items():
        try:
            await talk.conversation.choose(what, value)
        except (CommandError, RequestFailed) as error:
            return f"the {what} {value} was refused: {error}"
    said = await talk.ask(REPLY.format(words=SWITCHED))
    if not said.is_good or SWITCHED not in said.text:
        return f"the prompt after the choice got {said.how}"
    for what, value in wanted.items():
        if (now := _chosen(talk).get(what)) != value:
            return f"{value} was chosen, and the engine says that the {what} is {now}"
    return ""


async def _in_no_session(engine: Partner) -> str:
    """What is said where a session is to go on that there is not."""
    talk = await engine.talk(NO_SESSION)
    said = await talk.ask(REPLY.format(words=AGAIN))
    if said.problem is not None:
        return _seen(said)
    is_told = bool(said.warnings) and talk.conversation.session_id != NO_SESSION
    return "a warning, and a new session" if is_told else SILENCE


async def _in_a_dead_agent(engine: Partner) -> str:
    """What is said of a turn in whose middle the process is killed."""
    try:
        talk, dying = await _counting(engine)
    except NotAsked as reason:
        return f"not tried, {reason}"
    if (running := talk.conversation.engine) is not None:
        running.kill()
    await dying.end()
    # What came in the moment of the kill no replay can tell.
    return engine.observe("what is seen of the killed", lambda: _seen_of_killed(dying))


def _seen_of_killed(dying: Exchange) -> str:
    if dying.problem is None and not _is_whole(dying):
        return SILENCE
    return _seen(dying)


def _seen(said: Exchange) -> str:
    """What a person sees of how a turn ended."""
    if said.problem is not None:
        return f"an error, {type(said.problem).__name__}"
    return "in words" if said.text.strip() else SILENCE
