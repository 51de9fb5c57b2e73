"""How wrong requests are refused: a client learns from it what it got wrong.

The seed calls RC01's -32602 with ``data.errors[].loc`` its "correction oracle": two params were
found by it (``methodId``, ``configId``).
"""

from __future__ import annotations

from typing import Any

from ...acp.fields import mappings, text
from ...acp.serving import INVALID_REQUEST
from ...acp.signin import wants_sign_in
from ...errors import AgentError
from ..offers import CONFIG_OPTIONS, OPTION
from ..probe import Finding, NotAsked, probe
from ..prompts import REPLY
from ..refusals import METHOD_NOT_FOUND, NO_SESSION, brief, is_unknown, named_in
from ..subject import Subject
from ..turns import Answer

INVALID_PARAMS, NOT_FOUND = -32602, -32002
NOTHING = "agy-kernel-probe"
UNKNOWN_METHOD = "session/agy_kernel_probe"
LOOKS = "the code, and whether data or message names what was wrong"


@probe(
    "How is authenticate refused with `method` in place of `methodId`?",
    sends=f'authenticate {{"method": "{NOTHING}"}}',
    looks_at=f"{LOOKS}: -32602, methodId",
)
async def authenticate_field(agent: Subject, *, answer_seconds: float = 5.0) -> Finding:
    answer = await _ask(agent, "authenticate", {"method": NOTHING}, answer_seconds)
    if is_unknown(answer.error):
        raise NotAsked("it has no authenticate")
    return _judged(answer, (INVALID_PARAMS,), "methodId")


@probe(
    f"How is {OPTION} refused with `configOptionId` in place of `configId`?",
    sends="session/new; what is chosen already, by the wrong name",
    looks_at=f"{LOOKS}: -32602, configId",
)
async def config_field(agent: Subject, *, answer_seconds: float = 5.0) -> Finding:
    session_id, option, value = await _chosen(agent)
    params = {"sessionId": session_id, "configOptionId": option, "value": value}
    answer = await _ask(agent, OPTION, params, answer_seconds)
    if is_unknown(answer.error):
        raise NotAsked(f"it has no {OPTION}")
    return _judged(answer, (INVALID_PARAMS,), "configId")


@probe(
    "How is session/new refused without a folder?",
    sends="session/new without cwd",
    looks_at=f"{LOOKS}: -32602, cwd",
)
async def no_folder(agent: Subject, *, answer_seconds: float = 5.0) -> Finding:
    answer = await _ask(agent, "session/new", {"mcpServers": []}, answer_seconds)
    return _judged(answer, (INVALID_PARAMS,), "cwd")


@probe(
    "How is session/new refused with a relative folder?",
    sends='session/new with the cwd "."',
    looks_at=f"{LOOKS}: -32602, cwd, for the protocol wants an absolute path",
)
async def relative_folder(agent: Subject, *, answer_seconds: float = 5.0) -> Finding:
    answer = await _ask(agent, "session/new", {"cwd": ".", "mcpServers": []}, answer_seconds)
    return _judged(answer, (INVALID_PARAMS,), "cwd", "absolute path")


@probe(
    "How is a prompt refused for a session that there never was?",
    sends=f"session/prompt to the session {NO_SESSION}",
    looks_at=f"{LOOKS}: -32602 or -32002, the session",
    prompts=1,
)
async def unknown_session(agent: Subject, *, answer_seconds: float = 5.0) -> Finding:
    prompt = [{"type": "text", "text": REPLY.format(words="HERE")}]
    params = {"sessionId": NO_SESSION, "prompt": prompt}
    answer = await _ask(agent, "session/prompt", params, answer_seconds)
    return _judged(answer, (INVALID_PARAMS, NOT_FOUND), "session", "sessionId", NO_SESSION)


@probe(
    "How is a prompt refused that is a string, and no list of blocks?",
    sends="session/new; session/prompt with a string",
    looks_at=f"{LOOKS}: -32602, prompt",
    prompts=1,
)
async def prompt_string(agent: Subject, *, answer_seconds: float = 5.0) -> Finding:
    params = {"sessionId": await agent.session(), "prompt": REPLY.format(words="HERE")}
    answer = await _ask(agent, "session/prompt", params, answer_seconds)
    return _judged(answer, (INVALID_PARAMS,), "prompt")


@probe(
    "How is a method refused that there is not?",
    sends=UNKNOWN_METHOD,
    looks_at=f"{LOOKS}: -32601, the method",
)
async def unknown_method(agent: Subject, *, answer_seconds: float = 5.0) -> Finding:
    answer = await _ask(agent, UNKNOWN_METHOD, {}, answer_seconds)
    return _judged(answer, (METHOD_NOT_FOUND,), UNKNOWN_METHOD)


@probe(
    "How are params refused that are a list, and no object?",
    sends='session/new with the params ["cwd"]',
    looks_at="the code: -32602, or -32600",
)
async def params_list(agent: Subject, *, answer_seconds: float = 5.0) -> Finding:
    answer = await _ask(agent, "session/new", ["cwd"], answer_seconds)
    return _judged(answer, (INVALID_PARAMS, INVALID_REQUEST))


@probe(
    "How is a request refused whose method is a number?",
    sends="a request with the method 42, to a process of its own",
    looks_at="the code: -32600",
)
async def no_request(agent: Subject, *, answer_seconds: float = 5.0) -> Finding:
    wire = await agent.start()
    if not wire.hello.is_result:
        raise NotAsked(f"initialize got {brief(wire.hello)}")
    try:
        answer = await wire.ask(42, {}, answer_seconds)
        seen = answer.error.code if answer.error else brief(answer)
    except AgentError:
        seen = "the end of the agent"
    # A replay has an answer of its own to what is no request: what the agent did was noted.
    told = agent.observe("answer to what is no request", lambda: seen)
    await agent.stop()
    facts = {"code": told if isinstance(told, int) else None}
    if not isinstance(told, int):
        return Finding("fail", f"it got {told}", facts)
    right = told == INVALID_REQUEST
    return Finding("pass" if right else "fallback", f"it is refused by {told}", facts)


async def _ask(agent: Subject, method: str, params: Any, within: float) -> Answer:
    """A wrong request; nothing that it may have set off is left running."""
    wire = await agent.wire()
    answer = await wire.ask(method, params, within)
    if answer.error is None:
        await agent.stop()
    return answer


async def _chosen(agent: Subject) -> tuple[str, str, str]:
    """A session, one of its options, and what is chosen there already."""
    answer = await agent.open("session/new", {})
    session_id = text(answer.fields, "sessionId")
    if not session_id:
        raise NotAsked(f"no session could be opened: {brief(answer)}")
    option = next(mappings(answer.fields, CONFIG_OPTIONS), {})
    return session_id, text(option, "id") or "model", text(option, "currentValue") or NOTHING


def _judged(answer: Answer, codes: tuple[int, ...], *names: str) -> Finding:
    """Whether a refusal is the one that the protocol asks for, and names what was wrong."""
    error = answer.error
    if error is None:
        accepted = "accepted" if answer.is_result else brief(answer)
        return Finding("fail", f"it got {accepted}: no error", {"code": None})
    if wants_sign_in(error):
        raise NotAsked(f"it wants a sign-in first: {brief(answer)}")
    place = named_in(error, *names) if names else ""
    facts = {"code": error.code, **({"named_in": place} if names else {})}
    named = f"; {place or 'nothing'} names {names[0]}" if names else ""
    if error.code not in codes:
        asked = " or ".join(map(str, codes))
        return Finding("fallback", f"{brief(answer)}, and not {asked}{named}", facts)
    return Finding("pass" if place or not names else "fallback", f"{brief(answer)}{named}", facts)
