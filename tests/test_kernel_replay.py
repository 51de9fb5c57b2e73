"""A notebook's run, recorded with the simulator and played again without it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from tests.support.kernels import Kernel, StartKernel, sim
from tests.support.notebook import Cell

CLI = str(Path(sys.executable).with_name("agy-kernel"))
SILENT = {"wait": None}
VARIES = re.compile(r"\d+(?:\.\d+)? ?s\b|'seconds': [\d.e-]+|'(?:display|model)_id': '[^']*'")


def outputs(cell: Cell) -> list[Any]:
    """A cell's outputs, less times, and the ids that Jupyter gives."""
    return [VARIES.sub("~", repr(output)) for output in cell.outputs]


def run_notebook(kernel: Kernel) -> list[Cell]:
    """Some text, a tool that is allowed, and a turn that is stopped."""
    text = kernel.run("hello")
    tool = kernel.ask(sim({"text": "Asking. "}, {"ask": {}}, {"text": " Done."}))
    kernel.click(kernel.question(tool), "Allow")
    kernel.finish(tool)
    stopped = kernel.ask(sim({"text": "partial "}, SILENT))
    kernel.shows(stopped, "partial")
    kernel.interrupt()
    kernel.finish(stopped)
    after = kernel.run("what is this?")
    return [text, tool, stopped, after]


def record(start_kernel: StartKernel) -> tuple[list[Cell], Path]:
    kernel = start_kernel()
    cells = run_notebook(kernel)
    assert [cell.status for cell in cells] == ["ok", "ok", "error", "ok"]
    assert "answer: allow" in cells[1].text
    kernel.shutdown()
    return cells, kernel.folder / "tape.jsonl"


def test_a_recorded_run_gives_the_same_outputs_when_it_is_replayed(
    start_kernel: StartKernel,
) -> None:
    recorded, tape = record(start_kernel)
    replay = start_kernel(f"{CLI} replay {tape}")
    played = run_notebook(replay)
    assert [outputs(cell) for cell in played] == [outputs(cell) for cell in recorded]
    assert [cell.status for cell in played] == [cell.status for cell in recorded]


def test_a_cell_that_was_edited_is_told_where_it_departs(start_kernel: StartKernel) -> None:
    _, tape = record(start_kernel)
    replay = start_kernel(f"{CLI} replay {tape}")
    assert replay.run("hello").status == "ok"
    cell = replay.run("something else")
    assert cell.status == "error"
    assert re.search(r"the client departs from the tape at line \d+", cell.text)
    assert "something else" in cell.text
