"""What happens in a run, decided by its seed before anything is done."""

from __future__ import annotations

import random
from dataclasses import dataclass

from .faults import FAULTS

MOST_ACTS = 2  # an agent that has died three times in a row is not started again by itself
KERNELS = ("antigravity", "python3")
STOPS = ("request", "process", "group")
BEHIND = ("prompt", "prompt", "%agy new", "%agy restart", "%agy close", "%agy status")


@dataclass(frozen=True, slots=True)
class Act:
    """One cell with an agent that fails.

    Args:
        fault: name of what goes wrong.
        before: words that are said before the moment.
        after: words that would be said after it.
        between: what else the agent does among its words: ``tool`` or ``thought``.
        late: words that are said after the turn, where it ends by itself; never with cells
            behind, to which they would belong.
        asks: whether a question is open then.
        is_early: whether it goes wrong as soon as the cell is sent, whatever was said by then.
        delay: seconds after the moment.
        pause: seconds between two things that belong to the fault.
        stop: how Stop is pressed.
        aborts: whether the cells behind are given up where this one fails.
        behind: the cells behind: ``prompt``, or a command.
    """

    fault: str
    before: int
    after: int
    between: str
    late: int
    asks: bool
    is_early: bool
    delay: float
    pause: float
    stop: str
    aborts: bool
    behind: tuple[str, ...]


def plan(seed: int) -> list[Act]:
    """The acts of a run; faults take turns, so that each of them is met, and all else is chance."""
    chance = random.Random(seed)
    first = sorted(FAULTS)[seed % len(FAULTS)]
    # One that fails to open its session has died before.
    more = 0 if FAULTS[first].order else chance.randrange(MOST_ACTS)
    others = chance.choices([name for name in sorted(FAULTS) if not FAULTS[name].order], k=more)
    return [_act(name, chance) for name in (first, *others)]


def kernel_of(seed: int) -> str:
    """The kernel of a run, so that each fault is met in each that it is meant for."""
    is_close = any(act.is_early or FAULTS[act.fault].is_close for act in plan(seed))
    return KERNELS[0] if is_close else KERNELS[seed // len(FAULTS) % len(KERNELS)]


def _act(fault: str, chance: random.Random) -> Act:
    behind = tuple(chance.choices(BEHIND, k=chance.choice((0, 0, 1, 2))))
    return Act(
        fault=fault,
        before=chance.choice((0, chance.randrange(120))),
        after=0 if FAULTS[fault].is_within else chance.choice((0, chance.randrange(400))),
        between=chance.choice(("", "", "tool", "thought")),
        late=chance.choice((0, 0 if behind else 40)),
        asks=chance.random() < 0.35,
        is_early=chance.random() < 0.2,
        delay=chance.choice((0.0, chance.uniform(0, 0.15))),
        pause=chance.uniform(0, 0.4),
        stop=chance.choice(STOPS),
        aborts=chance.random() < 0.5,
        behind=behind,
    )
