"""Widget messages reach a running turn, all of them and in order. The agent is simulated."""

from __future__ import annotations

import ast
import time

import pytest

from tests.support.kernels import Kernel, StartKernel, sim
from tests.support.notebook import VIEW, Cell, Json

UPDATES, CELLS = 1_000, 10
AT_ONCE = 200  # each makes three messages, of which ZeroMQ drops those that are 1,000 behind
SLIDER = """\
import ipywidgets
seen = []
slider = ipywidgets.IntSlider(max=10_000)
slider.observe(lambda change: seen.append(change["new"]), "value")
slider
"""
BUTTON = """\
import ipywidgets, time
button = ipywidgets.Button()
def click(_):
    print("clicked")
    {code}
button.on_click(click)
button
"""
MISTAKE, HANGS = 'raise ValueError("of their own")', "time.sleep(600)"
COMPLETE = {"code": "%agy mo", "cursor_pos": 7}
CLICK = {"method": "custom", "content": {"event": "click"}}


class Person:
    """What a test does in a kernel of either kind.

    Args:
        python: what comes before Python code.
        prompt: what comes before a prompt.
    """

    def __init__(self, kernel: Kernel, python: str, prompt: str) -> None:
        self.kernel, self.python, self.prompt = kernel, python, prompt

    def widget(self, code: str) -> str:
        """Show a widget; returns its model's id."""
        cell = self.kernel.run(self.python + code)
        return str(cell.outputs[-1]["data"][VIEW]["model_id"])

    def seen(self) -> list[object]:
        """What the widget has seen."""
        return list(ast.literal_eval(self.kernel.run(f"{self.python}print(seen)").text))


@pytest.fixture(params=["antigravity", "python", "python with nest_asyncio"])
def person(request: pytest.FixtureRequest, start_kernel: StartKernel) -> Person:
    if request.param == "antigravity":
        return Person(start_kernel(), "%%py\n", "")
    kernel = start_kernel(name="python3")
    kernel.run("%load_ext agy_kernel")
    if "nest" in request.param:
        kernel.run("import nest_asyncio\nnest_asyncio.apply()")
    return Person(kernel, "", "%%agy\n")


def value(number: int) -> Json:
    return {"method": "update", "state": {"value": number}, "buffer_paths": []}


def test_all_updates_come_in_order_and_cells_wait_for_the_turn(person: Person) -> None:
    kernel = person.kernel
    slider = person.widget(SLIDER)
    turn = kernel.ask(person.prompt + sim({"ask": {}}))
    question = kernel.question(turn)

    updates: list[str] = []
    cells: list[Cell] = []
    completions: list[str] = []
    for number in range(1, UPDATES + 1):
        updates.append(kernel.comm(slider, value(number)))
        if number % (UPDATES // CELLS) == 0:
            cells.append(kernel.send(f"{person.python}seen.append('cell {len(cells)}')"))
            completions.append(kernel.begin("complete_request", COMPLETE))
        if number % AT_ONCE == 0:
            kernel.handled(updates[-1])
    for update in updates:
        kernel.handled(update)
    assert not turn.reply
    assert not any(cell.messages for cell in cells)
    assert not any(kernel.reply(completion) for completion in completions)

    kernel.click(question, "Allow")
    kernel.finish(turn)
    for cell in cells:
        assert kernel.finish(cell).status == "ok"
    kernel.wait(lambda: all(kernel.reply(sent) for sent in completions), "the completions")
    assert [c.replied for c in cells] == sorted(c.replied for c in cells)
    expected = [*range(1, UPDATES + 1), *(f"cell {n}" for n in range(CELLS))]
    assert person.seen() == expected


def test_updates_that_outlive_the_turn_stay_in_order(person: Person) -> None:
    kernel = person.kernel
    slider = person.widget(SLIDER)
    last: list[str] = []
    for round_ in range(10):
        turn = kernel.send(person.prompt + sim({"text": "a"}, {"wait": 0.01 * round_}))
        kernel.shows(turn, "a")
        last = [kernel.comm(slider, value(100 * round_ + n)) for n in range(1, 51)]
        kernel.finish(turn)
    for update in last:
        kernel.handled(update)
    assert person.seen() == [100 * r + n for r in range(10) for n in range(1, 51)]


def test_callback_that_fails_leaves_the_turn_alone(person: Person) -> None:
    kernel = person.kernel
    button = person.widget(BUTTON.format(code=MISTAKE))
    turn = kernel.ask(person.prompt + sim({"ask": {}}))
    question = kernel.question(turn)
    kernel.handled(kernel.comm(button, CLICK))
    kernel.click(question, "Allow")
    kernel.finish(turn)
    assert turn.status == "ok"
    assert "clicked" in turn.text


def test_stop_reaches_a_callback_that_hangs(person: Person) -> None:
    kernel = person.kernel
    button = person.widget(BUTTON.format(code=HANGS))
    turn = kernel.ask(person.prompt + sim({"text": "a"}, {"wait": None}))
    kernel.shows(turn, "a")
    kernel.comm(button, CLICK)
    kernel.shows(turn, "clicked")
    (clicked,) = turn.times("clicked")
    kernel.wait(lambda: time.monotonic() - clicked > 0.6, "the moment at which it is stuck")
    kernel.interrupt()
    kernel.finish(turn)
    assert turn.error["ename"] == "TurnCancelled"
    assert kernel.run(person.prompt + sim({"text": "on we go"})).status == "ok"


def test_stop_reaches_a_callback_that_hangs_between_turns(person: Person) -> None:
    kernel = person.kernel
    button = person.widget(BUTTON.format(code=HANGS))
    click = kernel.comm(button, CLICK)
    kernel.wait(lambda: "clicked" in str(kernel.notebook.unclaimed), "the callback's own words")
    kernel.interrupt()
    kernel.handled(click)
    assert kernel.run(person.prompt + sim({"text": "on we go"})).status == "ok"


def test_comms_are_listed_while_a_turn_runs(person: Person) -> None:
    """JupyterLab asks for them when its page is loaded anew."""
    kernel = person.kernel
    slider = person.widget(SLIDER)
    turn = kernel.ask(person.prompt + sim({"ask": {}}))
    question = kernel.question(turn)
    comms = kernel.request("comm_info_request", {"target_name": "jupyter.widget"})["comms"]
    assert slider in comms
    assert not turn.reply
    kernel.click(question, "Deny")
    kernel.finish(turn)
