"""A run: the acts of a seed, and what must hold after each of them and at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.kernels import Kernel, sim
from tests.support.processes import happens_within

from .agent import ORDER
from .plan import Act, plan
from .scene import END_WITHIN, PYTHON, STOP_WITHIN, Played, Scene, Stage
from .wire import Heard
from .words import common, letters, shown

AGENT = Path(__file__).with_name("agent.py")
SOON = 3.0  # seconds until what came over the wire is shown
MARKS = {"antigravity": "", "python3": "%%agy\n"}
"""The kernels that one can talk to an agent in, and what stands before a prompt there."""
GONE_WITHIN = 5.0  # seconds until nothing of an agent is left


@dataclass
class Tally:
    """What runs came to.

    Args:
        faults: how often each was met.
    """

    seeds: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    hangs: int = 0
    orphans: int = 0
    lost: int = 0
    letters: int = 0
    questions: int = 0
    replies_amiss: int = 0
    stops: list[float] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    """What did not hold, in words that begin with the seed."""


@contextmanager
def stage(folder: Path, name: str = "antigravity") -> Iterator[Stage]:
    """A kernel for many runs, which has had a turn already.

    Args:
        folder: an empty folder for all that is written.
        name: which kernel.
    """
    folder.mkdir(exist_ok=True)
    order, notebook = folder / "order", folder / "chaos.ipynb"
    order.write_text("")
    notebook.touch()
    agent = f"{PYTHON} -P {AGENT} --chunk-delay 0.002"
    env = {ORDER: str(order), "JPY_SESSION_NAME": str(notebook)}
    with Kernel(folder / "kernel", agent, env, name) as kernel:
        # Questions come as buttons in the one, and as a line to type in the other.
        kernel.shows_widgets = name == "antigravity"
        stage = Stage(kernel, order, MARKS[name])
        stage.prepare()
        first = kernel.run(stage.mark + sim({"text": stage.words(3)}))
        assert first.status == "ok", kernel.account()
        yield stage


class Run:
    """One run.

    Args:
        stage: where.
        seed: what it is made from.
        tally: what it adds to.
    """

    def __init__(self, stage: Stage, seed: int, tally: Tally) -> None:
        self._stage, self._kernel, self._seed, self._tally = stage, stage.kernel, seed, tally
        self._act: Act | None = None

    def go(self) -> None:
        """Play every act, then see that the next cell works and nothing is left."""
        self._tally.seeds += 1
        self._stage.order.write_text("")
        for act in plan(self._seed):
            self._act = act
            self._tally.faults[act.fault] += 1
            self._stage.wire.forget()
            self._play(act)
        self._see_that_the_next_cell_works()
        self._see_that_nothing_is_left()

    def _play(self, act: Act) -> None:
        scene = Scene(self._stage, act)
        try:
            played = scene.play()
        except TimeoutError as error:
            self._hangs(str(error))
            return
        if scene.stopped_in is not None:
            self._stopped(scene.stopped_in)
        self._see_that_nothing_is_lost(played)
        self._see_that_each_question_is_answered_once()
        if played[0].cell.status == "ok" and not scene.may_go_well:
            self._trouble(f"the cell went well: {played[0].cell.text[-500:]}")

    def _hangs(self, account: str) -> None:
        self._tally.hangs += 1
        self._trouble(f"hangs: {account}")
        self._stage.restart()

    # -- what must hold

    def _stopped(self, seconds: float) -> None:
        self._tally.stops.append(seconds)
        if seconds > STOP_WITHIN:
            self._tally.hangs += 1
            self._trouble(f"Stop took {seconds:.1f} s")

    def _see_that_nothing_is_lost(self, played: list[Played]) -> None:
        with suppress(TimeoutError):
            self._kernel.wait(lambda: self._shows_all(played), "what is still on its way", SOON)
        heard = self._stage.wire.heard()
        for one in played:
            if (received := heard.get(one.code)) is not None:
                self._tally.turns += 1
                self._tally.letters += len(received.text)
                self._compare(received, one)

    def _shows_all(self, played: list[Played]) -> bool:
        heard = self._stage.wire.heard()
        return all(len(shown(one.cell)) >= _due(heard[one.code], one) for one in played)

    def _compare(self, received: Heard, one: Played) -> None:
        seen = shown(one.cell)
        same = common(seen, received.text)
        due = _due(received, one)
        if lost := max(due - same, 0):
            self._tally.lost += lost
            self._trouble(f"{lost} of {due} letters are lost, of {one.code[:200]}")
        if same < len(seen):
            self._trouble(f"{len(seen) - same} letters are shown that never came, or elsewhere")

    def _see_that_each_question_is_answered_once(self) -> None:
        for replies, is_of_the_last in self._stage.wire.replies():
            self._tally.questions += 1
            if replies > 1 or (replies == 0 and is_of_the_last and self._stage.agents()):
                self._tally.replies_amiss += 1
                self._trouble(f"{replies} replies to a question")

    def _see_that_the_next_cell_works(self) -> None:
        said = self._stage.words(20)
        self._stage.wire.forget()
        try:
            cell = self._kernel.run(self._stage.mark + sim({"text": said}), END_WITHIN)
        except TimeoutError as error:
            self._hangs(str(error))
            return
        self._tally.turns += 1
        self._tally.letters += len(letters(said))
        if cell.status != "ok" or shown(cell) != letters(said):
            self._trouble(f"the next cell does not work: {self._kernel.account()}")

    def _see_that_nothing_is_left(self) -> None:
        def one_of_each() -> bool:
            return [len(some) for some in self._stage.processes()] == [1, 1]

        if not happens_within(GONE_WITHIN, one_of_each):
            agents, watchdogs = self._stage.processes()
            self._tally.orphans += max(len(agents | watchdogs) - 2, 1)
            self._trouble(f"there are the agents {agents} and the watchdogs {watchdogs}")

    def _trouble(self, what: str) -> None:
        self._tally.troubles.append(f"seed {self._seed}, {self._act}: {what}")


def _due(received: Heard, one: Played) -> int:
    """How many letters a cell must show: what an agent says after Stop may go unheard."""
    if one.was_cut:
        return 0
    if received.before_stop is not None and not received.ended:
        return received.before_stop
    return len(received.text)
