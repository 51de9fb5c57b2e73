"""How each known agent is started; and any other, by its command line."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..acp.process import Launch
from ..acp.programs import fault
from ..errors import AgentNotFound, SettingsError
from .hints import hint

SIMULATOR = "agy_kernel.agents.simulator"
SERVER = "agy_acp_server.par"
SERVER_HOME = Path("~/.local/opt/agy-acp/current") / SERVER
CLI_HOMES = ("~/.local/bin/agy", "~/.gemini/bin/agy")
CLI = ("acp",)
HARNESS = "localharness_external"
HARNESS_VARIABLE = "ANTIGRAVITY_HARNESS_PATH"
SIGN_IN = (
    "Its method is `auth.type` in antigravity-acp/settings.json (in GEMINI_HOME, else ~/.gemini), "
    "which `%agy auth METHOD` can write. The login of the agy CLI is another one."
)


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere that an agent is looked for.

    Args:
        label: how a person would name it.
        path: the program there.
        wrong: why it is not started; empty where it can be.
        arguments: what makes an agent of it.
    """

    label: str
    path: str
    wrong: str = ""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Npm:
    """An agent that a package of npm installs.

    Args:
        package: its name on npm.
        command: what starts the agent; its first word is looked for on PATH.
        auth: as in ``Launch``.
        sign_in: as in ``Launch``.
    """

    package: str
    command: str
    auth: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sign_in: str = ""


def find(agent: str, acp_bin: Path | None = None) -> Launch:
    """How to start an agent.

    Args:
        agent: a name from the catalogue, or a command line.
        acp_bin: where Google's server is, if the user said.

    Raises:
        AgentNotFound: it is not installed; names every place that was tried.
        SettingsError: it is neither a known name nor a command.
    """
    maker = CATALOGUE.get(agent)
    launch = maker(acp_bin) if maker is not None else _other(agent)
    return replace(launch, hint=hint)


def places(agent: str, acp_bin: Path | None = None) -> list[Place]:
    """Where an agent is looked for, in this order; the first one without a fault is started.

    Args:
        agent: as for ``find``.
        acp_bin: as for ``find``.

    Raises:
        SettingsError: as for ``find``.
    """
    if agent == "antigravity":
        return _antigravity_places(acp_bin)
    if agent == "agy":
        return _cli_places()
    if agent == "simulator":
        return [Place("the simulator, a part of agy-kernel", sys.executable)]
    if agent in NPM:
        return [_on_path(NPM[agent].command.split()[0])]
    return [_at(program := _words(agent)[0], shutil.which(program) or program)]


def is_simulator(launch: Launch) -> bool:
    """Whether it is our own simulator that is started, whose prompts cost nothing."""
    words = [Path(launch.argv[0]).name, *launch.argv[1:]]
    ways = (["-m", SIMULATOR], ["-m", "agy_kernel.cli", "simulate"])
    return words[:2] == ["agy-kernel", "simulate"] or any(words[1 : len(w) + 1] == w for w in ways)


# -- Antigravity


def _antigravity(acp_bin: Path | None) -> Launch:
    """Google's server: ``AGY_ACP_BIN``, PATH, its usual home, then ``agy acp`` (CLI >= 1.4.12)."""
    tried = _antigravity_places(acp_bin)
    place = _first(tried)
    if place is not None:
        harness = {} if place.arguments == CLI else _harness(Path(place.path))
        argv = (place.path, *place.arguments)
        return Launch("antigravity", argv, harness, sign_in=SIGN_IN)
    lines = "\n".join(f"  {place.label}: {place.wrong}" for place in tried)
    raise AgentNotFound(
        f"Antigravity's ACP server was not found. These places were tried:\n{lines}\n"
        "Install it (docs/install.md says how), or set AGY_ACP_BIN to where it is and restart the "
        "kernel. AGY_AGENT=simulator needs no installation and no account; "
        "AGY_AGENT can also name another agent or its command line."
    )


def _agy(_: Path | None) -> Launch:
    tried = _cli_places()
    if place := _first(tried):
        return Launch("agy", (place.path, *CLI))
    lines = "; ".join(f"{place.label} ({place.wrong})" for place in tried)
    raise AgentNotFound(f"Antigravity's CLI was not found. Tried: {lines}.")


def _antigravity_places(acp_bin: Path | None) -> list[Place]:
    home = _at(str(SERVER_HOME), str(SERVER_HOME.expanduser()), _server_flags())
    others = [_on_path(SERVER, _server_flags()), home, *_cli_places()]
    if acp_bin is None:
        return [Place("AGY_ACP_BIN", "", "not set"), *others]
    named = _at(f"AGY_ACP_BIN ({acp_bin})", str(acp_bin), _server_flags())
    # To start another one than the one that was named would be a surprise.
    passed_over = (replace(p, wrong=p.wrong or "passed over: AGY_ACP_BIN is set") for p in others)
    return [named, *passed_over]


def _cli_places() -> list[Place]:
    homes = [_at(f"{home} acp", str(Path(home).expanduser()), CLI) for home in CLI_HOMES]
    return [replace(_on_path("agy", CLI), label="agy acp on PATH"), *homes]


def _on_path(program: str, arguments: tuple[str, ...] = ()) -> Place:
    label, path = f"{program} on PATH", shutil.which(program)
    return _at(label, path, arguments) if path else Place(label, "", "not there")


def _at(label: str, path: str, arguments: tuple[str, ...] = ()) -> Place:
    return Place(label, path, fault(path), arguments)


def _first(tried: list[Place]) -> Place | None:
    return next((place for place in tried if not place.wrong), None)


def _server_flags() -> tuple[str, ...]:
    # Without it, the server aborts on Linux hosts that have no group "nobody".
    return ("--uid=",) if sys.platform == "linux" else ()


def _harness(server: Path) -> dict[str, str]:
    """The server looks for its harness beside itself; a link to it alone is not enough."""
    beside = server.resolve().parent / HARNESS
    if HARNESS_VARIABLE in os.environ or not beside.is_file():
        return {}
    return {HARNESS_VARIABLE: str(beside)}


# -- the others


def _npm(name: str) -> Maker:
    def make(_: Path | None) -> Launch:
        agent = NPM[name]
        program, *arguments = agent.command.split()
        path = shutil.which(program)
        if path is None:
            raise AgentNotFound(
                f"there is no {program} on PATH, which is what starts the agent {name!r}. "
                f"Install it (npm install --global {agent.package}), "
                "or put its whole command line into AGY_AGENT."
            )
        return Launch(name, (path, *arguments), auth=agent.auth, sign_in=agent.sign_in)

    return make


def _simulator(_: Path | None) -> Launch:
    return Launch("simulator", (sys.executable, "-m", SIMULATOR))


def _other(agent: str) -> Launch:
    argv = _words(agent)
    program = argv[0]
    if len(argv) == 1 and os.sep in program and (wrong := fault(program)):
        raise AgentNotFound(f"{program} {wrong}. AGY_AGENT names it as the agent to start.")
    return Launch(Path(program).name, tuple(argv))


def _words(agent: str) -> list[str]:
    try:
        words = shlex.split(agent)
    except ValueError as error:
        raise SettingsError(f"the agent {agent!r} is not a command line: {error}.") from None
    if not words or (len(words) == 1 and os.sep not in agent and shutil.which(words[0]) is None):
        raise SettingsError(
            f"the agent {agent!r} is neither a known one ({', '.join(CATALOGUE)}) "
            "nor a program that can be found."
        )
    return words


Maker = Callable[[Path | None], Launch]

NPM: dict[str, Npm] = {
    "gemini": Npm(
        "@google/gemini-cli", "gemini --acp", auth={"gemini-api-key": ("GEMINI_API_KEY",)}
    ),
    "codex": Npm("@zed-industries/codex-acp", "codex-acp"),
    "claude": Npm(
        "@agentclientprotocol/claude-agent-acp",
        "claude-agent-acp",
        # It names no way to a client that has no terminal to offer.
        sign_in="Run `claude-agent-acp --cli auth login` in a terminal, or set ANTHROPIC_API_KEY.",
    ),
    "opencode": Npm("opencode-ai", "opencode acp"),
}
CATALOGUE: dict[str, Maker] = {
    "antigravity": _antigravity,
    "agy": _agy,
    **{name: _npm(name) for name in NPM},
    "simulator": _simulator,
}
