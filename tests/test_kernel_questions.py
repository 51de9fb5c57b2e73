"""A permission request is a question in the cell, and gets one answer. The agent is simulated."""

from __future__ import annotations

import pytest

from tests.support.kernels import SIMULATOR, Kernel, StartKernel, sim
from tests.support.notebook import VIEW, Cell, Json
from tests.support.stopwatch import Stopwatch

RUN_LS = {
    "toolCallId": "ls",
    "title": "Run run_command?",
    "kind": "execute",
    "rawInput": {"CommandLine": "ls -l secrets", "Cwd": "/the/folder"},
}
WARNING = "agy.security.warning"


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


def ask(call_id: str, **fields: object) -> Json:
    """A step of the simulator that asks about one call."""
    return {"ask": {"toolCall": {**RUN_LS, "toolCallId": call_id, **fields}}}


def outcomes(kernel: Kernel) -> dict[str, list[Json]]:
    """Every reply to a permission request so far, by the id of the tool call."""
    requests: dict[object, str] = {}
    replies: dict[str, list[Json]] = {}
    for frame in kernel.wire():
        if frame.get("method") == "session/request_permission":
            requests[frame["id"]] = frame["params"]["toolCall"]["toolCallId"]
            replies.setdefault(requests[frame["id"]], [])
        elif "outcome" in (frame.get("result") or {}):
            replies[requests[frame["id"]]].append(frame["result"]["outcome"])
    return replies


def selected(option: str) -> list[Json]:
    return [{"outcome": "selected", "optionId": option}]


CANCELLED = [{"outcome": "cancelled"}]


def check_no_widget(kernel: Kernel, cell: Cell) -> None:
    """The cell as it would be saved holds no widget, and the kernel keeps none."""
    assert not [output for output in cell.outputs if VIEW in output.get("data", {})]
    assert not kernel.notebook.models


# -- clicks


@pytest.mark.parametrize(("name", "option"), [("Allow", "allow"), ("Deny", "deny")])
@pytest.mark.report(67)
def test_click_answers_while_the_cell_runs(kernel: Kernel, name: str, option: str) -> None:
    call = f"click-{option}"
    cell = kernel.ask(sim(ask(call), {"text": "and on"}))
    question = kernel.question(cell)
    assert list(question.buttons) == ["Allow", "Deny"]
    assert "ls -l secrets" in question.html
    assert "/the/folder" in question.html
    assert not cell.reply
    kernel.handled(kernel.click(question, name))
    kernel.finish(cell)
    assert outcomes(kernel)[call] == selected(option)
    assert f"answer: {option}" in cell.text
    assert f"“{name}” by you" in cell.text
    assert cell.record["permissions"][0]["by"] == "you"
    check_no_widget(kernel, cell)


@pytest.mark.report(72)
def test_click_on_a_subshell_answers(kernel: Kernel) -> None:
    subshell = kernel.request("create_subshell_request", channel="control")["subshell_id"]
    cell = kernel.ask(sim(ask("subshell")))
    kernel.handled(kernel.click(kernel.question(cell), "Allow", subshell))
    kernel.finish(cell)
    assert outcomes(kernel)["subshell"] == selected("allow")
    kernel.request("delete_subshell_request", {"subshell_id": subshell}, channel="control")


def test_kernel_is_busy_after_a_click_and_idle_after_the_cell(kernel: Kernel) -> None:
    cell = kernel.ask(sim(ask("busy"), {"wait": 0.1}))
    kernel.click(kernel.question(cell), "Allow")
    kernel.finish(cell)
    states = [m.content["execution_state"] for m in cell.messages if m.type == "status"]
    assert states[0] == states[-2] == "busy"
    assert states[-1] == "idle"
    assert states.count("idle") == 1


def test_double_click_sends_one_answer(kernel: Kernel) -> None:
    cell = kernel.ask(sim(ask("double"), {"wait": "clicked"}))
    question = kernel.question(cell)
    clicks = [kernel.click(question, name) for name in ("Allow", "Allow", "Deny")]
    for click in clicks:
        kernel.handled(click)
    kernel.let_go("clicked")
    kernel.finish(cell)
    assert outcomes(kernel)["double"] == selected("allow")
    assert "“Allow” by you" in cell.text
    assert "expired: this question has been answered" in cell.text
    check_no_widget(kernel, cell)


def test_click_after_the_turn_does_no_harm(kernel: Kernel) -> None:
    cell = kernel.ask(sim(ask("late")))
    question = kernel.question(cell)
    kernel.click(question, "Allow")
    kernel.finish(cell)
    shown = cell.text
    kernel.handled(kernel.click(question, "Deny"))
    assert kernel.run(sim({"text": "next"})).status == "ok"
    assert outcomes(kernel)["late"] == selected("allow")
    assert cell.text == shown


def test_click_after_stop_does_no_harm(kernel: Kernel) -> None:
    cell = kernel.ask(sim(ask("stopped")))
    question = kernel.question(cell)
    kernel.interrupt()
    kernel.finish(cell)
    kernel.handled(kernel.click(question, "Allow"))
    assert kernel.run(sim({"text": "next"})).status == "ok"
    assert outcomes(kernel)["stopped"] == CANCELLED
    assert "cancelled" in cell.text
    check_no_widget(kernel, cell)


def test_several_questions_are_answered_in_any_order(kernel: Kernel) -> None:
    calls = [f"many{n}" for n in range(4)]
    together = [ask(c, rawInput={"CommandLine": f"run {c}"}) for c in calls]
    cell = kernel.ask(sim({"together": together}))
    questions = kernel.questions(cell, 4)
    assert [c in q.html for c, q in zip(calls, questions, strict=True)] == [True] * 4
    for done, (index, name) in enumerate(((2, "Deny"), (0, "Allow"), (3, "Allow"), (1, "Deny"))):
        now = {q.html: q for q in kernel.questions(cell, 4 - done)}
        kernel.click(now[questions[index].html], name)
    kernel.finish(cell)
    found = [outcomes(kernel)[call] for call in calls]
    assert found == [selected(option) for option in ("allow", "deny", "deny", "allow")]
    check_no_widget(kernel, cell)


@pytest.mark.report(22)
def test_only_the_offered_options_in_their_order_and_with_their_warnings(kernel: Kernel) -> None:
    options = [
        {"optionId": "never", "name": "Never", "kind": "reject_always"},
        {"optionId": "no", "name": "Not now", "kind": "reject_once"},
        {
            "optionId": "yes",
            "name": "Go on",
            "kind": "allow_once",
            "_meta": {WARNING: "reads your keys"},
        },
    ]
    call = {**RUN_LS, "toolCallId": "options"}
    cell = kernel.ask(sim({"ask": {"toolCall": call, "options": options}}))
    question = kernel.question(cell)
    assert list(question.buttons) == ["Never", "Not now", "⚠ Go on"]
    assert "reads your keys" in question.html
    kernel.click(question, "Not now")
    kernel.finish(cell)
    assert outcomes(kernel)["options"] == selected("no")


def test_warning_of_the_whole_request_is_shown(kernel: Kernel) -> None:
    warning = {WARNING: "This command <b>deletes</b> files."}
    cell = kernel.ask(sim(ask("warned", _meta=warning)))
    question = kernel.question(cell)
    assert "⚠ <b>This command &lt;b&gt;deletes&lt;/b&gt; files." in question.html
    kernel.click(question, "Deny")
    kernel.finish(cell)


# -- nobody there


def test_without_a_person_the_answer_is_an_offered_reject_at_once(kernel: Kernel) -> None:
    kernel.run(sim({"text": "warm"}))
    watch = Stopwatch()
    cell = kernel.run(sim(ask("nobody")))
    assert watch.seconds < 1
    assert outcomes(kernel)["nobody"] == selected("deny")
    assert cell.status == "ok"
    for words in ("ls -l secrets", "nobody can answer here", "AGY_PERMISSIONS=allow"):
        assert words in cell.text
    assert not cell.asked
    assert not [m for m in cell.messages if m.type.startswith("comm_")]


def test_without_a_person_a_question_is_cancelled_not_answered(kernel: Kernel) -> None:
    cell = kernel.run("Ask me a question")
    (call,) = cell.record["tool_calls"]
    assert call["id"].startswith("interaction_")
    assert outcomes(kernel)[call["id"]] == CANCELLED
    assert "a question for a person" in cell.text


# -- as text


def seconds_until_typed(cell: Cell) -> float:
    """From the widget to the line, by the kernel's clock."""
    texts = ("waiting for an answer", "1. Allow")
    widget, line = (next(m.made for m in cell.messages if t in str(m.content)) for t in texts)
    return (line - widget).total_seconds()


@pytest.mark.report(25, 69)
def test_line_is_asked_for_when_no_view_appears(start_kernel: StartKernel) -> None:
    kernel = start_kernel()
    kernel.shows_widgets = False
    cell = kernel.ask(sim(ask("typed")))
    assert "1 to 2" in kernel.asked(cell)
    kernel.shows(cell, "1. Allow")
    assert "$ ls -l secrets" in cell.text, "what would run is in the text too"
    assert 1.5 < seconds_until_typed(cell) < 10
    for count, nonsense in enumerate(("perhaps", "0", "3", "", "Allow it"), 2):
        kernel.type(nonsense)
        kernel.asked(cell, count)
    kernel.type(" deny ")
    kernel.finish(cell)
    assert outcomes(kernel)["typed"] == selected("deny")
    check_no_widget(kernel, cell)

    cell = kernel.ask(sim(ask("by number")))
    kernel.asked(cell)
    kernel.shows(cell, "1. Allow")
    assert seconds_until_typed(cell) < 1, "what is known is not waited for again"
    kernel.type("1")
    kernel.finish(cell)
    assert outcomes(kernel)["by number"] == selected("allow")


def test_late_click_wins_over_the_line_and_ends_the_asking(start_kernel: StartKernel) -> None:
    kernel = start_kernel()
    kernel.shows_widgets = False
    cell = kernel.ask(sim(ask("slow page"), {"text": "and on"}))
    kernel.asked(cell)
    kernel.shows_widgets = True
    kernel.click(kernel.question(cell), "Allow")
    kernel.finish(cell)
    assert outcomes(kernel)["slow page"] == selected("allow")

    # The page has shown that it has widgets, and a line typed too late answers nothing.
    cell = kernel.ask(sim(ask("next")))
    kernel.type("2")
    kernel.click(kernel.question(cell), "Allow")
    kernel.finish(cell)
    assert outcomes(kernel)["next"] == selected("allow")
    assert not cell.asked


def test_line_for_an_earlier_question_does_not_answer_a_later_one(
    start_kernel: StartKernel,
) -> None:
    kernel = start_kernel()
    kernel.shows_widgets = False
    cell = kernel.ask(sim(ask("stopped")))
    kernel.asked(cell)
    answer_late = kernel.typing("1")
    kernel.interrupt()
    kernel.finish(cell)

    cell = kernel.ask(sim(ask("next")))
    kernel.asked(cell)
    answer_late()
    kernel.type("2")
    kernel.finish(cell)
    assert outcomes(kernel) == {"stopped": CANCELLED, "next": selected("deny")}


def test_lines_for_several_questions_are_asked_for_one_after_the_other(
    start_kernel: StartKernel,
) -> None:
    kernel = start_kernel()
    kernel.shows_widgets = False
    cell = kernel.ask(sim({"together": [ask("first"), ask("second")]}))
    kernel.asked(cell)
    kernel.type("2")
    kernel.asked(cell, 2)
    assert "second" not in outcomes(kernel) or not outcomes(kernel)["second"]
    kernel.type("1")
    kernel.finish(cell)
    assert outcomes(kernel) == {"first": selected("deny"), "second": selected("allow")}
    assert len(cell.asked) == 2


def test_console_is_asked_in_lines_and_takes_nothing_from_a_notebook(
    start_kernel: StartKernel,
) -> None:
    kernel = start_kernel()
    console = kernel.send(sim(ask("console"), {"text": "and on"}), allow_stdin=True)
    kernel.asked(console)
    assert "ls -l secrets" in console.text
    kernel.type("Allow")
    kernel.finish(console)
    assert outcomes(kernel)["console"] == selected("allow")
    assert {o["output_type"] for o in console.outputs} == {"stream"}

    notebook = kernel.ask(sim(ask("notebook")))
    kernel.click(kernel.question(notebook), "Allow")
    kernel.finish(notebook)
    assert not notebook.asked


# -- policies


@pytest.mark.parametrize(("policy", "option"), [("allow", "allow"), ("deny", "deny")])
def test_policy_answers_permissions_and_never_questions(
    start_kernel: StartKernel, policy: str, option: str
) -> None:
    kernel = start_kernel(env={"AGY_PERMISSIONS": policy})
    cell = kernel.run(sim(ask("by policy")), allow_stdin=True, cell_id="c")
    assert outcomes(kernel)["by policy"] == selected(option)
    assert f"AGY_PERMISSIONS is {policy}" in cell.text
    assert cell.record["permissions"][0]["by"] == "policy"

    cell = kernel.ask("Ask me a question")
    question = kernel.question(cell)
    assert len(question.buttons) == 3
    kernel.click(question, "A picture")
    kernel.finish(cell)
    assert "**A picture**" in cell.text


# -- ends


@pytest.mark.parametrize("how", ["shutdown", "restart"])
def test_end_of_the_kernel_leaves_no_open_question_on_the_page(
    start_kernel: StartKernel, how: str
) -> None:
    kernel = start_kernel(f"{SIMULATOR} --ignore-eof")
    cell = kernel.ask(sim({"text": "may I? "}, ask("open")))
    question = kernel.question(cell)
    if how == "shutdown":
        kernel.shutdown()
    else:
        kernel.restart()
        kernel.handled(kernel.click(question, "Allow"))
        assert kernel.run(sim({"text": "next"})).status == "ok"
    assert "may I?" in cell.text
    assert "cancelled" in cell.text
    assert not [output for output in cell.outputs if VIEW in output.get("data", {})]
    assert outcomes(kernel)["open"] in ([], CANCELLED)


# -- not asked again


def test_the_same_command_is_not_asked_about_again_and_that_is_said(kernel: Kernel) -> None:
    again, other = ask("again-1"), ask("again-2", rawInput={"CommandLine": "ls -l secrets; rm x"})
    cell = kernel.ask(sim(again))
    question = kernel.question(cell)
    (box,) = [i for i, m in kernel.notebook.models.items() if m["_model_name"] == "CheckboxModel"]
    words = kernel.notebook.models[box]["description"]
    assert words == "Don't ask again in this session about this very command"
    state = {"method": "update", "state": {"value": True}, "buffer_paths": []}
    kernel.handled(kernel.comm(box, state))
    kernel.click(question, "Allow")
    kernel.finish(cell)
    second = kernel.run(sim(ask("again-3")), allow_stdin=True, cell_id="cell")
    assert outcomes(kernel)["again-3"] == selected("allow")
    assert "by the rule: allow (command: ls -l secrets)" in second.text
    third = kernel.ask(sim(other))
    kernel.click(kernel.question(third), "Deny")
    kernel.finish(third)


def test_the_same_is_not_asked_again_where_it_is_typed_with_a_mark(
    start_kernel: StartKernel,
) -> None:
    kernel = start_kernel()
    kernel.shows_widgets = False
    cell = kernel.send(sim(ask("typed-1")), allow_stdin=True)
    kernel.asked(cell)
    kernel.type("2!")
    kernel.finish(cell)
    second = kernel.run(sim(ask("typed-2")), allow_stdin=True)
    assert outcomes(kernel)["typed-2"] == selected("deny")
    assert "by the rule: deny (command: ls -l secrets)" in second.text
