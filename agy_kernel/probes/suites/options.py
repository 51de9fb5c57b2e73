"""P4, gate A: whether model and effort can be switched in a session, and what else is chosen.

The seed's RC01 has the effort in the model's id, and judged that a PASS; what was chosen is lost
when the session is loaded again.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any

from ...acp.fields import text
from ...events import EFFORT, MODE, MODEL
from ..offers import CONFIG_OPTIONS, OPTION, Offer, offers_of, reported
from ..probe import Finding, NotAsked, Verdict, probe
from ..prompts import REPLY
from ..refusals import brief, is_unknown
from ..subject import Subject
from ..turns import Answer
from ..wire import Wire

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
WITH_EFFORT = re.compile(rf"(?P<stem>.+?)[-/:_\[(]+(?P<effort>{'|'.join(EFFORTS)})[\])]*")
NOT_OFFERED = "agy-kernel-probe"
END_SECONDS, LOAD_SECONDS = 60.0, 120.0


@probe(
    "Can the model be switched in a session?",
    sends=f"session/new; {OPTION} with another model, else session/set_model; then the first again",
    looks_at="which request is taken, and what its answer says is chosen",
    gate="A",
)
async def model(agent: Subject) -> Finding:
    return await _switched(agent, MODEL)


@probe(
    "Can the effort be switched in a session?",
    sends=f"session/new; {OPTION} with another effort, or with the model's id of another effort; "
    "then the first again",
    looks_at="an option of the category thought_level or effort, or else the ends of models' ids",
    gate="A",
)
async def effort(agent: Subject) -> Finding:
    wire, session_id, opened = await _opened(agent)
    if offers_of(opened, EFFORT):
        return await _switched(agent, EFFORT)
    for offer in offers_of(opened, MODEL):
        if sibling := _of_other_effort(offer):
            return await _by_model(wire, session_id, offer, sibling)
    return Finding("absent", "neither an option nor the models' ids tell of an effort")


@probe(
    "Can the mode be switched, and do both ways lead to one state?",
    sends=f"session/new; {OPTION} with another mode, then session/set_mode; then the first again",
    looks_at="which are taken, and whether the config option shows what session/set_mode has set",
)
async def mode(agent: Subject) -> Finding:
    wire, session_id, opened = await _opened(agent)
    offers = {offer.place: offer for offer in offers_of(opened, MODE)}
    if not any(offer.others for offer in offers.values()):
        return Finding("absent", "it offers no other mode")
    option = offers.get(CONFIG_OPTIONS)
    taken = await _is_taken(wire, session_id, option)
    set_mode = await _is_taken(wire, session_id, offers.get("modes"))
    same = await _is_one_state(wire, session_id, opened) if taken and set_mode else None
    return _modes({"config_option": taken, "set_mode": set_mode, "same_state": same})


@probe(
    "Does session/set_model work, which the protocol once had?",
    sends="session/new; session/set_model with another model; then the first again",
    looks_at="the answer, and whether the config option shows it, where there is one",
)
async def set_model(agent: Subject) -> Finding:
    wire, session_id, opened = await _opened(agent)
    offers = offers_of(opened, MODEL)
    known = next((offer for offer in reversed(offers) if offer.others), None)
    if known is None:
        raise NotAsked("it offers no other model")
    advertised = known.place == "models"
    legacy = known.legacy()
    answer = await legacy.choose(wire, session_id, known.others[0])
    facts: dict[str, Any] = {"advertised": advertised}
    if answer.error is not None and is_unknown(answer.error):
        words = "advertised by `models`, and answers -32601" if advertised else "there is no such"
        return Finding("absent", words, facts)
    if not answer.is_result:
        await _unless_refused(wire, session_id, legacy, answer)
        return Finding("fail", f"it got {brief(answer)}", facts)
    seen = await _seen(wire, session_id, opened, MODEL)
    await legacy.put_back(wire, session_id)
    facts["seen"] = seen == known.others[0] if seen else None
    if seen and seen != known.others[0]:
        return Finding("fail", "it answers, and the config option shows the model before", facts)
    words = "it works" if advertised else "it works, though not advertised"
    return Finding("pass", f"{words}; {_shown(seen)}", facts)


@probe(
    "Is a model refused that is not offered?",
    sends="session/new; a made-up model, or mode where there are no models",
    looks_at="that it is an error",
)
async def not_offered(agent: Subject) -> Finding:
    wire, session_id, opened = await _opened(agent)
    offer = next(iter([*offers_of(opened, MODEL), *offers_of(opened, MODE)]), None)
    if offer is None:
        raise NotAsked("it offers neither models nor modes")
    answer = await offer.choose(wire, session_id, NOT_OFFERED)
    facts = {"method": offer.method, "code": answer.error.code if answer.error else None}
    if answer.error is not None:
        return Finding("pass", f"{offer.method} got {brief(answer)}", facts)
    await offer.put_back(wire, session_id)
    told = reported(answer, offer.what)
    words = f"{offer.method} got {brief(answer)}" + (f", with {told} chosen" if told else "")
    return Finding("fail", words, facts)


@probe(
    "Does what is chosen survive session/load: model, effort, mode?",
    sends="session/new; another model and effort; a prompt; another mode; a new process; "
    "session/load; the first ones",
    looks_at="what the answer to session/load says is chosen",
    prompts=1,
)
async def survives_load(agent: Subject) -> Finding:
    wire, session_id, opened = await _opened(agent)
    agent.needs("load")
    found = (offers_of(opened, what) for what in (MODEL, EFFORT, MODE))
    offers = [o for o in (next((o for o in each if o.others), None) for each in found) if o]
    if not offers:
        raise NotAsked("it offers no other model, effort or mode")
    modes = [offer for offer in offers if offer.what == MODE]
    taken, refused = await _all_chosen(wire, session_id, [o for o in offers if o not in modes])
    if not taken and not modes:
        raise NotAsked("; ".join(refused))
    # Before the mode is another: in some, nothing is asked for.
    await wire.prompt(session_id, REPLY.format(words="NOTED")).answer(END_SECONDS)
    more, too = await _all_chosen(wire, session_id, modes)
    taken, refused = [*taken, *more], [*refused, *too]
    if not taken:
        raise NotAsked("; ".join(refused))
    wire = await agent.start()
    loaded = await agent.open("session/load", {"sessionId": session_id}, LOAD_SECONDS)
    if not loaded.is_result:
        await _put_back_elsewhere(agent, taken)
        return Finding("fail", f"session/load got {brief(loaded)}")
    for offer in taken:
        await offer.put_back(wire, session_id)
    return _survived(taken, refused, loaded.fields)


# -- a session, and what is chosen in it


async def _opened(agent: Subject) -> tuple[Wire, str, Mapping[str, Any]]:
    """A session of the probe's own, with all that it offers."""
    answer = await agent.open("session/new", {})
    session_id = text(answer.fields, "sessionId")
    if not session_id:
        raise NotAsked(f"no session could be opened: {brief(answer)}")
    return await agent.wire(), session_id, answer.fields


async def _unless_refused(wire: Wire, session_id: str, offer: Offer, answer: Answer) -> None:
    """Put back what may have been chosen: an agent that is silent may do it all the same."""
    if answer.error is None:
        await offer.put_back(wire, session_id)


async def _put_back_elsewhere(agent: Subject, offers: list[Offer]) -> None:
    """Put back what was chosen in a session that is not there any more, should it be kept."""
    with contextlib.suppress(NotAsked):
        wire, session_id, _ = await _opened(agent)
        for offer in offers:
            await offer.put_back(wire, session_id)


async def _all_chosen(
    wire: Wire, session_id: str, offers: list[Offer]
) -> tuple[list[Offer], list[str]]:
    """Choose another of each; which were taken, and how the others were refused."""
    taken, refused = [], []
    for offer in offers:
        answer = await offer.choose(wire, session_id, offer.others[0])
        if answer.is_result:
            taken.append(offer)
        else:
            await _unless_refused(wire, session_id, offer, answer)
            refused.append(f"another {offer.what} by {offer.method} got {brief(answer)}")
    return taken, refused


async def _switched(agent: Subject, what: str) -> Finding:
    """Another choice, by the protocol's way first."""
    wire, session_id, opened = await _opened(agent)
    offers = [offer for offer in offers_of(opened, what) if offer.others]
    if not offers:
        return Finding("absent", f"it offers no other {what}")
    refused: list[str] = []
    for offer in offers:
        other = offer.others[0]
        answer = await offer.choose(wire, session_id, other)
        await _unless_refused(wire, session_id, offer, answer)
        if answer.is_result:
            return _taken(offer, other, reported(answer, what), refused)
        refused.append(f"{offer.method} got {brief(answer)}")
    return Finding("fail", "; ".join(refused), {"method": None})


def _taken(offer: Offer, other: str, told: str, refused: list[str]) -> Finding:
    facts = {"method": offer.method, "reported": told == other}
    words = "; ".join([*refused, f"{offer.current} to {other} by {offer.method}"])
    if told and told != other:
        return Finding("fail", f"{words}, whose answer says that {told} is chosen", facts)
    if offer.place != CONFIG_OPTIONS:
        return Finding("fallback", f"{words}, which the protocol no longer has", facts)
    if not told:
        return Finding("fallback", f"{words}, whose answer does not tell what is chosen", facts)
    return Finding("pass", f"{words}, and the answer says so", facts)


async def _by_model(wire: Wire, session_id: str, offer: Offer, sibling: str) -> Finding:
    """The effort, where it is a part of the models' ids."""
    answer = await offer.choose(wire, session_id, sibling)
    told = reported(answer, MODEL)
    await offer.put_back(wire, session_id)
    facts = {"method": offer.method, "in_model_id": True}
    words = f"the effort is a part of the model's id: {offer.current} to {sibling}"
    if not answer.is_result or (told and told != sibling):
        return Finding("fail", f"{words} got {brief(answer)}, with {told or 'none'} chosen", facts)
    if not told:
        return Finding("fallback", f"{words} by {offer.method}, which does not tell", facts)
    return Finding("pass", f"{words} by {offer.method}, so that one choice makes both", facts)


def _of_other_effort(offer: Offer) -> str:
    """The same model with another effort; empty where there is none."""
    mine = WITH_EFFORT.fullmatch(offer.current)
    for value in offer.others if mine else ():
        other = WITH_EFFORT.fullmatch(value)
        if mine and other and other["stem"] == mine["stem"]:
            return value
    return ""


async def _is_taken(wire: Wire, session_id: str, offer: Offer | None) -> bool | None:
    """Whether another choice and the first one again are taken; None where it is not offered."""
    if offer is None or not offer.others:
        return None
    answer = await offer.choose(wire, session_id, offer.others[0])
    told = reported(answer, offer.what)
    back = await offer.put_back(wire, session_id)
    return answer.is_result and (back or not offer.current) and told in ("", offer.others[0])


async def _is_one_state(wire: Wire, session_id: str, opened: Mapping[str, Any]) -> bool | None:
    """Whether the config option shows what ``session/set_mode`` has set; None where unseen."""
    by_mode = offers_of(opened, MODE)[-1]
    await by_mode.choose(wire, session_id, by_mode.others[0])
    seen = await _seen(wire, session_id, opened, MODE)
    await by_mode.put_back(wire, session_id)
    return seen == by_mode.others[0] if seen else None


async def _seen(wire: Wire, session_id: str, opened: Mapping[str, Any], what: str) -> str:
    """What the config options say is chosen: choosing another one's value again has them told."""
    for other in (MODEL, MODE, EFFORT):
        offers = [o for o in offers_of(opened, other) if o.place == CONFIG_OPTIONS and o.current]
        if other != what and offers:
            return reported(await offers[0].choose(wire, session_id, offers[0].current), what)
    return ""


def _modes(facts: dict[str, bool | None]) -> Finding:
    told = {True: "works", False: "is refused", None: "is not offered"}
    words = f"{OPTION} {told[facts['config_option']]}, session/set_mode {told[facts['set_mode']]}"
    if facts["same_state"] is False:
        return Finding("fail", f"{words}; they do not see the same state", facts)
    if facts["same_state"]:
        words = f"{words}; both lead to one state"
    if facts["config_option"] is False or facts["set_mode"] is False:
        works = facts["config_option"] or facts["set_mode"]
        return Finding("fallback" if works else "fail", words, facts)
    return Finding("pass", words, facts)


def _shown(seen: str) -> str:
    return "the config option shows it" if seen else "no config option could show it"


def _survived(taken: list[Offer], refused: list[str], loaded: Mapping[str, Any]) -> Finding:
    kept, lost, untold, survives = [], [], [], dict[str, bool | None]()
    for offer in taken:
        now = next((o.current for o in offers_of(loaded, offer.what) if o.current), "")
        survives[offer.what] = now == offer.others[0] if now else None
        words = f"{offer.what} {offer.others[0]}"
        if not now:
            untold.append(words)
        elif survives[offer.what]:
            kept.append(words)
        else:
            default = "the default" if now == offer.current else "neither that nor the default"
            lost.append(f"{words}, it is {now} then, {default}")
    told = {"kept": kept, "not told": untold, "lost": lost}
    parts = [f"{how}: {', '.join(each)}" for how, each in told.items() if each]
    again = ["a client must choose again after every load"] if lost else []
    verdict: Verdict = "fallback" if lost else "pass" if kept else "absent"
    return Finding(verdict, "; ".join([*parts, *again, *refused]), {"survives": survives})
