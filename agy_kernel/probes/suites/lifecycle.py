"""P8: what becomes of a session: loaded, resumed, listed, forked, closed and deleted.

The seed's RC01 has methods that it does not advertise: every one is tried, and what it says of
itself is held against what it does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...acp.fields import mappings, text
from ...acp.results import capabilities
from ...acp.signin import wants_sign_in
from ..ends import said, stop_reason
from ..heard import Update, heard, joined
from ..probe import Finding, NotAsked, probe
from ..prompts import RECALL, REMEMBER, REPLY
from ..refusals import NO_SESSION, brief, is_unknown, named_in
from ..subject import Subject
from ..turns import Answer, Turn
from ..wire import Wire

WORD = "PELICAN"
SHARED = "the prompt of the first probe that is asked serves several"
TURN_SECONDS, LOAD_SECONDS, ANSWER_SECONDS = 60.0, 120.0, 30.0
CHUNKS = {"user_message_chunk": "user", "agent_message_chunk": "agent"}
ROLES = {**CHUNKS, "agent_thought_chunk": "thought", "tool_call": "tool"}
MOST_PAGES = 5


@probe(
    "Is a session loaded by a new process, with its history?",
    sends=f"session/new; a prompt ({SHARED}); a new process; session/load",
    looks_at="the updates before and behind the answer: whose words, whole or in chunks",
    prompts=1,
)
async def load(agent: Subject, *, quiet_seconds: float = 1.0) -> Finding:
    talk = await _talk(agent)
    wire = await agent.start()
    answer = await agent.open("session/load", {"sessionId": talk.session_id}, LOAD_SECONDS)
    advertised = capabilities(agent.hello).load_session
    if not answer.is_result:
        return _refused("session/load", answer, advertised)
    told = await _history(wire, "session/load", talk.session_id, quiet_seconds)
    return _replayed(talk, told, advertised)


@probe(
    "Does a loaded session know what was said before?",
    sends=f"as the probe before ({SHARED}); a new process; session/load; a prompt that asks for it",
    looks_at="whether the answer has the word that it was asked to remember",
    prompts=2,
)
async def remembers(agent: Subject) -> Finding:
    talk = await _talk(agent)
    wire = await agent.start()
    answer = await agent.open("session/load", {"sessionId": talk.session_id}, LOAD_SECONDS)
    if not answer.is_result:
        raise NotAsked(f"session/load got {brief(answer)}")
    turn = wire.prompt(talk.session_id, RECALL)
    ended = await turn.answer(TURN_SECONDS)
    facts = {"knows": WORD in said(turn, ended).upper()}
    if facts["knows"]:
        return Finding("pass", "it tells the word that was said before the restart", facts)
    how = f"{stop_reason(ended) or brief(ended)}, without the word"
    return Finding("fail", f"asked for the word, the turn ends {how}", facts)


@probe(
    "Is a session resumed by a new process, without its history?",
    sends=f"session/new; a prompt ({SHARED}); a new process; session/resume",
    looks_at="the answer, and that no chunks come",
    prompts=1,
)
async def resume(agent: Subject, *, quiet_seconds: float = 1.0) -> Finding:
    talk = await _talk(agent)
    wire = await agent.start()
    answer = await agent.open("session/resume", {"sessionId": talk.session_id}, LOAD_SECONDS)
    advertised = "resume" in capabilities(agent.hello).sessions
    if not answer.is_result:
        return _refused("session/resume", answer, advertised)
    told = await _history(wire, "session/resume", talk.session_id, quiet_seconds)
    facts = {"advertised": advertised, "replays": bool(told)}
    if told:
        return Finding("fallback", f"it replays {len(told)} chunks, as session/load does", facts)
    return Finding("pass", _works("it resumes, and replays nothing", advertised), facts)


@probe(
    "Are sessions listed, by their folder?",
    sends=f"session/new; a prompt ({SHARED}); session/list of the folder, and of another one",
    looks_at="whether the session is in the first and not in the second, and whether pages go on",
    prompts=1,
)
async def list_sessions(agent: Subject) -> Finding:
    talk = await _talk(agent)
    wire = await agent.wire()
    answer, mine, pages = await _looked_for(wire, str(agent.folder), talk.session_id)
    advertised = "list" in capabilities(agent.hello).sessions
    facts: dict[str, Any] = {"advertised": advertised, "listed": mine is not None}
    if not answer.is_result:
        return _refused("session/list", answer, advertised)
    if mine is None:
        if text(answer.fields, "nextCursor"):
            raise NotAsked(f"it is not on the first {pages} pages, and more were left unread")
        return Finding("fail", "the session is not among those of its folder", facts)
    _, elsewhere, _ = await _looked_for(wire, str(agent.folder / "elsewhere"), talk.session_id)
    by_folder = elsewhere is None
    facts |= {"by_folder": by_folder, "fields": sorted(mine), "pages": pages > 1}
    words = f"the session is there, with {', '.join(sorted(mine))}"
    if not by_folder:
        return Finding("fallback", f"{words}; it is listed for another folder too", facts)
    return Finding("pass", _works(words, advertised), facts)


@probe(
    "Can a session be forked?",
    sends=f"session/new; a prompt ({SHARED}); session/fork",
    looks_at="whether there is a session with another id",
    prompts=1,
)
async def fork(agent: Subject) -> Finding:
    talk = await _talk(agent)
    await agent.wire()
    answer = await agent.open("session/fork", {"sessionId": talk.session_id}, LOAD_SECONDS)
    advertised = "fork" in capabilities(agent.hello).sessions
    if not answer.is_result:
        return _refused("session/fork", answer, advertised)
    forked = text(answer.fields, "sessionId")
    facts = {"advertised": advertised}
    if forked in ("", talk.session_id):
        return Finding("fail", "it answers without an id of its own", facts)
    return Finding("pass", _works("it gives a session with an id of its own", advertised), facts)


@probe(
    "Is a closed session gone, and the connection not?",
    sends="session/new; session/close; a prompt to the closed session; session/new",
    looks_at="whether the prompt is refused, and a new session opened",
    prompts=1,
)
async def close(agent: Subject) -> Finding:
    wire, session_id = await agent.wire(), await agent.session()
    answer = await wire.ask("session/close", {"sessionId": session_id}, ANSWER_SECONDS)
    advertised = "close" in capabilities(agent.hello).sessions
    if not answer.is_result:
        return _refused("session/close", answer, advertised)
    prompted = await wire.prompt(session_id, REPLY.format(words="OPEN")).answer(TURN_SECONDS)
    new = await agent.open("session/new", {})
    facts = {"advertised": advertised, "gone": prompted.error is not None}
    if not text(new.fields, "sessionId"):
        return Finding("fail", f"it is closed; then session/new got {brief(new)}", facts)
    if prompted.error is None:
        words = f"it is closed, and a prompt to it got {brief(prompted)} all the same"
        return Finding("fallback", words, facts)
    words = f"it is closed: a prompt to it got {brief(prompted)}; the connection goes on"
    return Finding("pass", _works(words, advertised), facts)


@probe(
    "Can a session be deleted?",
    sends="session/new; a prompt; session/delete; session/load",
    looks_at="whether it cannot be loaded any more",
    prompts=1,
)
async def delete(agent: Subject) -> Finding:
    talk = await _new_talk(agent)
    wire = await agent.wire()
    answer = await wire.ask("session/delete", {"sessionId": talk.session_id}, ANSWER_SECONDS)
    advertised = "delete" in capabilities(agent.hello).sessions
    if not answer.is_result:
        return _refused("session/delete", answer, advertised)
    loaded = await agent.open("session/load", {"sessionId": talk.session_id}, LOAD_SECONDS)
    facts = {"advertised": advertised, "gone": loaded.error is not None}
    if loaded.error is None:
        return Finding("fail", f"it is deleted, and session/load got {brief(loaded)}", facts)
    return Finding("pass", _works(f"then session/load got {brief(loaded)}", advertised), facts)


@probe(
    "Is it an error to load a session that there never was?",
    sends=f"session/load of the session {NO_SESSION}",
    looks_at="the error's code, and whether it names the session",
)
async def load_unknown(agent: Subject) -> Finding:
    await agent.wire()
    answer = await agent.open("session/load", {"sessionId": NO_SESSION}, ANSWER_SECONDS)
    if is_unknown(answer.error):
        return _refused("session/load", answer, capabilities(agent.hello).load_session)
    return _unknown(answer)


@probe(
    "Is it an error to prompt a session that there never was?",
    sends=f"session/prompt to the session {NO_SESSION}",
    looks_at="the error's code, and whether it names the session",
    prompts=1,
)
async def prompt_unknown(agent: Subject) -> Finding:
    turn = (await agent.wire()).prompt(NO_SESSION, REPLY.format(words="HERE"))
    answer = await turn.answer(ANSWER_SECONDS)
    return _unknown(answer)


# -- a session with something in it


async def _talk(agent: Subject) -> Turn:
    """A turn that several probes look back at, in a session of the first process."""
    return await agent.once("a conversation", lambda: _new_talk(agent))


async def _new_talk(agent: Subject) -> Turn:
    wire, session_id = await agent.wire(), await agent.session()
    turn = wire.prompt(session_id, REMEMBER.format(word=WORD))
    answer = await turn.answer(TURN_SECONDS)
    if not answer.is_result:
        raise NotAsked(f"a first prompt got {brief(answer)}")
    return turn


async def _history(wire: Wire, method: str, session_id: str, quiet: float) -> list[Update]:
    """What of a conversation is told before an answer; else what comes so soon behind it."""

    def told() -> list[Update]:
        return [u for u in heard(wire.recording, method, session_id) if u.kind in ROLES]

    if early := [update for update in told() if not update.is_late]:
        return early
    await wire.until(lambda: False, quiet)
    return [update for update in told() if update.after <= quiet]


def _replayed(talk: Turn, told: list[Update], advertised: bool) -> Finding:
    roles = list(dict.fromkeys(ROLES[update.kind] for update in told))
    is_late = any(update.is_late for update in told)
    forms = {role: _form(told, kind) for kind, role in CHUNKS.items() if role in roles}
    same = talk.text in joined(told, "agent_message_chunk")
    facts = {"advertised": advertised, "roles": roles, "forms": forms, "is_late": is_late}
    facts |= {"same_answer": same}
    if not told:
        return Finding("fallback", _works("loaded; no history is replayed", advertised), facts)
    place = "behind the answer" if is_late else "before the answer"
    parts = ", ".join(f"{role} {form}" for role, form in forms.items())
    words = f"replayed {place}: {parts or ', '.join(roles)}"
    if is_late or len(forms) < len(CHUNKS) or not same:
        lacks = "" if same else "; the answer is another than it was"
        return Finding("fallback", f"{words}{lacks}", facts)
    return Finding("pass", _works(words, advertised), facts)


def _form(told: list[Update], kind: str) -> str:
    """The conversation has one turn: more than one chunk of a kind is a text in pieces."""
    return "in chunks" if sum(update.kind == kind for update in told) > 1 else "whole"


async def _looked_for(
    wire: Wire, folder: str, session_id: str
) -> tuple[Answer, Mapping[str, Any] | None, int]:
    """A session in the list of a folder, over some pages: the last answer, it, and how many."""
    cursor, pages = dict[str, str](), 0
    while True:
        answer = await wire.ask("session/list", {"cwd": folder, **cursor}, ANSWER_SECONDS)
        listed = mappings(answer.fields, "sessions")
        found = next((s for s in listed if text(s, "sessionId") == session_id), None)
        pages += 1
        following = text(answer.fields, "nextCursor")
        if found is not None or not following or pages == MOST_PAGES:
            return answer, found, pages
        cursor = {"cursor": following}


# -- what a build says of itself, and what it does


def _works(words: str, advertised: bool) -> str:
    return words if advertised else f"works, though not advertised: {words}"


def _refused(method: str, answer: Answer, advertised: bool) -> Finding:
    facts: dict[str, Any] = {"advertised": advertised}
    if not is_unknown(answer.error):
        facts["code"] = answer.error.code if answer.error else None
        return Finding("fail", f"{method} got {brief(answer)}", facts)
    words = "advertised, and answers -32601" if advertised else "not advertised, and not there"
    return Finding("absent", f"{method} is {words}", facts)


def _unknown(answer: Answer) -> Finding:
    if answer.error is None:
        how = f" ({why})" if (why := stop_reason(answer)) else ""
        return Finding("fail", f"no error: it got {brief(answer)}{how}", {"code": None})
    if wants_sign_in(answer.error):
        raise NotAsked(f"it wants a sign-in first: {brief(answer)}")
    place = named_in(answer.error, NO_SESSION, "sessionId", "session")
    facts = {"code": answer.error.code, "named_in": place}
    words = f"{brief(answer)}; {place or 'nothing'} names the session"
    return Finding("pass" if place else "fallback", words, facts)
