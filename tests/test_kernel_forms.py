"""Forms and links of the agent, filled in by a person before a real kernel; a simulated agent."""

from __future__ import annotations

import json

import pytest

from tests.support.kernels import Kernel, sim
from tests.support.notebook import VIEW, Cell, Json

PROPERTIES = {
    "name": {"type": "string", "title": "Your name", "minLength": 2},
    "count": {"type": "integer", "default": 3, "maximum": 9},
    "colour": {"type": "string", "enum": ["red", "green"], "title": "Colour"},
    "sure": {"type": "boolean", "title": "Sure?"},
    "parts": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "default": ["b"]},
}
FORM = {
    "mode": "form",
    "message": "What shall <b>I</b> build?",
    "requestedSchema": {"properties": PROPERTIES, "required": ["name", "count", "sure"]},
}
LINK = {"mode": "url", "elicitationId": "e1", "url": "https://example.org/a?b=1&c", "message": "Go"}
ASK_FORM, ASK_LINK = (sim({"request": ["elicitation/create", params]}) for params in (FORM, LINK))


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


def result(cell: Cell) -> Json:
    """What the simulator was answered."""
    said = cell.text.partition("result: ")[2]
    answered: Json = json.JSONDecoder().raw_decode(said)[0]
    return answered


def inputs(kernel: Kernel, kind: str) -> list[str]:
    """The model ids of the inputs of a kind, in order."""
    models = kernel.notebook.models.items()
    return [i for i, state in models if state.get("_model_name") == f"{kind}Model"]


def put(kernel: Kernel, model: str, **state: object) -> None:
    """Change what an input holds, as a person does."""
    data = {"method": "update", "state": state, "buffer_paths": []}
    kernel.handled(kernel.comm(model, data))


def warnings(kernel: Kernel) -> list[str]:
    values = [kernel.notebook.models[i].get("value", "") for i in inputs(kernel, "HTML")]
    return [value for value in values if value.startswith("<b>⚠")]


def test_a_form_is_filled_in_and_sent(kernel: Kernel) -> None:
    cell = kernel.ask(ASK_FORM)
    question = kernel.question(cell)
    assert list(question.buttons) == ["Send", "Decline"]
    assert "What shall &lt;b&gt;I&lt;/b&gt; build?" in question.html
    name, count = inputs(kernel, "Text")
    colour, sure = inputs(kernel, "Dropdown")
    boxes = inputs(kernel, "Checkbox")
    assert kernel.notebook.models[count]["value"] == "3"
    assert [kernel.notebook.models[box]["value"] for box in boxes] == [False, True, False]
    put(kernel, name, value="Ann")
    put(kernel, colour, index=2)
    put(kernel, sure, index=1)
    put(kernel, boxes[0], value=True)
    kernel.click(question, "Send")
    kernel.finish(cell)
    assert result(cell) == {
        "action": "accept",
        "content": {
            "name": "Ann",
            "count": 3,
            "colour": "green",
            "sure": True,
            "parts": ["a", "b"],
        },
    }
    assert "answered by you" in cell.text
    assert "Your name: Ann" in cell.text
    assert not [output for output in cell.outputs if VIEW in output.get("data", {})]
    assert not kernel.notebook.models


def test_many_choices_are_a_list_and_take_no_time(kernel: Kernel) -> None:
    items = {"enum": [f"v{n}" for n in range(2_000)]}
    many = {"type": "array", "items": items, "default": ["v7"]}
    asked = {**FORM, "requestedSchema": {"properties": {"many": many}}}
    cell = kernel.ask(sim({"request": ["elicitation/create", asked]}))
    question = kernel.question(cell)
    assert len(kernel.notebook.models) < 40
    (chosen,) = inputs(kernel, "SelectMultiple")
    assert kernel.notebook.models[chosen]["index"] == [7]
    put(kernel, chosen, index=[7, 1_999])
    kernel.click(question, "Send")
    kernel.finish(cell)
    assert result(cell)["content"] == {"many": ["v7", "v1999"]}
    assert not kernel.notebook.models


def test_what_was_typed_last_counts_although_it_comes_behind_the_click(kernel: Kernel) -> None:
    cell = kernel.ask(ASK_FORM)
    question = kernel.question(cell)
    name = inputs(kernel, "Text")[0]
    put(kernel, inputs(kernel, "Dropdown")[1], index=2)
    put(kernel, name, value="An")
    kernel.click(question, "Send")
    kernel.comm(name, {"method": "update", "state": {"value": "Anna"}, "buffer_paths": []})
    kernel.finish(cell)
    assert result(cell)["content"]["name"] == "Anna"


def test_a_bad_value_is_said_beside_its_field_and_can_be_mended(kernel: Kernel) -> None:
    cell = kernel.ask(ASK_FORM)
    question = kernel.question(cell)
    name, count = inputs(kernel, "Text")
    put(kernel, name, value="A")
    put(kernel, count, value="many")
    kernel.click(question, "Send")
    kernel.wait(lambda: len(warnings(kernel)) == 3, "what is wrong")
    assert warnings(kernel) == [
        "<b>⚠ must be at least 2 characters</b>",
        "<b>⚠ &#x27;many&#x27; is not a whole number</b>",
        "<b>⚠ is required</b>",
    ]
    assert not cell.reply
    put(kernel, name, value="Al")
    put(kernel, count, value="9")
    put(kernel, inputs(kernel, "Dropdown")[1], index=2)
    kernel.click(question, "Send")
    kernel.finish(cell)
    assert result(cell)["content"] == {"name": "Al", "count": 9, "sure": False, "parts": ["b"]}


def test_a_form_can_be_declined(kernel: Kernel) -> None:
    cell = kernel.ask(ASK_FORM)
    kernel.click(kernel.question(cell), "Decline")
    kernel.finish(cell)
    assert result(cell) == {"action": "decline"}
    assert "declined by you" in cell.text


def test_stop_cancels_a_form(kernel: Kernel) -> None:
    cell = kernel.ask(ASK_FORM)
    kernel.question(cell)
    kernel.interrupt()
    kernel.finish(cell)
    answers = [f["result"] for f in kernel.wire() if "action" in (f.get("result") or {})]
    assert answers[-1] == {"action": "cancel"}
    assert "cancelled: the turn was stopped" in cell.text


def test_without_a_human_a_form_is_declined_with_a_reason(kernel: Kernel) -> None:
    cell = kernel.run(ASK_FORM, allow_stdin=False)
    assert result(cell) == {"action": "decline"}
    assert "declined: this is a question for a person, and nobody can answer here" in cell.text


def test_a_form_is_filled_in_line_by_line_where_there_are_no_widgets(kernel: Kernel) -> None:
    kernel.shows_widgets = False
    try:
        cell = kernel.send(ASK_FORM, allow_stdin=True)
        lines = [("A", 1), ("Ann", 2), ("", 3), ("2", 4), ("y", 5), ("a, c", 6)]
        for line, asked in lines:
            kernel.asked(cell, asked)
            kernel.type(line)
        kernel.finish(cell)
    finally:
        kernel.shows_widgets = True
    assert result(cell)["content"] == {
        "name": "Ann",
        "count": 3,
        "colour": "green",
        "sure": True,
        "parts": ["a", "c"],
    }
    assert cell.asked[1].startswith("Your name: must be at least 2 characters")
    assert "[3]" in cell.asked[2]
    assert "1. red" in cell.asked[3]


def test_a_link_is_shown_in_full_and_opened_by_nobody_but_the_person(kernel: Kernel) -> None:
    cell = kernel.ask(ASK_LINK)
    question = kernel.question(cell)
    assert 'href="https://example.org/a?b=1&amp;c"' in question.html
    assert "<code>example.org</code>" in question.html
    kernel.click(question, "Continue")
    kernel.finish(cell)
    assert result(cell) == {"action": "accept"}
    assert "link opened by you" in cell.text
