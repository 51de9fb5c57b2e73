"""Puts the probes of a suite to an agent, one after the other, in a notebook or without one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from weakref import WeakValueDictionary

from ..acp.privacy import Privacy
from ..acp.tape import private_file
from ..conversation.thread import AgentThread
from ..errors import AgentError, AgyError
from ..tapes.reading import TapeError
from .aim import at_agent, at_tape, known
from .bridge import MakeBridge, echo_bridge
from .ends import in_a_line
from .engines import EngineKind
from .partner import Partner
from .probe import Finding, NotAsked, Probe, probes_of, suite_name
from .result import Result
from .runs import Runs, Stage
from .show import Show, Shown
from .subject import Subject
from .suites import find_suite
from .verdicts import keep

log = logging.getLogger(__name__)

PROBE_SECONDS = 300.0
OPEN: WeakValueDictionary[tuple[str, Path | None], Prober] = WeakValueDictionary()
"""The probers of this process, by suite and folder."""


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

    def __init__(  # what a notebook's first cell has, and two seams
        self,
        suite: ModuleType | str,
        agent: str = "",
        out: str | Path = "",
        live: bool = False,
        replay: str | Path = "",
        thresholds: Mapping[str, float] | None = None,
        *,
        engine: EngineKind | str = "",
        bridge: MakeBridge | None = echo_bridge,
    ) -> None:
        self._suite = suite if isinstance(suite, ModuleType) else find_suite(suite)
        self.name = suite_name(self._suite)
        limits = known(self._suite, thresholds or {})
        if replay:
            self._aim = at_tape(Path(replay).expanduser(), limits)
        else:
            self._aim = at_agent(agent, live, limits, engine)
        self._out = Path(out).expanduser() if out else None
        self._take_over()
        tape = self._new_tape()
        self._place = TemporaryDirectory(prefix="agy-probe-", ignore_cleanup_errors=True)
        self._folder = Path(self._place.name).resolve()
        self._subject = self._new_subject(tape, bridge)
        self._show = Show(str(self._folder), Privacy.of_this_machine())
        self._thread, self._turn = AgentThread(), asyncio.Lock()
        self._results: dict[str, Result] = {}

    def _take_over(self) -> None:
        """End the prober that this one takes the place of: a notebook's cell was run again."""
        key = self.name, self._out
        if (earlier := OPEN.get(key)) is not None:
            earlier.close()
        OPEN[key] = self

    def _new_subject(self, tape: Path | None, bridge: MakeBridge | None) -> Runs:
        aim = self._aim
        about = {
            "suite": self.name,
            "agent": aim.agent,
            "live": aim.live,
            "thresholds": dict(aim.thresholds),
        }
        stage = Stage(aim.launch, self._folder, tape, aim.replay, about)
        if getattr(self._suite, "SUBJECT", Subject) is Subject:
            return Subject(stage)
        about["engine"] = aim.kind.name
        return Partner(stage, kind=aim.kind, bridge=bridge)

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
        try:
            self._thread.submit(self._stop()).result()
        finally:
            self._thread.close()
            self._place.cleanup()

    async def _stop(self) -> None:
        async with self._turn:
            await self._subject.stop()

    def __enter__(self) -> Prober:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        prompts = sum(probe.prompts for probe in probes_of(self._suite))
        if self._aim.replay is not None:
            return f"The probes of {self.name!r}, put to the tape {self._aim.replay.name}."
        words = f"The probes of {self.name!r}, put to {self._aim.agent}. "
        if self._aim.live:
            return f"{words}They send {prompts} prompts at most."
        return f"{words}Those that send prompts ({prompts} in all) are skipped: live is not set."

    # -- one probe

    async def _ask(self, probe: Probe) -> Result:
        limits = {n: self._aim.thresholds.get(n, d) for n, d in probe.thresholds.items()}
        async with self._turn:  # one that was interrupted is still being put away
            finding, evidence = await self._subject.probed(self._finding(probe, limits))
        return Result(probe, self._show.settled(finding), limits, evidence)

    async def _finding(self, probe: Probe, limits: Mapping[str, float]) -> Finding:
        if probe.prompts and not self._aim.live:
            return Finding("skipped", f"it sends {probe.prompts} prompts, and live is not set")
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                return await probe.ask(self._subject, **limits)
        except (NotAsked, TapeError) as reason:
            return Finding("skipped", str(reason))
        except TimeoutError:
            return Finding("fail", f"no end within {PROBE_SECONDS:g} s")
        except AgentError as error:
            return Finding("fail", f"the agent broke off: {in_a_line(error)}")
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
            keep(self._out, self._aim.agent, self._subject.info, self.name, self.results)
