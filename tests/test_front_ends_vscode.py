"""A front end that behaves as VS Code's source says: VS Code itself is not run here.

Its comm messages come on the shell channel, without a subshell, while the cell runs; each request
has the cell's address and allows input; and it may show widgets and never count their views.
"""

from __future__ import annotations

import pytest

from tests.support.kernels import Kernel, StartKernel, sim
from tests.support.notebook import Cell, Json
from tests.support.saved import check_plain

ADDRESS = "vscode-notebook-cell:/folder/a.ipynb#W{}sZmlsZQ%3D%3D"
ASK: Json = {"ask": {}}


class VSCode:
    """VS Code, with the prompts of either kernel.

    Args:
        kernel: a kernel; whether it counts views is the test's.
        magic: what stands before a prompt.
    """

    def __init__(self, kernel: Kernel, magic: str) -> None:
        self.kernel, self._magic, self._cells = kernel, magic, 0

    def send(self, *steps: Json) -> Cell:
        """Run a cell in which the simulator plays steps."""
        self._cells += 1
        address = ADDRESS.format(self._cells)
        return self.kernel.send(
            f"{self._magic}{sim(*steps)}", allow_stdin=True, cell_id=address, stop_on_error=True
        )

    def saved(self, *cells: Cell) -> Json:
        """The notebook that it would save."""
        return {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"c{number}",
                    "metadata": {},
                    "execution_count": cell.reply["execution_count"],
                    "source": "",
                    "outputs": [_stored(output) for output in cell.outputs],
                }
                for number, cell in enumerate(cells)
            ],
        }


def _stored(output: Json) -> Json:
    return {name: value for name, value in output.items() if name != "transient"}


@pytest.fixture(params=["antigravity", "python3"])
def vscode(request: pytest.FixtureRequest, start_kernel: StartKernel) -> VSCode:
    kernel = start_kernel(name=request.param)
    kernel.shows_widgets = False
    if request.param == "antigravity":
        return VSCode(kernel, "")
    kernel.run("%load_ext agy_kernel")
    return VSCode(kernel, "%%agy\n")


def test_click_is_heard_although_no_view_was_counted(vscode: VSCode) -> None:
    cell = vscode.send(ASK)
    vscode.kernel.click(vscode.kernel.question(cell), "Allow")
    vscode.kernel.finish(cell)
    assert "answer: allow" in cell.text
    check_plain(vscode.saved(cell))


def test_line_is_asked_for_where_no_widget_is_shown_and_a_click_still_wins(vscode: VSCode) -> None:
    typed = vscode.send(ASK)
    vscode.kernel.asked(typed)
    vscode.kernel.type("Deny")
    vscode.kernel.finish(typed)
    assert "answer: deny" in typed.text

    clicked = vscode.send(ASK)
    vscode.kernel.asked(clicked)
    vscode.kernel.click(vscode.kernel.question(clicked), "Allow")
    vscode.kernel.finish(clicked)
    assert "answer: allow" in clicked.text

    after = vscode.send(ASK)  # the click has shown that there are buttons
    vscode.kernel.click(vscode.kernel.question(after), "Deny")
    vscode.kernel.finish(after)
    assert not after.asked
    check_plain(vscode.saved(typed, clicked, after))


def test_run_all_waits_for_the_answer_and_counts_each_cell_once(vscode: VSCode) -> None:
    steps: list[Json] = [{"text": "first"}, ASK, {"text": "third"}, ASK, {"text": "fifth"}]
    cells = [vscode.send(step) for step in steps]
    for asking in (cells[1], cells[3]):
        question = vscode.kernel.question(asking)
        assert not any(cell.messages for cell in cells[cells.index(asking) + 1 :])
        vscode.kernel.click(question, "Allow")
    for cell in cells:
        vscode.kernel.finish(cell)
    counts = [cell.reply["execution_count"] for cell in cells]
    assert counts == list(range(counts[0], counts[0] + len(cells)))
    assert [cell.replied for cell in cells] == sorted(cell.replied for cell in cells)
    request = {"hist_access_type": "tail", "n": 20, "output": False, "raw": True}
    history = vscode.kernel.request("history_request", request)["history"]
    assert [line for _, line, _ in history if line in counts] == counts
    check_plain(vscode.saved(*cells))


def test_stop_takes_the_buttons_and_the_line_away(vscode: VSCode) -> None:
    cell, queued = vscode.send({"text": "half "}, ASK), vscode.send({"text": "never"})
    vscode.kernel.asked(cell)
    vscode.kernel.interrupt()
    vscode.kernel.finish(cell)
    assert vscode.kernel.finish(queued).status == "aborted"
    assert cell.error["ename"] == "TurnCancelled"
    assert not vscode.kernel.notebook.questions(cell)
    assert vscode.kernel.finish(vscode.send({"text": "next"})).status == "ok"
    check_plain(vscode.saved(cell))
