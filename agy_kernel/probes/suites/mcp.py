"""Gate F: whether an agent reaches the MCP servers that a session is opened with.

The seed knows of RC01 that it takes the entries and tolerates a dead one; a call was seen later
(its plan, section 8.1). What the servers were asked is noted, for a tape has nobody who asks.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...acp.fields import as_mapping, mappings, text
from ...acp.results import capabilities
from .. import loopback
from ..calls import asked_about, is_only_of_server
from ..ends import said
from ..loopback import HEADER, TOOL, HttpServer, asked_over_stdio, echoed
from ..probe import Finding, NotAsked, probe
from ..prompts import CALL
from ..subject import Subject
from ..turns import Answer

ANSWER_SECONDS = 180.0
NAME, TEXT, SEEN = "probe", "PROBE-9", "asked.txt"
DEAD_URL = "http://127.0.0.1:9/mcp"
NOT_ADVERTISED = Finding("absent", "mcpCapabilities.http is not true: no such server was sent")
NEVER_CONTACTED = "accepted, and never contacted"
ASKS = f"session/new with it; a prompt to call its tool {TOOL}, which alone is allowed"


@probe(
    "Is an MCP server reached that is a program?",
    sends=f"a stdio server to {ASKS}",
    looks_at="what the server was asked, and whether the answer holds the tool's result",
    gate="F",
    prompts=1,
)
async def stdio(agent: Subject) -> Finding:
    await agent.wire()
    seen = agent.folder / SEEN
    program = str(Path(loopback.__file__))
    server = {"name": NAME, "command": sys.executable, "args": [program, str(seen)], "env": []}
    answer, said = await _called(agent, server)
    asked = agent.observe("the stdio server was asked", lambda: asked_over_stdio(seen))
    return _reached(answer, said, asked)


@probe(
    "Is an MCP server reached over HTTP?",
    sends=f"an HTTP server on this machine, with a header, to {ASKS}",
    looks_at="what the server was asked, and whether the answer holds the tool's result",
    gate="F",
    prompts=1,
)
async def http(agent: Subject) -> Finding:
    await agent.wire()
    if not capabilities(agent.hello).mcp_http:
        raise NotAsked("HTTP servers are not offered")
    return _reached(*await _over_http(agent))


@probe(
    "Do the headers arrive that an HTTP server is given?",
    sends="what the probe before has sent",
    looks_at=f"whether the requests have the header {HEADER['name']}; without it they are refused",
    prompts=1,
)
async def header(agent: Subject) -> Finding:
    await agent.wire()
    if not capabilities(agent.hello).mcp_http:
        return NOT_ADVERTISED
    _, _, asked, refused = await _over_http(agent)
    facts = {"with": bool(asked), "without": bool(refused)}
    if not (asked or refused):
        raise NotAsked("the server was never contacted")
    if refused:
        return Finding("fail", f"requests without it: {refused}, with it: {len(asked)}", facts)
    return Finding("pass", f"requests with it: {len(asked)}, without it: 0", facts)


@probe(
    "Is a session opened although an MCP server is dead?",
    sends="session/new with an HTTP server at which nobody listens",
    looks_at="whether it is accepted, so that the agent connects later",
)
async def dead(agent: Subject) -> Finding:
    answer = await _opened(agent, {**_http_entry(DEAD_URL), "headers": []})
    if answer is None:
        return NOT_ADVERTISED
    if answer.is_result:
        return Finding("pass", "it is accepted", {"accepted": True})
    facts = {"accepted": False, "code": answer.error.code if answer.error else None}
    words = f"{answer.words}: a client has to try a server before it names it"
    return Finding("fallback", words, facts)


@probe(
    "May an HTTP server have no headers at all?",
    sends="session/new with an HTTP server without the field headers, which is a list",
    looks_at="whether it is accepted, and which field the error names",
)
async def without_headers(agent: Subject) -> Finding:
    answer = await _opened(agent, _http_entry(DEAD_URL))
    if answer is None:
        return NOT_ADVERTISED
    if answer.is_result:
        return Finding("pass", "it is accepted", {"accepted": True})
    code = answer.error.code if answer.error else None
    facts = {"accepted": False, "code": code, "fields": _fields_at_fault(answer)}
    return Finding("fallback", f"{answer.words}; headers must be sent, be it an empty list", facts)


# -- a server is named, and its tool called


def _http_entry(url: str) -> dict[str, Any]:
    return {"type": "http", "name": NAME, "url": url}


async def _opened(agent: Subject, server: Mapping[str, Any]) -> Answer | None:
    """The answer to a session with an HTTP server; None where the build does not take any."""
    await agent.wire()
    if not capabilities(agent.hello).mcp_http:
        return None
    return await agent.open("session/new", {"mcpServers": [server]})


async def _over_http(agent: Subject) -> tuple[Answer, str, list[str], int]:
    """What came of the HTTP server; two probes look at it."""

    async def call() -> tuple[Answer, str, list[str], int]:
        async with HttpServer() as server:
            entry = {**_http_entry(server.url), "headers": [HEADER]}
            answer, said = await _called(agent, entry)
            asked = agent.observe("the HTTP server was asked", lambda: list(server.asked))
            refused = agent.observe("the HTTP server has refused", lambda: server.refused)
            return answer, said, asked, refused

    return await agent.once("the HTTP server", call)


async def _called(agent: Subject, server: Mapping[str, Any]) -> tuple[Answer, str]:
    """Open a session with a server, and have its tool called.

    Returns:
        The answer to ``session/new``, and what the agent said; nothing where it was refused.
    """
    wire = await agent.wire()
    opened = await agent.open("session/new", {"mcpServers": [server]})
    session = text(opened.fields, "sessionId")
    if not session:
        return opened, ""

    def is_tool(asked: Mapping[str, Any]) -> bool:
        return is_only_of_server(asked_about(wire, session, asked).told, NAME, TOOL)

    prompt = CALL.format(tool=TOOL, server=NAME, text=TEXT)
    turn = wire.prompt(session, prompt, allow=is_tool)
    return opened, said(turn, await turn.answer(ANSWER_SECONDS))


def _reached(opened: Answer, said: str, asked: list[str], refused: int = 0) -> Finding:
    facts = {"accepted": opened.is_result, "asked": sorted(set(asked)), "told": False}
    if not opened.is_result:
        return Finding("fail", f"session/new got {opened.words}", facts)
    if not asked:
        how = "contacted without its header, and refuses" if refused else NEVER_CONTACTED
        return Finding("fallback", f"the server is {how}", facts)
    if "tools/call" not in asked:
        words = f"the server is contacted, and its tool not called: {said[-80:]!r}"
        return Finding("fallback", words, facts)
    facts["told"] = echoed(TEXT) in said
    if not facts["told"]:
        words = f"the tool is called, and its result not told: {said[-80:]!r}"
        return Finding("fallback", words, facts)
    return Finding("pass", "the tool is called, and the answer holds its result", facts)


def _fields_at_fault(answer: Answer) -> list[str]:
    """The last name in each place that an error of RC01's kind names."""
    data = as_mapping(answer.error.data if answer.error else None)
    places = (error.get("loc") for error in mappings(data, "errors"))
    return [str(place[-1]) for place in places if isinstance(place, list) and place]
