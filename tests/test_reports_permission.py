"""Public reports about permission: what a person is shown before anything runs, and who answers.

Each test stands for a row of the table in docs/reliability.md.
"""

from __future__ import annotations

import pytest

from tests.support.kernels import Kernel, StartKernel, sim
from tests.support.notebook import Json

ALLOW = {"optionId": "yes", "name": "Allow", "kind": "allow_once"}
REJECT = {"optionId": "no", "name": "Reject", "kind": "reject_once"}


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


def ask(call_id: str, *options: Json, **call: object) -> Json:
    """A step of the simulator that asks about a call."""
    tool_call = {"toolCallId": call_id, **call}
    return {"ask": {"toolCall": tool_call, "options": list(options or (ALLOW, REJECT))}}


def outcomes(kernel: Kernel) -> list[Json]:
    """What the permission requests so far were answered with."""
    results = [frame.get("result") or {} for frame in kernel.wire("c2a")]
    return [result["outcome"] for result in results if "outcome" in result]


@pytest.mark.report(19)
def test_request_for_a_call_that_nobody_announced_makes_its_card(kernel: Kernel) -> None:
    announced = {"toolCallId": "t9", "title": "Run it", "kind": "execute", "status": "completed"}
    cell = kernel.ask(sim(ask("t9", title="Run it", kind="execute"), {"tool": announced}))
    kernel.click(kernel.question(cell), "Allow")
    kernel.finish(cell)
    assert cell.status == "ok"
    assert outcomes(kernel)[-1] == {"outcome": "selected", "optionId": "yes"}
    (call,) = cell.record["tool_calls"]
    assert (call["id"], call["status"]) == ("t9", "completed")
    assert cell.text.count("<b>run</b>") == 1
    assert "“Allow” by you" in cell.text


TEA_OR_COFFEE = ask(
    "interaction_b7",
    {"optionId": "1", "name": "Tea", "kind": "allow_once"},
    {"optionId": "2", "name": "Coffee", "kind": "allow_once"},
    title="What would you like?",
)


@pytest.mark.report(21)
def test_question_in_permission_form_is_answered_by_a_person_only(
    start_kernel: StartKernel,
) -> None:
    kernel = start_kernel(env={"AGY_PERMISSIONS": "allow"})
    cell = kernel.ask(sim(TEA_OR_COFFEE))
    question = kernel.question(cell)
    assert "What would you like?" in question.html
    assert "<b>question</b>" in question.html
    assert list(question.buttons) == ["Tea", "Coffee"]
    kernel.click(question, "Coffee")
    kernel.finish(cell)
    assert outcomes(kernel)[-1] == {"outcome": "selected", "optionId": "2"}

    nobody = kernel.run(sim(TEA_OR_COFFEE))
    assert outcomes(kernel)[-1] == {"outcome": "cancelled"}
    assert "this is a question for a person" in nobody.text


@pytest.mark.report(26)
def test_card_shows_the_command_and_its_folder_before_the_buttons(kernel: Kernel) -> None:
    raw_input = {"command": "rm -rf build", "cwd": "/w"}
    cell = kernel.ask(sim(ask("rm", title="Run command", kind="execute", rawInput=raw_input)))
    question = kernel.question(cell)
    assert "<code>rm -rf build</code>" in question.html
    assert "<code>/w</code>" in question.html
    kernel.click(question, "Reject")
    kernel.finish(cell)


@pytest.mark.report(26)
def test_card_shows_the_file_and_its_changes_before_the_buttons(kernel: Kernel) -> None:
    diff = {"type": "diff", "path": "/w/a.py", "oldText": "x = 1\n", "newText": "x = 2\n"}
    cell = kernel.ask(sim(ask("edit", title="Edit", kind="edit", content=[diff])))
    question = kernel.question(cell)
    for words in ("/w/a.py", "- x = 1", "+ x = 2"):
        assert words in question.html
    assert "<details open>" in question.html
    kernel.click(question, "Reject")
    kernel.finish(cell)


@pytest.mark.report(27, 91)
def test_edit_that_nobody_can_allow_is_refused_at_once_and_the_log_says_what_it_was(
    kernel: Kernel,
) -> None:
    diff = {"type": "diff", "path": "/w/a.py", "oldText": "x = 1\n", "newText": "x = 2\n"}
    cell = kernel.run(sim(ask("headless", title="Edit a.py", kind="edit", content=[diff])))
    assert cell.status == "ok"
    assert outcomes(kernel)[-1] == {"outcome": "selected", "optionId": "no"}
    asked, answered = cell.times("/w/a.py")[0], cell.times("nobody can answer here")[0]
    assert answered - asked < 20  # nobody was waited for
    shown = cell.outputs[0]["data"]["text/plain"]
    for words in ("edit · /w/a.py", "“Reject” without asking", "AGY_PERMISSIONS=allow"):
        assert words in shown
    (decision,) = cell.record["permissions"]
    assert decision["by"] == "nobody"


@pytest.mark.report(32)
def test_tool_that_ran_without_a_request_is_marked_and_the_mode_is_shown(kernel: Kernel) -> None:
    call = {"toolCallId": "bold", "title": "Run ls", "kind": "execute", "status": "in_progress"}
    cell = kernel.run(sim({"tool": call}, {"tool": {**call, "status": "completed"}}))
    assert "ran without asking" in cell.text
    (told,) = cell.record["tool_calls"]
    assert told["ran_without_asking"]
    assert "mode Default" in cell.text


@pytest.mark.report(33)
def test_every_request_is_asked_unless_the_user_has_opted_in(start_kernel: StartKernel) -> None:
    fetches = {"together": [ask(f"f{n}", title=f"Fetch {n}", kind="fetch") for n in range(5)]}
    kernel = start_kernel()
    cell = kernel.ask(sim(fetches))
    for question in kernel.questions(cell, 5):
        kernel.handled(kernel.click(question, "Allow"))
    kernel.finish(cell)
    assert [decision["by"] for decision in cell.record["permissions"]] == ["you"] * 5

    kernel = start_kernel(env={"AGY_PERMISSIONS": "allow"})
    cell = kernel.finish(kernel.ask(sim(fetches)))
    assert [decision["by"] for decision in cell.record["permissions"]] == ["policy"] * 5
    assert cell.outputs[0]["data"]["text/markdown"].count("AGY_PERMISSIONS is allow") == 5


@pytest.mark.report(28)
def test_question_waits_for_its_person_as_long_as_that_takes(kernel: Kernel) -> None:
    later = [{"wait": 11}, {"text": "eleven seconds later"}]
    cell = kernel.ask(sim({"together": [ask("patient", title="Run it", kind="execute"), *later]}))
    question = kernel.question(cell)
    kernel.shows(cell, "eleven seconds later")
    assert not cell.times("waiting for the agent")
    kernel.click(question, "Reject")
    kernel.finish(cell)
    assert outcomes(kernel)[-1] == {"outcome": "selected", "optionId": "no"}
