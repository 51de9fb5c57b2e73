"""What goes wrong: what the agent is told to do, and what is done to it from outside."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .scene import Scene

Step = dict[str, Any]
Strike = Callable[["Scene"], None]
HOLD: Step = {"wait": None}
SHORT: Step = {"wait": 1.0}


@dataclass(frozen=True, slots=True)
class Fault:
    """A way to fail.

    Args:
        what: in words, for the table.
        strike: does it, once the moment has come.
        steps: what the agent does after it has said its words.
        first: what it does before it says any.
        is_close: whether Stop may come at the very end of the cell. In a Python kernel that can
            cost the cell its reply, whatever the cell does: there it is left out, as is Stop at
            the very beginning.
        is_within: whether the steps are what is wrong, so that no words come before them which
            would be said after the moment.
        may_go_well: whether the turn may end as if nothing had been.
        may_miss: whether it may miss the agent where it comes early, and so need not end the turn.
        order: what the agent does instead of opening an earlier session; it is ended before.
    """

    what: str
    strike: Strike
    steps: Sequence[Step] = (HOLD,)
    first: Sequence[Step] = ()
    is_close: bool = False
    is_within: bool = False
    may_go_well: bool = False
    may_miss: bool = False
    order: str = ""


def _nothing(_: Scene) -> None:
    pass


def _kill(scene: Scene) -> None:
    scene.signal(signal.SIGKILL)


def _kill_group(scene: Scene) -> None:
    for pid in scene.agents():
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _terminate(scene: Scene) -> None:
    scene.signal(signal.SIGTERM)


def _stop(scene: Scene) -> None:
    scene.stop()


def _stop_twice(scene: Scene) -> None:
    scene.press_stop()
    scene.listen(scene.act.pause)
    scene.stop()


def _freeze(scene: Scene) -> None:
    frozen = scene.signal(signal.SIGSTOP)
    scene.listen(scene.act.pause)
    scene.stop()
    scene.signal(signal.SIGCONT, frozen)


def _thaw(scene: Scene) -> None:
    frozen = scene.signal(signal.SIGSTOP)
    scene.press_stop()
    scene.listen(scene.act.pause)
    scene.signal(signal.SIGCONT, frozen)
    scene.stop()


def _nap(scene: Scene) -> None:
    frozen = scene.signal(signal.SIGSTOP)
    scene.listen(scene.act.pause)
    scene.signal(signal.SIGCONT, frozen)


def _stop_and_kill(scene: Scene) -> None:
    scene.press_stop()
    scene.listen(scene.act.pause / 8)
    scene.signal(signal.SIGKILL)
    scene.stop()


def _kill_and_stop(scene: Scene) -> None:
    scene.signal(signal.SIGKILL)
    scene.listen(scene.act.pause / 8)
    scene.stop()


def _restart_kernel(scene: Scene) -> None:
    scene.restart_kernel()


def _stop_while_opening(scene: Scene) -> None:
    scene.until_opening()
    scene.listen(scene.act.pause)
    scene.stop()


def _stop_after_opening(scene: Scene) -> None:
    scene.until_opening()
    scene.reach_the_moment()
    scene.stop()


FAULTS: dict[str, Fault] = {
    "kill": Fault("agent killed (KILL)", _kill, may_miss=True),
    "kill group": Fault("its process group killed (KILL)", _kill_group, may_miss=True),
    "terminate": Fault("agent killed (TERM)", _terminate, may_miss=True),
    "grandchild": Fault(
        "killed, with a child in a session of its own",
        _kill,
        first=({"spawn_grandchild": True},),
        may_miss=True,
    ),
    "exit": Fault("exits in the middle of a text", _nothing, ({"exit": 3},)),
    "half": Fault("exits in the middle of a line", _nothing, ({"half": "half a line"},)),
    "mute": Fault("closes its stdout, and lives", _nothing, ({"mute": True}, HOLD)),
    "noise": Fault("floods stderr, then exits", _nothing, ({"noise": 4_000}, {"exit": 1})),
    "freeze": Fault("hangs (STOP), then Stop", _freeze),
    "thaw": Fault("hangs, Stop, wakes up meanwhile (CONT)", _thaw, is_close=True),
    "nap": Fault("hangs for a while (STOP, CONT)", _nap, (), may_go_well=True),
    "flood": Fault(
        "floods, then Stop",
        _stop,
        ({"chunks": [20_000, "φω "]},),
        is_close=True,
        is_within=True,
        may_go_well=True,
    ),
    "torrent": Fault(
        "floods for ever and is deaf, then Stop", _stop, ({"torrent": "φω "},), is_within=True
    ),
    "stop": Fault("Stop", _stop),
    "stop at the end": Fault("Stop as the turn ends", _stop, (), is_close=True, may_go_well=True),
    "stop twice": Fault("Stop, twice", _stop_twice, is_close=True),
    "stop, kill": Fault("Stop, then killed", _stop_and_kill, is_close=True),
    "kill, stop": Fault("killed, then Stop", _kill_and_stop, is_close=True),
    "load silent": Fault(
        "session/load never answered, then Stop", _stop_while_opening, order="silent"
    ),
    "load refused": Fault("session/load refused", _stop_after_opening, order="refuse refuse"),
    "load exit": Fault("exits during session/load", _nothing, order="exit"),
    "restart kernel": Fault("kernel restarted", _restart_kernel),
}
"""By name; a run's first fault is that of its seed, in turn."""
