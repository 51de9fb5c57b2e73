"""P3: what ``session/new`` opens, and what it offers: models, modes, options and commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...acp.fields import as_mapping, mappings, text
from ...acp.options import session_state
from ...events import MODE, MODEL
from ..ends import said, stop_reason
from ..heard import COMMANDS, Update, commands_of
from ..offers import Offer, offers_of
from ..probe import Finding, NotAsked, probe
from ..prompts import REPLY
from ..refusals import brief
from ..subject import Subject
from ..turns import Answer
from ..wire import Wire

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
END_SECONDS = 60.0


@probe(
    "Does session/new open a session, and how soon?",
    sends="session/new with a folder and no MCP servers",
    looks_at="the session's id, and seconds until the answer",
)
async def new(agent: Subject, *, session_seconds: float = 2.0) -> Finding:
    _, answer = await _opened(agent)
    session_id = text(answer.fields, "sessionId")
    if not session_id:
        return Finding("fail", f"there is no sessionId: it got {brief(answer)}")
    shape = "a UUID" if UUID.fullmatch(session_id) else f"{len(session_id)} letters"
    facts = {"id": shape, "fields": sorted(answer.fields)}
    words = f"{answer.seconds:.2f} s; its id is {shape}"
    return Finding("pass" if answer.seconds < session_seconds else "fail", words, facts)


@probe(
    "Which models does it offer?",
    sends="session/new, once for several probes",
    looks_at="the config option of the category model, and `models`, which the protocol once had",
)
async def models(agent: Subject) -> Finding:
    return _catalogue(offers_of(await _told(agent), MODEL), "models")


@probe(
    "Which modes does it offer?",
    sends="session/new, once for several probes",
    looks_at="the config option of the category mode, and `modes`",
)
async def modes(agent: Subject) -> Finding:
    return _catalogue(offers_of(await _told(agent), MODE), "modes")


@probe(
    "Which config options does it offer?",
    sends="session/new, once for several probes",
    looks_at="their ids, categories and types, and whether what is chosen is among what is offered",
)
async def config_options(agent: Subject) -> Finding:
    options = list(mappings(await _told(agent), "configOptions"))
    facts = [{k: text(o, k) for k in ("id", "category", "type")} for o in options]
    if not options:
        return Finding("absent", "it offers none")
    words = ", ".join(_option_words(option) for option in options)
    odd = [text(option, "id") or "one without an id" for option in options if _is_odd(option)]
    if odd:
        words = f"{words}; not to be used as it is: {', '.join(odd)}"
    return Finding("fallback" if odd else "pass", words, {"options": facts, "odd": odd})


@probe(
    "Does it tell its commands?",
    sends="session/new, once for several probes",
    looks_at=f"{COMMANDS}, and whether it comes before the answer or behind it",
)
async def commands(agent: Subject, *, commands_seconds: float = 2.0) -> Finding:
    wire, _ = await _opened(agent)
    session_id = text(await _told(agent), "sessionId")
    return _commands(await commands_of(wire, session_id, commands_seconds), commands_seconds)


@probe(
    "Can two sessions be open at a time?",
    sends="session/new twice on one connection; then what is chosen already, in both",
    looks_at="whether their ids differ, and whether the first one lives on",
)
async def second_session(agent: Subject) -> Finding:
    wire = await agent.wire()
    opened = [await agent.open("session/new", {}) for _ in range(2)]
    ids = [text(answer.fields, "sessionId") for answer in opened]
    if not all(ids):
        return Finding("fail", f"session/new got {brief(opened[0])}, then {brief(opened[1])}")
    if ids[0] == ids[1]:
        return Finding("fail", "both have the same id", {"ids_differ": False})
    alive = [await _lives(wire, s, a.fields) for s, a in zip(ids, opened, strict=True)]
    facts = {"ids_differ": True, "alive": alive}
    if None in alive:
        return Finding("pass", "two ids; nothing is offered by which to see them live", facts)
    words = "both are open" if all(alive) else "one of them refuses what it had chosen itself"
    return Finding("pass" if all(alive) else "fail", f"two ids; {words}", facts)


@probe(
    "Do two sessions answer at the same time?",
    sends="session/new twice; a prompt in each, the second at once",
    looks_at="whether each says its own words, in its own session",
    prompts=2,
)
async def two_at_once(agent: Subject) -> Finding:
    wire = await agent.wire()
    words = ("FIRST", "SECOND")
    sessions = [await agent.session() for _ in words]
    turns = [wire.prompt(s, REPLY.format(words=w)) for s, w in zip(sessions, words, strict=True)]
    answers = [await turn.answer(END_SECONDS) for turn in turns]
    texts = [said(t, a) for t, a in zip(turns, answers, strict=True)]
    own = [w in each for each, w in zip(texts, words, strict=True)]
    mixed = [o in each for each, o in zip(texts, reversed(words), strict=True)]
    facts = {"stopReasons": [stop_reason(answer) for answer in answers], "mixed": any(mixed)}
    if any(mixed):
        return Finding("fail", "what one session says comes in the other", facts)
    if all(own):
        return Finding("pass", "each says its own words in its own session", facts)
    told = [stop_reason(answer) or brief(answer) for answer in answers]
    ends = f"the first ends {told[0]}, the second {told[1]}"
    return Finding("fallback", f"{ends}; not both say their words", facts)


async def _opened(agent: Subject) -> tuple[Wire, Answer]:
    """A session, opened once, and the connection that it was opened on."""

    async def make() -> tuple[Wire, Answer]:
        answer = await agent.open("session/new", {})
        return await agent.wire(), answer

    return await agent.once("a session", make)


async def _told(agent: Subject) -> Mapping[str, Any]:
    _, answer = await _opened(agent)
    if not text(answer.fields, "sessionId"):
        raise NotAsked(f"session/new got {brief(answer)}")
    return answer.fields


def _catalogue(offers: Iterable[Offer], what: str) -> Finding:
    """What is offered in one place or two."""
    found = list(offers)
    facts = {offer.place: {"names": offer.values, "current": offer.current} for offer in found}
    if not any(offer.values for offer in found):
        return Finding("absent", f"it offers no {what}", facts)
    first, places = found[0], " and ".join(offer.place for offer in found)
    words = f"{len(first.values)} {what} in {places}; {first.current or 'none'} at first"
    if any((o.values, o.current) != (first.values, first.current) for o in found):
        return Finding("fallback", f"{words}; the places differ", facts)
    if first.current not in first.values:
        return Finding("fallback", f"{words}, which is not offered", facts)
    if first.place == "models":
        return Finding("fallback", f"{words}; in the protocol's place are none", facts)
    return Finding("pass", words, facts)


def _commands(told: list[Update], within: float) -> Finding:
    if not told:
        return Finding("absent", f"none within {within:g} s")
    names = [text(command, "name") for command in mappings(told[0].fields, "availableCommands")]
    place = "behind the answer" if told[0].is_late else "before the answer"
    words = f"{', '.join(names) or 'an empty list'}; {abs(told[0].after):.2f} s {place}"
    return Finding("pass" if names else "absent", words, {"names": names, "place": place})


async def _lives(wire: Wire, session_id: str, opened: Mapping[str, Any]) -> bool | None:
    """Whether a session takes what it has chosen already; None where it offers nothing."""
    for offer in (*offers_of(opened, MODE), *offers_of(opened, MODEL)):
        if offer.current:
            return (await offer.choose(wire, session_id, offer.current)).is_result
    return None


def _option_words(option: Mapping[str, Any]) -> str:
    category = text(option, "category")
    told = f"{text(option, 'type')}, {category}" if category else text(option, "type")
    return f"{text(option, 'id')} ({told})"


def _is_odd(option: Mapping[str, Any]) -> bool:
    """Whether an option cannot be shown with what is chosen."""
    choices = session_state("", {"configOptions": [as_mapping(option)]}).choices
    known = next(iter(choices.values()), None)
    if not text(option, "id") or known is None:
        return True
    return known.current not in {choice.id for choice in known.available}
