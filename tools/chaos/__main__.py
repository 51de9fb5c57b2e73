"""``python -m tools.chaos``: 200 runs, and the table in docs/reliability.md.

Arguments: seeds to run instead, such as ``17``, or ``0-20``; then nothing is written.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from .page import write
from .plan import kernel_of, plan
from .run import Run, Tally, stage

SEEDS = 200


def run(seeds: Iterable[int], folder: Path, tell: bool = False) -> Tally:
    """Run some seeds, in one kernel of each kind.

    Args:
        folder: an empty folder for all that is written.
        tell: whether to say what is being done.
    """
    tally = Tally()
    with ExitStack() as stages:
        stage_of = cache(lambda name: stages.enter_context(stage(folder / name, name)))
        for seed in seeds:
            where = stage_of(kernel_of(seed))
            known = len(tally.troubles)
            if tell:
                print(f"seed {seed}: {', '.join(act.fault for act in plan(seed))}", flush=True)
            Run(where, seed, tally).go()
            for trouble in tally.troubles[known:] if tell else ():
                print(f"  {trouble}\n  again: make chaos SEED={seed}", flush=True)
    return tally


def _seeds(words: list[str]) -> Iterator[int]:
    for word in words:
        first, _, last = word.partition("-")
        yield from range(int(first), int(last or first) + 1)


def main(words: list[str]) -> int:
    """Run them; the exit status says whether everything held."""
    seeds = list(_seeds(words)) or list(range(SEEDS))
    with tempfile.TemporaryDirectory() as folder:
        tally = run(seeds, Path(folder), tell=True)
    if not words:
        write(tally)
    held = "everything held" if not tally.troubles else f"{len(tally.troubles)} troubles"
    print(f"{tally.seeds} seeds, {tally.turns} turns: {held}")
    return bool(tally.troubles)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
