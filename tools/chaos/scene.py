"""One act, played: a cell, cells behind it, and what goes wrong."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.support.kernels import Kernel, sim
from tests.support.notebook import Cell
from tests.support.processes import agents_of, watchdogs_of

from .faults import FAULTS, SHORT, Step
from .plan import Act
from .wire import Wire
from .words import letters, shown, words

STOP_WITHIN = 5.0  # seconds from Stop to the end of the cell, whatever the agent does
END_WITHIN = 30.0  # seconds in which everything else happens, on a busy machine
PYTHON = sys.executable
CALL = {"toolCallId": "call", "title": "Read it", "kind": "read"}
BETWEEN: dict[str, tuple[Step, ...]] = {
    "": (),
    "tool": ({"tool": CALL}, {"tool": {**CALL, "status": "completed"}}),
    "thought": ({"thought": "Let me see. "},),
}
PRESS: dict[str, Callable[[Kernel], None]] = {
    "request": Kernel.interrupt,
    "process": lambda kernel: os.kill(kernel.pid, signal.SIGINT),
    "group": lambda kernel: os.killpg(kernel.pid, signal.SIGINT),
}


@dataclass
class Stage:
    """What all runs share.

    Args:
        kernel: the kernel.
        order: the file that tells its agent how to open an earlier session.
        mark: what stands before a prompt.
        wire: what comes and goes.
    """

    kernel: Kernel
    order: Path
    mark: str = ""
    wire: Wire = field(init=False)
    said: int = 0
    """Words so far: each is said once."""
    ended: list[int] = field(default_factory=list)
    """The processes of kernels that were restarted."""

    def __post_init__(self) -> None:
        self.wire = Wire(self.kernel.folder / "tape.jsonl")

    def restart(self) -> None:
        """Restart the kernel, as Jupyter does."""
        self.ended.append(self.kernel.pid)
        self.kernel.restart()
        self.prepare()

    def prepare(self) -> None:
        """Do what comes before the first prompt."""
        if self.mark:
            self.kernel.run("%load_ext agy_kernel")

    def agents(self) -> set[int]:
        """The agent, and an earlier one that is just ending; without what they have started."""
        return {pid for pid in self.kernel.agents if parent(pid) == self.kernel.pid}

    def processes(self) -> tuple[set[int], set[int]]:
        """What agents there are, with all that they started, and their watchdogs."""
        kernels = (self.kernel.pid, *self.ended)
        return set().union(*map(agents_of, kernels)), set().union(*map(watchdogs_of, kernels))

    def words(self, count: int) -> str:
        """Words that were never said before."""
        self.said += count
        return words(self.said - count, count)


@dataclass(frozen=True)
class Played:
    """A cell that was sent: its code, and whether its kernel was restarted before its end."""

    code: str
    cell: Cell
    was_cut: bool = False


class Scene:
    """Plays an act.

    Args:
        stage: where.
        act: which.
    """

    def __init__(self, stage: Stage, act: Act) -> None:
        self.act, self._stage, self._kernel = act, stage, stage.kernel
        self._fault = FAULTS[act.fault]
        self._cell: Cell
        self._code = self._text = self._late = ""
        self._typed = 0
        self._is_cut = False
        self.stopped_in: float | None = None

    def play(self) -> list[Played]:
        """Play it, and wait until all its cells have ended; returns them, the main one first.

        Raises:
            TimeoutError: something hangs.
        """
        if self._fault.order:
            self._end_agent_with_order()
        self._code = self._main()
        cells = [(code, self._send(code)) for code in (self._code, *self._behind())]
        self._cell = cells[0][1]
        self._begin()
        self.listen(self.act.delay)
        self._fault.strike(self)
        if not self._is_cut:
            self._finish(cell for _, cell in cells)
        if self._cell.status == "ok":
            self._kernel.wait(self._has_said_all, "what is said late", END_WITHIN)
        return [Played(code, cell, self._is_cut) for code, cell in cells]

    def _has_said_all(self) -> bool:
        text = self._stage.wire.heard()[self._code].text
        return text.endswith(letters(self._late)) or not self.agents()

    # -- cells

    def _main(self) -> str:
        self._text = self._stage.words(self.act.before)
        steps = [*self._fault.first, {"text": self._text}, *BETWEEN[self.act.between]]
        if self.act.asks:
            steps.append({"ask": {}})
        steps.append({"text": self._stage.words(self.act.after)})
        self._late = self._stage.words(self.act.late)
        steps.append({"late": [{"text": self._late}]})
        return sim(*steps, *(self._fault.steps if not self._may_miss else (SHORT,)))

    @property
    def _may_miss(self) -> bool:
        return self.act.is_early and self._fault.may_miss

    @property
    def may_go_well(self) -> bool:
        """Whether the turn may end as if nothing had been."""
        return self._fault.may_go_well or self._may_miss

    def _behind(self) -> Iterator[str]:
        for what in self.act.behind:
            yield sim({"text": self._stage.words(5)}) if what == "prompt" else what

    def _send(self, code: str) -> Cell:
        cell = code if code.startswith("%") else self._stage.mark + code
        send = self._kernel.send
        return send(cell, allow_stdin=True, cell_id="cell", stop_on_error=self.act.aborts)

    def _finish(self, cells: Iterable[Cell]) -> None:
        for cell in cells:
            self._kernel.wait(partial(self._has_ended, cell), "the end of a cell", END_WITHIN)

    def _has_ended(self, cell: Cell) -> bool:
        """Whether it has; a question of it is answered meanwhile."""
        if self._kernel.shows_widgets:
            for question in self._kernel.notebook.questions(cell):
                self._kernel.click(question, "Allow")
        elif len(cell.asked) > self._typed:
            self._typed += 1
            self._kernel.type("1")
        return bool(cell.reply) and cell.idle

    # -- the moment

    def _begin(self) -> None:
        if self.act.is_early or self._fault.order:
            # What is pressed before a cell runs is nothing to it.
            begun = partial(has_begun, self._cell)
            self._kernel.wait(begun, "the beginning of the cell", END_WITHIN)
        else:
            self.reach_the_moment()

    def reach_the_moment(self) -> None:
        """All words were said, or the question is open, or it is over already."""

        def come() -> bool:
            if self._cell.reply:
                return True
            if self.act.asks:
                asked = self._kernel.notebook.questions(self._cell)
                return bool(asked if self._kernel.shows_widgets else self._cell.asked)
            said = len(shown(self._cell)) >= len(letters(self._text))
            return said and self._stage.wire.has_sent(self._code)

        self._kernel.wait(come, "the moment", END_WITHIN)

    def _end_agent_with_order(self) -> None:
        """The next agent has to open the session, and does what it is told instead."""
        self._stage.order.write_text(self._fault.order)
        self.signal(signal.SIGKILL)

    def until_opening(self) -> None:
        """Wait until the agent was asked to open its session."""

        def asked() -> bool:
            return bool(self._cell.reply) or not self._stage.order.read_text()

        self._kernel.wait(asked, "the opening", END_WITHIN)

    # -- what is done

    def agents(self) -> set[int]:
        """The agent, and an earlier one that is just ending."""
        return self._stage.agents()

    def signal(self, number: signal.Signals, pids: set[int] | None = None) -> set[int]:
        """Send a signal to the agent; returns the processes that got it."""
        reached = self.agents() if pids is None else pids
        for pid in reached:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        if number == signal.SIGKILL:
            self._kernel.wait(lambda: not reached & self.agents(), "their end", END_WITHIN)
        return reached

    def listen(self, seconds: float) -> None:
        """Take what comes for a while."""
        end = time.monotonic() + seconds
        self._kernel.wait(lambda: time.monotonic() >= end, "the end of a pause")

    def press_stop(self) -> None:
        """Press Stop."""
        PRESS[self.act.stop](self._kernel)

    def stop(self) -> None:
        """Press Stop, and measure how long the cell takes to end."""
        if self._cell.reply:
            return
        begin = time.monotonic()
        self.press_stop()
        self._kernel.wait(lambda: bool(self._cell.reply), "the end after Stop", END_WITHIN)
        self.stopped_in = self._cell.replied - begin

    def restart_kernel(self) -> None:
        """Restart the kernel, in the middle of the cell."""
        self._stage.restart()
        self._is_cut = True


def parent(pid: int) -> int:
    """The parent of a process; 0 where there is none any more."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def has_begun(cell: Cell) -> bool:
    """Whether the kernel has begun to run a cell."""
    return any(message.type == "execute_input" for message in cell.messages)
