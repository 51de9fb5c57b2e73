"""The agent: where it is found, whether it starts, what it can do, and whether it is signed in.

It is asked for a session, which costs no tokens, and never prompted. No sign-in is begun.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..abilities import Capabilities
from ..acp.connection import Connection
from ..acp.handshake import PROTOCOL_VERSION
from ..acp.process import Launch
from ..agents.catalogue import HARNESS, HARNESS_VARIABLE, SERVER, places
from ..conversation.engine import Engine
from ..errors import AgentError, SettingsError
from ..events import Event
from ..settings import Settings
from .checks import Check
from .checksums import checksums

ANSWER = 10.0  # seconds for a session; an agent that opens a browser would wait for minutes
CLI_HOME = Path("~/.gemini/antigravity-cli")


def found(settings: Settings) -> list[Check]:
    """Each place where the agent was looked for, and what lies beside its program."""
    try:
        tried = places(settings.agent, settings.acp_bin)
    except SettingsError as error:
        return [Check("found", "fail", str(error))]
    working = next((place for place in tried if not place.wrong), None)
    checks = [
        Check("found", "ok", " at ".join(dict.fromkeys((place.label, place.path))))
        if place is working
        else Check("looked for", "info", f"{place.label}: {place.wrong or 'there, too'}")
        for place in tried
    ]
    if working is None:
        todo = "docs/install.md says how to install it; AGY_AGENT=simulator needs nothing."
        return [*checks, Check("found", "fail", f"{settings.agent} is in none of them", todo)]
    program = Path(shutil.which(working.path) or working.path)
    is_server = program.resolve().name == SERVER
    return [*checks, *(_harness(program) if is_server else ()), *checksums(program, is_server)]


def _harness(server: Path) -> Iterator[Check]:
    beside = server.resolve().parent / HARNESS
    path = Path(os.environ.get(HARNESS_VARIABLE) or beside)
    if path.is_file():
        yield Check("harness", "ok", str(path))
    else:
        todo = f"Unpack the server's whole archive into one folder, or set {HARNESS_VARIABLE}."
        yield Check("harness", "fail", f"there is no {path}, without which it does not work", todo)


async def started(launch: Launch, settings: Settings) -> list[Check]:
    """Start the agent, look at it, and end it.

    Args:
        launch: how to start it.
        settings: say how long it may take.
    """
    # With a method chosen and no token, Antigravity opens a browser when it is asked for a session.
    no_browser = {"BROWSER": shutil.which("true") or "true"}
    quiet = replace(launch, env={**launch.env, **no_browser})
    with tempfile.TemporaryDirectory(prefix="agy-doctor-") as folder:
        limit = settings.start_timeout
        agent = Connection(quiet, folder, _ignore, auth=settings.auth, start_timeout=limit)
        begin = time.monotonic()
        try:
            await agent.start()
        except AgentError as error:
            return [Check("starts", "fail", str(error))]
        try:
            seconds = f"in {time.monotonic() - begin:.1f} s"
            signed_in = await _signed_in(agent, folder)
            return [Check("starts", "ok", seconds), *described(agent), signed_in]
        finally:
            await agent.close()


def _ignore(_session_id: str, _event: Event) -> None:
    """Nothing that it says is shown."""


def described(engine: Engine) -> list[Check]:
    """What an agent that runs says of itself."""
    methods = ", ".join(method.id for method in engine.auth_methods) or "none"
    return [
        Check("agent", "info", f"{engine.info.label} {engine.info.version}".rstrip()),
        Check("protocol", "ok", f"Agent Client Protocol, version {PROTOCOL_VERSION}"),
        Check("capabilities", "info", _can(engine.capabilities)),
        Check("sign-in methods", "info", methods),
    ]


def _can(can: Capabilities) -> str:
    able = {
        "session/load": can.load_session,
        "images": can.image,
        "audio": can.audio,
        "embedded context": can.embedded_context,
        "MCP over http": can.mcp_http,
        "MCP over sse": can.mcp_sse,
        "logout": can.logout,
    }
    names = [name for name, has in able.items() if has]
    return ", ".join([*names, *(f"session/{name}" for name in sorted(can.sessions))]) or "none"


async def _signed_in(agent: Connection, folder: str) -> Check:
    name = "signed in"
    try:
        async with asyncio.timeout(ANSWER):
            is_signed_in = await agent.is_signed_in(folder)
    except TimeoutError:
        said = f"it opened no session within {ANSWER:g} s; it may wait for a sign-in in a browser"
        return Check(name, "warn", said, _how_to_sign_in(agent))
    except AgentError as error:
        return Check(name, "fail", f"it opened no session: {error}")
    if is_signed_in:
        return Check(name, "ok", "yes, it opens sessions")
    if method := agent.unattended_method:
        said = f"not yet: the first prompt signs in by {method}, which needs no person"
        return Check(name, "info", said)
    return Check(name, "fail", "no, it wants a sign-in first", _how_to_sign_in(agent))


def _how_to_sign_in(agent: Connection) -> str:
    methods = ", ".join(method.id for method in agent.auth_methods)
    said = "`%agy auth` in a notebook signs in." + (f" It offers: {methods}." if methods else "")
    if "antigravity" in agent.info.name and CLI_HOME.expanduser().is_dir():
        said += " The sign-in of the agy CLI is another one, and does not count here."
    return said
