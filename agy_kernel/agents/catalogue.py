"""How each known agent is started; and any other, by its command line."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from ..acp.process import Launch
from ..errors import AgentNotFound, SettingsError

SERVER = "agy_acp_server.par"
SERVER_HOME = Path("~/.local/opt/agy-acp/current") / SERVER
CLI_HOMES = ("~/.local/bin/agy", "~/.gemini/bin/agy")
HARNESS = "localharness_external"
HARNESS_VARIABLE = "ANTIGRAVITY_HARNESS_PATH"


def find(agent: str, acp_bin: Path | None = None) -> Launch:
    """How to start an agent.

    Args:
        agent: a name from the catalogue, or a command line.
        acp_bin: where Google's server is, if the user said.

    Raises:
        AgentNotFound: it is not installed; names every place that was tried.
        SettingsError: it is neither a known name nor a command.
    """
    if maker := CATALOGUE.get(agent):
        return maker(acp_bin)
    try:
        argv = shlex.split(agent)
    except ValueError as error:
        raise SettingsError(f"AGY_AGENT={agent!r} is not a command line: {error}.") from None
    if not argv or (len(argv) == 1 and shutil.which(argv[0]) is None):
        raise SettingsError(
            f"AGY_AGENT={agent!r} is neither a known agent ({', '.join(CATALOGUE)}) "
            "nor a program that can be found."
        )
    return Launch(Path(argv[0]).name, tuple(argv))


def _antigravity(acp_bin: Path | None) -> Launch:
    """Google's server: ``AGY_ACP_BIN``, PATH, its usual home, then ``agy acp`` (CLI >= 1.4.12)."""
    server, tried = _first(_server_places(acp_bin))
    if server:
        return Launch("antigravity", (server, *_server_flags()), _harness(Path(server)))
    agy, tried_agy = _first(_cli_places())
    if agy:
        return Launch("antigravity", (agy, "acp"))
    places = "\n".join(f"  {place}" for place in tried + tried_agy)
    raise AgentNotFound(
        f"Antigravity's ACP server was not found. These places were tried:\n{places}\n"
        "Install it (docs/install.md says how), or set AGY_ACP_BIN to where it is and restart the "
        "kernel. AGY_AGENT=simulator needs no installation and no account; "
        "AGY_AGENT can also name another agent or its command line."
    )


def _agy(_: Path | None) -> Launch:
    agy, tried = _first(_cli_places())
    if agy is None:
        raise AgentNotFound("Antigravity's CLI was not found. Tried: " + ", ".join(tried))
    return Launch("agy", (agy, "acp"))


def _server_places(acp_bin: Path | None) -> list[tuple[str, str | None]]:
    home = SERVER_HOME.expanduser()
    return [
        (f"AGY_ACP_BIN ({acp_bin or 'not set'})", _executable(acp_bin) if acp_bin else None),
        (f"{SERVER} on PATH", shutil.which(SERVER)),
        (str(SERVER_HOME), _executable(home)),
    ]


def _cli_places() -> list[tuple[str, str | None]]:
    homes = [(f"{home} acp", _executable(Path(home).expanduser())) for home in CLI_HOMES]
    return [("agy acp on PATH", shutil.which("agy")), *homes]


def _first(places: list[tuple[str, str | None]]) -> tuple[str | None, list[str]]:
    found = next((path for _, path in places if path), None)
    return found, [label for label, _ in places]


def _executable(path: Path) -> str | None:
    return str(path) if path.is_file() and os.access(path, os.X_OK) else None


def _server_flags() -> tuple[str, ...]:
    # Without it, the server aborts on Linux hosts that have no group "nobody".
    return ("--uid=",) if sys.platform == "linux" else ()


def _harness(server: Path) -> dict[str, str]:
    """The server looks for its harness beside itself; a link to it alone is not enough."""
    beside = server.resolve().parent / HARNESS
    if HARNESS_VARIABLE in os.environ or not beside.is_file():
        return {}
    return {HARNESS_VARIABLE: str(beside)}


def _npm(
    package: str, name: str, command: str, auth: Auth | None = None, sign_in: str = ""
) -> Maker:
    """An agent that a package of npm installs.

    Args:
        package: its name on npm.
        name: as in ``CATALOGUE``.
        command: what starts the agent; its first word is looked for on PATH.
        auth: as in ``Launch``.
        sign_in: as in ``Launch``.
    """

    def make(_: Path | None) -> Launch:
        program, *arguments = command.split()
        path = shutil.which(program)
        if path is None:
            raise AgentNotFound(
                f"there is no {program} on PATH, which is what starts the agent {name!r}. "
                f"Install it (npm install --global {package}), "
                "or put its whole command line into AGY_AGENT."
            )
        return Launch(name, (path, *arguments), auth=auth or {}, sign_in=sign_in)

    return make


def _simulator(_: Path | None) -> Launch:
    return Launch("simulator", (sys.executable, "-m", "agy_kernel.agents.simulator"))


Maker = Callable[[Path | None], Launch]
Auth = Mapping[str, tuple[str, ...]]

CATALOGUE: dict[str, Maker] = {
    "antigravity": _antigravity,
    "agy": _agy,
    "gemini": _npm(
        "@google/gemini-cli",
        "gemini",
        "gemini --acp",
        auth={"gemini-api-key": ("GEMINI_API_KEY",)},
    ),
    "codex": _npm("@zed-industries/codex-acp", "codex", "codex-acp"),
    "claude": _npm(
        "@agentclientprotocol/claude-agent-acp",
        "claude",
        "claude-agent-acp",
        # It names no way to a client that has no terminal to offer.
        sign_in="Run `claude-agent-acp --cli auth login` in a terminal, or set ANTHROPIC_API_KEY.",
    ),
    "opencode": _npm("opencode-ai", "opencode", "opencode acp"),
    "simulator": _simulator,
}
