"""P2: which ways to sign in there are, and what of it needs a person.

No file with a token is ever opened: whether one is signed in, only ``session/new`` tells. Nobody is
signed out either, for that may take a person to undo.
"""

from __future__ import annotations

import re

from ...abilities import AuthMethod
from ...acp.fields import text
from ...acp.results import auth_methods, capabilities
from ...acp.signin import AUTHENTICATION_REQUIRED
from ...errors import RequestFailed, error_detail
from ..probe import Finding, NotAsked, probe
from ..refusals import brief, named_in, named_of
from ..subject import Subject
from ..turns import Answer
from ..wire import Wire

VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
SIGN_IN_SECONDS = 60.0


@probe(
    "Which ways to sign in does it name, and what does each need?",
    sends="initialize",
    looks_at="authMethods: their ids, types and variables",
)
async def methods(agent: Subject) -> Finding:
    await agent.wire()
    named = [method for method in auth_methods(agent.hello) if method.id]
    facts = {m.id: {"type": m.type, "variables": list(m.variables)} for m in named}
    if not named:
        return Finding("absent", "it names none", {"methods": facts})
    return Finding("pass", "; ".join(map(_needs, named)), {"methods": facts})


@probe(
    "Does session/new work without authenticate?",
    sends="session/new, as the first request after initialize",
    looks_at="whether there is a session, or else whether the error -32000 names the ways in",
)
async def without_authenticate(agent: Subject) -> Finding:
    answer = await _new(await agent.start(), agent)
    if text(answer.fields, "sessionId"):
        return Finding("pass", "it does: a session is open", {"signed_in": True})
    if answer.error is None:
        return Finding("fail", f"neither a session nor an error: {brief(answer)}")
    return _refused(answer.error, [method.id for method in auth_methods(agent.hello)])


@probe(
    "Can one sign in without a person?",
    sends="session/new; where it is refused, authenticate by a method whose variables are all set, "
    "and session/new again",
    looks_at="both answers",
)
async def unattended(agent: Subject) -> Finding:
    wire = await agent.start()
    if text((await _new(wire, agent)).fields, "sessionId"):
        # Agents keep what they are given: a key might take the place of a person's login.
        raise NotAsked("it is signed in already, and another sign-in might replace that one")
    method = agent.unattended_method()
    if method is None:
        raise NotAsked(
            "it takes a person: no method names variables that are all set. `%agy auth` signs in"
        )
    signed_in = await wire.ask("authenticate", {"methodId": method}, SIGN_IN_SECONDS)
    facts = {"method": method}
    if not signed_in.is_result:
        return Finding("fail", f"authenticate by {method} got {brief(signed_in)}", facts)
    answer = await _new(wire, agent)
    words = f"signed in by {method} in {signed_in.seconds:.2f} s"
    if text(answer.fields, "sessionId"):
        return Finding("pass", f"{words}; then a session is open", facts)
    return Finding("fail", f"{words}; then session/new got {brief(answer)}", facts)


@probe(
    "Does a sign-in last beyond the process?",
    sends="session/new, signed in where that needs no person; a new process; session/new alone",
    looks_at="whether the new process opens a session without authenticate",
)
async def after_restart(agent: Subject) -> Finding:
    await agent.session()
    answer = await _new(await agent.start(), agent)
    if text(answer.fields, "sessionId"):
        return Finding("pass", "it does: a new process opens a session without authenticate")
    words = f"without authenticate, a new process answers {brief(answer)}"
    if agent.unattended_method() is None:
        return Finding("fail", f"{words}; a person would have to sign in at each start")
    if text((await agent.open("session/new", {})).fields, "sessionId"):
        return Finding("fallback", f"{words}; signing in again needs no person")
    return Finding("fail", f"{words}; and signing in again did not help")


@probe(
    "Can a client sign out?",
    sends="nothing: it would sign the person out",
    looks_at="auth.logout among the capabilities",
)
async def logout(agent: Subject) -> Finding:
    await agent.wire()
    if capabilities(agent.hello).logout:
        return Finding("pass", "logout is advertised; it was not sent")
    return Finding("absent", "logout is not advertised")


async def _new(wire: Wire, agent: Subject) -> Answer:
    """What ``session/new`` is answered without a sign-in."""
    if not wire.hello.is_result:
        raise NotAsked(f"initialize got {wire.hello.words}")
    return await wire.ask("session/new", {"cwd": str(agent.folder), "mcpServers": []})


def _refused(error: RequestFailed, ids: list[str]) -> Finding:
    """Whether a refusal tells a person how to go on."""
    told = named_of(error, ids)
    variables = list(dict.fromkeys(VARIABLE.findall(f"{error.message} {error_detail(error.data)}")))
    place = named_in(error, *ids)
    facts = {"code": error.code, "names": told, "named_in": place, "variables": variables}
    if error.code != AUTHENTICATION_REQUIRED:
        return Finding("fail", f"refused by {error.code}, and not by -32000", facts)
    ways = f"{place} names {', '.join(told)}" if told else "it does not name the ways in"
    needs = f", and {', '.join(variables)}" if variables else ""
    words = f"refused by -32000, “{error.message}”; {ways}{needs}"
    # Where the error names none, initialize may.
    return Finding("fallback" if told or ids else "fail", words, facts)


def _needs(method: AuthMethod) -> str:
    if method.type == "terminal":
        return f"{method.id}: a command in a terminal"
    needs = f"needs {', '.join(method.variables)}" if method.variables else "needs: not told"
    return f"{method.id}: {needs}"
