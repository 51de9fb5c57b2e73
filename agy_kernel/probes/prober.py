"""Puts the probes of a suite to an agent, one after the other, in a notebook or without one."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from ..acp.privacy import Privacy
from ..acp.process import Launch
from ..acp.tape import private_file
from ..agents import catalogue
from ..configuration import Configuration
from ..context import own_folder
from ..conversation.thread import AgentThread
from ..errors import AgentError, AgyError, CommandError
from ..tapes.reading import TapeError
from .bridge import MakeBridge, echo_bridge
from .engines import ENGINES, EngineKind, find_engine
from .partner import Partner
from .probe import Finding, NotAsked, Probe, probes_of, suite_name
from .recording import ABOUT, told_of_run
from .result import Result
from .runs import Runs
from .show import Show, Shown
from .subject import Subject
from .suites import find_suite
from .verdicts import keep

log = logging.getLogger(__name__)

PROBE_SECONDS = 300.0


class Prober:
    """A suite of probes and the agent that they are put to.

    Args:
        suite: its module, or its name.
        agent: a name from the catalogue or a command line; the settings' where it is empty.
        out: a folder for the tape and the verdicts; nothing is kept where it is empty.
        live: whether prompts are sent, which may spend a model's quota; the simulator's and a
            replay's cost nothing, and are sent anyway.
        replay: a tape to be played in place of the agent.
        engine: how it is spoken to, for the suites that are about that (``SUBJECT = Partner``):
            a name, or a kind that is none of ours; the settings' where it is empty.
        bridge: starts a server with a tool, which such a suite lets the agent call; None for none.
        thresholds: others than the probes' own, by name.

    Raises:
        CommandError: there is no such suite, threshold or engine.
        AgentNotFound: the agent is not installed.
        AgyError: the folder cannot be written to, or the tape not be read.
    """

    def __init__(
        self,
        suite: ModuleType | str,
        agent: str = "",
        out: str | Path = "",
        live: bool = False,
        replay: str | Path = "",
        engine: EngineKind | str = "",
        bridge: MakeBridge | None = echo_bridge,
        **thresholds: float,
    ) -> None:
        self._suite = suite if isinstance(suite, ModuleType) else find_suite(suite)
        self.name = suite_name(self._suite)
        self._replay = Path(replay).expanduser() if replay else None
        before = _as_taped(self._replay) if self._replay else {}
        self._thresholds = {**before.get("thresholds", {}), **_known(self._suite, thresholds)}
        settings = Configuration(own_folder() / "settings.json").settings
        self.agent = str(before.get("agent", "replay")) if before else agent or settings.agent
        kind = _kind(before.get("engine", "acp") if before else engine or settings.engine)
        launch = Launch("replay", ()) if before else Launch(self.agent, (self.agent,))
        if kind.is_taped and not before:
            launch = catalogue.find(self.agent, settings.acp_bin)
        self.live = bool(before["live"]) if before else live or catalogue.is_simulator(launch)
        self._out = Path(out).expanduser() if out else None
        self._folder = Path(tempfile.mkdtemp(prefix="agy-probe-")).resolve()
        about = {
            "suite": self.name,
            "agent": self.agent,
            "live": self.live,
            "thresholds": self._thresholds,
        }
        if getattr(self._suite, "SUBJECT", Subject) is Partner:
            about["engine"] = kind.name
        places = (launch, self._folder, self._new_tape(), self._replay, about)
        self._subject: Runs = (
            Partner(*places, kind=kind, bridge=bridge, auth=settings.auth)
            if "engine" in about
            else Subject(*places)
        )
        self._show = Show(str(self._folder), Privacy.of_this_machine())
        self._thread = AgentThread()
        self._results: dict[str, Result] = {}

    @property
    def results(self) -> list[Result]:
        """What was found so far."""
        return list(self._results.values())

    def ask(self, probe: Probe) -> Shown:
        """Put a probe to the agent; what was found is shown, with the evidence.

        Whatever happens to the agent meanwhile is a finding too, and the next probe starts it anew.
        """
        asking = self._thread.submit(self._ask(probe))
        try:
            result = asking.result()
        except KeyboardInterrupt:
            asking.cancel()
            raise
        self._results[probe.name] = result
        self._keep()
        return Shown(self._show.result(result), result)

    def ask_all(self) -> list[Result]:
        """Put every probe of the suite to the agent."""
        for probe in probes_of(self._suite):
            self.ask(probe)
        return self.results

    def table(self) -> Shown:
        """All verdicts so far."""
        return Shown(self._show.table(self.results), self.results)

    def close(self) -> None:
        """End the agent, and remove the folder that it has worked in."""
        self._thread.submit(self._subject.stop()).result()
        self._thread.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __repr__(self) -> str:
        prompts = sum(probe.prompts for probe in probes_of(self._suite))
        if self._replay is not None:
            return f"The probes of {self.name!r}, put to the tape {self._replay.name}."
        words = f"The probes of {self.name!r}, put to {self.agent}. "
        if self.live:
            return f"{words}They send {prompts} prompts at most."
        return f"{words}Those that send prompts ({prompts} in all) are skipped: live is not set."

    # -- one probe

    async def _ask(self, probe: Probe) -> Result:
        limits = {name: self._thresholds.get(name, d) for name, d in probe.thresholds.items()}
        finding, evidence = await self._subject.probed(self._finding(probe, limits))
        return Result(probe, self._show.settled(finding), limits, evidence)

    async def _finding(self, probe: Probe, limits: Mapping[str, float]) -> Finding:
        if probe.prompts and not self.live:
            return Finding("skipped", f"it sends {probe.prompts} prompts, and live is not set")
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                return await probe.ask(self._subject, **limits)
        except (NotAsked, TapeError) as reason:
            return Finding("skipped", str(reason))
        except TimeoutError:
            return Finding("fail", f"no end within {PROBE_SECONDS:g} s")
        except AgentError as error:
            return Finding("fail", f"the agent broke off: {error}")
        except Exception as error:
            # An agent has sent what nobody has thought of: the other probes are put all the same.
            log.exception("the probe %s", probe.name)
            return Finding("skipped", f"the probe itself broke, please report it: {error!r}")

    # -- what is kept

    def _new_tape(self) -> Path | None:
        if self._out is None:
            return None
        try:
            self._out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AgyError(f"{self._out} cannot be made: {error.strerror}") from None
        path = self._out / f"{self.name}.jsonl"
        private_file(path, "wb").close()
        return path

    def _keep(self) -> None:
        if self._out is not None:
            keep(self._out, self.agent, self._subject.info, self.name, self.results)


def _kind(engine: EngineKind | str) -> EngineKind:
    return engine if isinstance(engine, EngineKind) else find_engine(engine)


def _known(suite: ModuleType, given: Mapping[str, float]) -> dict[str, float]:
    known = {name for probe in probes_of(suite) for name in probe.thresholds}
    for name in given:
        if name not in known:
            told = f"they have {', '.join(sorted(known))}" if known else "they have none"
            raise CommandError(f"{suite_name(suite)} has no threshold {name!r}: {told}")
    return dict(given)


def _as_taped(tape: Path) -> dict[str, Any]:
    with contextlib.suppress(LookupError):
        told = told_of_run(tape, 1).noted(ABOUT)
        if isinstance(told, dict):
            _see_that_it_plays(tape, str(told.get("engine", "acp")))
            return told
    raise TapeError(f"{tape} was not recorded by probes")


def _see_that_it_plays(tape: Path, engine: str) -> None:
    if engine not in ENGINES or not ENGINES[engine].is_taped:
        raise TapeError(f"{tape} holds no wire to be played: it is of the engine {engine!r}")
