"""P1, gate E: what it answers to ``initialize``, how soon it starts, and what it takes.

From the seed's plan, sections 2.2 and 8: a client that offers neither files nor terminals.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from ...acp.fields import as_mapping, mapping, mappings, text
from ...doctor.running import memory
from ..probe import Finding, NotAsked, probe
from ..subject import Subject
from ..wire import MINIMAL

NEWER = 999


@probe(
    "Does it answer a client that can do next to nothing?",
    sends="initialize with protocolVersion 1, fs false, terminal false, and nothing else",
    looks_at="the protocol version, and the names of its capabilities",
)
async def minimal(agent: Subject) -> Finding:
    hello = (await agent.start()).hello
    if not hello.is_result:
        return Finding("fail", f"initialize was answered by {hello.words}")
    version = hello.fields.get("protocolVersion")
    capabilities = sorted(_names(mapping(hello.fields, "agentCapabilities")))
    facts = {"protocolVersion": version, "capabilities": capabilities}
    words = f"protocol version {version}; {', '.join(capabilities) or 'no capabilities'}"
    return Finding("pass" if version == 1 else "fail", words, facts)


@probe(
    "What does it answer to a version of the protocol that it cannot know?",
    sends=f"initialize with protocolVersion {NEWER}",
    looks_at="whether it answers with the newest version that it knows, as the protocol has it",
)
async def newer_version(agent: Subject) -> Finding:
    hello = (await agent.start({**MINIMAL, "protocolVersion": NEWER})).hello
    await agent.stop()
    if not hello.is_result:
        return Finding("fallback", f"it refuses instead of offering its own: {hello.words}")
    version = hello.fields.get("protocolVersion")
    facts = {"protocolVersion": version}
    if version == NEWER:
        return Finding("fail", f"it claims to speak version {NEWER}", facts)
    return Finding("pass", f"it offers version {version}", facts)


@probe(
    "Does nothing but frames come on stdout?",
    sends="initialize",
    looks_at="lines on stdout that are no JSON-RPC",
)
async def only_frames(agent: Subject) -> Finding:
    wire = await agent.wire()
    _, here = await agent.here()
    frames = wire.recording.between(float("-inf"), here)
    lines = [f.message for f in frames if f.direction == "a2c" and not _is_frame(f.message)]
    if lines:
        first = lines[0] if isinstance(lines[0], str) else json.dumps(lines[0])
        return Finding("fallback", f"{len(lines)} other lines, the first one: {first[:80]!r}")
    return Finding("pass", "every line was a frame")


@probe(
    "How soon does it answer?",
    sends="initialize, right after the start of the process",
    looks_at="seconds until the answer",
    gate="E",
)
async def start_time(agent: Subject, *, start_seconds: float = 5.0) -> Finding:
    hello = (await agent.start()).hello
    if not hello.is_result:
        return Finding("fail", f"initialize was answered by {hello.words}")
    words = f"{hello.seconds:.2f} s from the start to the answer"
    return Finding("pass" if hello.seconds < start_seconds else "fail", words)


@probe(
    "How much memory does it take?",
    sends="initialize; session/new, where it needs no sign-in",
    looks_at="resident memory of the process and all its descendants",
    gate="E",
)
async def memory_taken(agent: Subject, *, memory_mb: float = 1000.0) -> Finding:
    wire = await agent.wire()
    with contextlib.suppress(NotAsked):
        await agent.open("session/new", {})
    taken = agent.observe("memory", lambda: memory(wire.pid)) / 1e6
    if not taken:
        raise NotAsked("the memory of its process cannot be read")
    return Finding("pass" if taken < memory_mb else "fail", f"{taken:.0f} MB")


@probe(
    "Which ways to sign in does it name?",
    sends="initialize",
    looks_at="authMethods",
)
async def sign_in_methods(agent: Subject) -> Finding:
    await agent.wire()
    methods = [text(method, "id") for method in mappings(agent.hello, "authMethods")]
    if not methods:
        return Finding("absent", "it names none")
    return Finding("pass", ", ".join(methods), {"authMethods": methods})


def _is_frame(message: Any) -> bool:
    """Whether a line is a frame of JSON-RPC, or several."""
    if isinstance(message, list):
        return bool(message) and all(map(_is_frame, message))
    told = as_mapping(message)
    return ("id" in told and ("result" in told or "error" in told)) or bool(text(told, "method"))


def _names(value: Any, place: str = "") -> list[str]:
    """The capabilities in an object, by their paths: those that are true, or are objects."""
    found: list[str] = []
    for name, each in as_mapping(value).items():
        if name == "_meta":
            continue
        path = f"{place}.{name}" if place else name
        inner = _names(each, path) if isinstance(each, Mapping) else []
        found += inner or ([path] if each is True or isinstance(each, Mapping) else [])
    return found
