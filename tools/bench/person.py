"""A person at the notebook: from a click to the agent, and from Stop to an idle kernel."""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.kernels import Kernel

from .table import Figure, median, ms

AGENT = f"{sys.executable} -I -S {Path(__file__).with_name('agent.py')}"
TIMES = 20


def figures() -> Iterator[Figure]:
    """The figures of clicks and Stop."""
    with at_the_notebook() as kernel:
        clicked = median(lambda: click(kernel), TIMES)
        yield Figure("click to answer on the wire", ms(clicked), "20 ms")
        stopped = median(lambda: stop(kernel), TIMES)
        yield Figure("Stop to idle", ms(stopped), "100 ms")


@contextmanager
def at_the_notebook() -> Iterator[Kernel]:
    """A kernel whose agent answers at once."""
    with tempfile.TemporaryDirectory() as folder, Kernel(Path(folder) / "k", AGENT) as kernel:
        yield kernel


def click(kernel: Kernel) -> float:
    """Seconds from the click's message to the agent that has the answer."""
    cell = kernel.send("ask", allow_stdin=True, cell_id="a")
    question = kernel.question(cell)
    begin = time.monotonic()
    kernel.click(question, "Allow")
    kernel.finish(cell)
    (answered,) = re.findall(r"answered at ([\d.]+)\.", cell.text)
    return float(answered) - begin


def stop(kernel: Kernel) -> float:
    """Seconds from the request to interrupt to the idle message of the cell."""
    cell = kernel.send("be silent")
    kernel.shows(cell, "one moment")
    begin = time.monotonic()
    kernel.interrupt()
    kernel.wait(lambda: cell.idle, "the end of the cell")
    seconds = time.monotonic() - begin
    kernel.finish(cell)
    return seconds
