"""What a suite is put to: an agent that was asked for, or a tape that has answered before."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ..acp.privacy import Privacy
from ..acp.process import Launch
from ..agents import catalogue
from ..configuration import Configuration
from ..context import own_folder
from ..errors import CommandError
from ..tapes.reading import TapeError
from .engines import ENGINES, EngineKind, find_engine
from .probe import suite_name, thresholds_of
from .recording import taped_about


@dataclass(frozen=True, slots=True)
class Aim:
    """What a suite is put to.

    Args:
        agent: as the person named it, less what is private.
        launch: how it is started.
        live: whether prompts are sent.
        thresholds: others than the probes' own, by name.
        kind: how it is spoken to, for the suites that are about that.
        replay: the tape that is played in its place.
    """

    agent: str
    launch: Launch
    live: bool
    thresholds: Mapping[str, float]
    kind: EngineKind
    replay: Path | None = None


def at_agent(
    agent: str, live: bool, thresholds: Mapping[str, float], engine: EngineKind | str
) -> Aim:
    """An agent; the settings' where none is named.

    Raises:
        CommandError: there is no such engine.
        AgentNotFound: the agent is not installed.
    """
    settings = Configuration(own_folder() / "settings.json").settings
    agent = agent or settings.agent
    kind = engine if isinstance(engine, EngineKind) else find_engine(engine or settings.engine)
    launch = Launch(agent, (agent,))
    if kind.is_taped:
        launch = catalogue.find(agent, settings.acp_bin)
    is_free = catalogue.is_simulator(launch)
    return Aim(shown(agent), launch, live or is_free, thresholds, kind)


def at_tape(tape: Path, thresholds: Mapping[str, float]) -> Aim:
    """A tape, which tells what it was recorded with.

    Raises:
        TapeError: it cannot be used, was not recorded by probes, or has no wire to be played.
    """
    told = {} if _is_empty(tape) else taped_about(tape)
    if told is None:
        raise TapeError(f"{tape} was not recorded by probes")
    engine = str(told.get("engine", "acp"))
    if engine not in ENGINES or not ENGINES[engine].is_taped:
        raise TapeError(f"{tape} holds no wire to be played: it is of the engine {engine!r}")
    return Aim(
        str(told.get("agent", "replay")),
        Launch("replay", ()),
        told.get("live") is True,
        {**_numbers(told.get("thresholds")), **thresholds},
        ENGINES[engine],
        replay=tape,
    )


def known(suite: ModuleType, given: Mapping[str, float]) -> Mapping[str, float]:
    """Thresholds that were given, each of which a suite has.

    Raises:
        CommandError: it has not.
    """
    names = thresholds_of(suite)
    for name in given:
        if name not in names:
            told = f"they have {', '.join(sorted(names))}" if names else "they have none"
            raise CommandError(f"{suite_name(suite)} has no threshold {name!r}: {told}")
    return given


def shown(agent: str) -> str:
    """A command line less what is private, for tapes, verdicts and reports."""
    privacy = Privacy.of_this_machine()
    try:
        return shlex.join(privacy.command(shlex.split(agent)))
    except ValueError:
        return privacy.text(agent)


def _is_empty(tape: Path) -> bool:
    """Whether nothing was sent when it was recorded: every probe was skipped."""
    return tape.is_file() and not tape.stat().st_size


def _numbers(value: Any) -> dict[str, float]:
    found = value if isinstance(value, dict) else {}
    return {name: each for name, each in found.items() if isinstance(each, int | float)}
