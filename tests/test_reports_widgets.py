"""Public reports about widgets, while a cell runs.

Each test stands for a row of the table in docs/reliability.md.
"""

from __future__ import annotations

import pytest

from tests.support.kernels import Kernel, sim
from tests.support.notebook import VIEW

LOOK = """%%py
kernel = get_ipython().kernel
print(kernel.shell_handlers["comm_msg"].__qualname__, kernel.shell_stream._recv_callback,
      kernel.do_execute.__qualname__, kernel.dispatch_shell.__qualname__)
"""


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


@pytest.mark.report(68)
def test_nothing_of_ipykernel_stays_changed_after_a_turn(kernel: Kernel) -> None:
    before = kernel.run(LOOK).text
    cell = kernel.ask(sim({"ask": {}}))
    kernel.click(kernel.question(cell), "Allow")
    kernel.finish(cell)
    assert cell.status == "ok"
    assert kernel.run(LOOK).text == before
    widget = kernel.run("%%py\nimport ipywidgets\nseen = []\nbutton = ipywidgets.Button()\nbutton")
    kernel.run("%%py\nbutton.on_click(lambda _: seen.append('clicked'))")
    (model,) = kernel.notebook.views(widget)
    kernel.handled(kernel.comm(model, {"method": "custom", "content": {"event": "click"}}))
    assert kernel.run("%%py\nseen").text == "['clicked']"


@pytest.mark.report(70)
def test_cells_behind_a_waiting_one_wait_and_are_counted_one_by_one(kernel: Kernel) -> None:
    waiting = kernel.ask(sim({"ask": {}}))
    behind = [kernel.ask(sim({"text": f"number {n}"})) for n in range(3)]
    question = kernel.question(waiting)
    assert not any(cell.messages for cell in behind)
    kernel.click(question, "Allow")
    cells = [kernel.finish(cell) for cell in (waiting, *behind)]
    counts = [cell.reply["execution_count"] for cell in cells]
    assert counts == list(range(counts[0], counts[0] + 4))
    history = kernel.request(
        "history_request", {"hist_access_type": "tail", "n": 4, "output": False, "raw": True}
    )
    lines = [line for _, line, _ in history["history"]]
    assert lines == counts


@pytest.mark.report(73)
def test_text_that_streams_is_one_display_that_is_updated(kernel: Kernel) -> None:
    first = kernel.run(sim({"text": "first"}))
    shown = list(first.outputs)
    steps = [step for n in range(5) for step in ({"text": f"word{n} "}, {"wait": 0.1})]
    cell = kernel.run(sim(*steps))
    kinds = [m.type for m in cell.messages if m.type not in ("status", "execute_input")]
    assert set(kinds) == {"display_data", "update_display_data"}
    assert kinds.count("update_display_data") >= 3
    assert len(cell.outputs) == 2
    assert not any(VIEW in output["data"] for output in cell.outputs)
    assert first.outputs == shown
    assert not kernel.notebook.unclaimed
