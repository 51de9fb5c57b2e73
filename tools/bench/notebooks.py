"""What stands around a prompt: recording cells, and the digest of a notebook."""

from __future__ import annotations

import contextlib
import io
import os
import statistics
import time
from collections.abc import Iterator
from functools import partial

from IPython.core.interactiveshell import InteractiveShell

from agy_kernel.prompt.cells import Cell, CellOutput
from agy_kernel.prompt.digest import Budget, Surroundings, digest
from agy_kernel.prompt.recorder import Recorder
from agy_kernel.secrets import Masker

from .table import Figure, median, ms

SIZES = (20, 200, 2_000)
TURNS, CELLS = 20, 40


def figures() -> Iterator[Figure]:
    """The figures of recording and digest."""
    with contextlib.redirect_stdout(io.StringIO()):
        cell, recorded = timed_cells()
    yield Figure(
        "recording an ordinary cell",
        f"{(recorded - cell) * 1000:.2f} ms",
        "0.2 ms",
        f"{cell * 1000:.2f} ms, the cell itself",
    )
    took = ", ".join(ms(median(partial(digest_time, n))) for n in SIZES)
    sizes = ", ".join(f"{n:,}" for n in SIZES)
    yield Figure(f"digest of {sizes} cells, 1 of them changed", took, "30 ms")


def timed_cells() -> tuple[float, float]:
    """Seconds of an ordinary cell, without and with the recorder: medians, measured in turns."""
    shell = InteractiveShell()
    times: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(TURNS):
        is_recorded = turn % 2 == 1
        recorder = Recorder(shell, lambda _: False) if is_recorded else None
        for n in range(CELLS):
            begin = time.perf_counter()
            shell.run_cell(f"x = {n}\nprint('ordinary', x)", store_history=True)
            times[is_recorded].append(time.perf_counter() - begin)
        if recorder is not None:
            recorder.close()
    return statistics.median(times[False]), statistics.median(times[True])


def digest_time(n: int) -> float:
    """Seconds for the digest of a notebook with ``n`` cells, of which one has changed."""
    cells = [
        Cell(f"c{i}", i, f"y = {i}\nprint(y)", (CellOutput("stdout", f"{i}\n"),)) for i in range(n)
    ]
    sent = {cell.id: cell.fingerprint for cell in cells[:-1]}
    around, masker = Surroundings("notebook:///n.ipynb"), Masker(os.environ)
    begin = time.perf_counter()
    made = digest(cells, around, sent, Budget(), masker)
    seconds = time.perf_counter() - begin
    assert [key for key in made.sent if key.startswith("c")] == [cells[-1].id]
    return seconds
