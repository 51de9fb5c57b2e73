"""Public reports about diffs: what a tool call says that it changes, and what it returned.

Each test stands for a row of the table in docs/reliability.md.
"""

from __future__ import annotations

import json

import pytest

from tests.support.kernels import Kernel, sim
from tests.support.notebook import Json

EDIT = {"toolCallId": "e", "title": "Write a file", "kind": "edit"}


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


def edit(path: str, **texts: str | None) -> Json:
    """A step of the simulator: a change that was made."""
    diff = {"type": "diff", "path": path, **texts}
    return {"tool": {**EDIT, "status": "completed", "content": [diff]}}


@pytest.mark.report(34)
@pytest.mark.parametrize("old", [{"oldText": None}, {}], ids=["null", "missing"])
def test_file_without_an_old_side_is_new_and_all_its_lines_are_added(
    kernel: Kernel, old: dict[str, None]
) -> None:
    cell = kernel.run(sim(edit("/w/a.py", newText="x=1\ny=2\n", **old)))
    assert cell.status == "ok"
    shown = cell.outputs[0]["data"]["text/markdown"]
    for words in ("/w/a.py", "new file", "+2 −0", "+ x=1", "+ y=2"):
        assert words in shown


@pytest.mark.report(37)
def test_output_that_is_in_raw_output_alone_is_shown(kernel: Kernel) -> None:
    call = {"toolCallId": "r", "title": "Ask the oracle", "kind": "other", "status": "completed"}
    cell = kernel.run(sim({"tool": {**call, "rawOutput": {"output": "42"}}}))
    shown = cell.outputs[0]["data"]["text/markdown"]
    assert "output, 1 line" in shown
    assert ">42</pre>" in shown


@pytest.mark.report(40)
def test_file_that_is_not_there_yet_is_no_link_and_its_path_is_relative(kernel: Kernel) -> None:
    path = str(kernel.cwd / "sub" / "new.py")
    content = [{"type": "diff", "path": path, "oldText": None, "newText": "x = 1\n"}]
    cell = kernel.ask(sim({"ask": {"toolCall": {**EDIT, "content": content}}}))
    question = kernel.question(cell)
    kernel.click(question, "Deny")
    kernel.finish(cell)
    for shown in (question.html, cell.outputs[0]["data"]["text/markdown"]):
        assert "<code>sub/new.py</code>" in shown
        assert str(kernel.cwd) not in shown
        assert "<a " not in shown
        assert "](" not in shown


def notebook(*sources: str) -> str:
    """The text of a notebook with these code cells, ``c0``, ``c1`` and so on."""
    cells: list[Json] = [
        {
            "cell_type": "code",
            "id": f"c{n}",
            "metadata": {},
            "source": source,
            "outputs": [],
            "execution_count": None,
        }
        for n, source in enumerate(sources)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.mark.report(41)
def test_notebook_edit_is_asked_about_cell_by_cell_and_not_as_json(kernel: Kernel) -> None:
    texts = {"oldText": notebook("x = 1", "y = 1"), "newText": notebook("x = 1", "y = 2")}
    content = [{"type": "diff", "path": "/w/a.ipynb", **texts}]
    cell = kernel.ask(sim({"ask": {"toolCall": {**EDIT, "content": content}}}))
    question = kernel.question(cell)
    for words in ("/w/a.ipynb", "- y = 1", "+ y = 2", "c1"):
        assert words in question.html
    for json_words in ("cell_type", "execution_count", "nbformat", "&quot;source&quot;"):
        assert json_words not in question.html
    assert list(question.buttons) == ["Allow", "Deny"]
    kernel.click(question, "Deny")
    kernel.finish(cell)
    assert "answer: deny" in cell.text


@pytest.mark.report(42)
def test_notebook_that_would_be_invalid_is_named_as_such_before_it_is_allowed(
    kernel: Kernel,
) -> None:
    broken = json.dumps({"cells": [], "metadata": {}})
    texts = {"oldText": notebook("x = 1"), "newText": broken}
    content = [{"type": "diff", "path": "/w/a.ipynb", **texts}]
    cell = kernel.ask(sim({"ask": {"toolCall": {**EDIT, "content": content}}}))
    question = kernel.question(cell)
    assert "not a valid notebook" in question.html
    kernel.click(question, "Deny")
    kernel.finish(cell)
