"""Public reports about security: what an agent can reach, and what a person is told.

Each test stands for a row of the table in docs/reliability.md.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.kernels import Kernel, StartKernel, sim
from tests.support.notebook import Json

WARNING = "agy.security.warning"
RUN = {"toolCallId": "run", "title": "Run a command", "kind": "execute"}
REJECT = {"optionId": "no", "name": "Reject", "kind": "reject_once"}


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


@pytest.mark.report(30)
@pytest.mark.parametrize(
    "warning", [{"message": "it reads <your> keys"}, "it reads <your> keys"], ids=["object", "text"]
)
def test_warning_of_an_option_stands_beside_it_and_nothing_chooses_it(
    start_kernel: StartKernel, warning: object
) -> None:
    always = {"optionId": "always", "name": "Always allow", "kind": "allow_always"}
    options = [{**always, "_meta": {WARNING: warning}}, REJECT]
    kernel = start_kernel(env={"AGY_PERMISSIONS": "allow"})
    cell = kernel.ask(sim({"ask": {"toolCall": RUN, "options": options}}))
    question = kernel.question(cell)
    assert list(question.buttons) == ["⚠ Always allow", "Reject"]
    assert "Always allow: it reads &lt;your&gt; keys" in question.html
    kernel.click(question, "Reject")
    kernel.finish(cell)
    assert "answer: no" in cell.text
    (decision,) = cell.record["permissions"]
    assert decision["by"] == "you"


@pytest.mark.report(77)
def test_no_file_is_read_for_the_agent(kernel: Kernel) -> None:
    paths = ["/etc/passwd", str(kernel.cwd / "own.txt")]
    (kernel.cwd / "own.txt").write_text("own")
    cell = kernel.run(sim(*({"request": ["fs/read_text_file", {"path": p}]} for p in paths)))
    assert cell.text.count("error: -32601") == 2
    (initialize,) = kernel.sent("initialize")
    advertised = initialize["params"]["clientCapabilities"]
    assert not any(advertised.get("fs", {}).values())
    assert not advertised.get("terminal")


@pytest.mark.report(78)
def test_no_file_is_written_for_the_agent_through_a_link_or_otherwise(kernel: Kernel) -> None:
    outside = kernel.folder / "outside.txt"
    link = kernel.cwd / "link"
    link.symlink_to(outside)
    paths = [str(link), str(kernel.cwd / "plain.txt")]
    writes = ({"request": ["fs/write_text_file", {"path": p, "content": "x"}]} for p in paths)
    cell = kernel.run(sim(*writes))
    assert cell.text.count("error: -32601") == 2
    assert not outside.exists()
    assert not (kernel.cwd / "plain.txt").exists()


@pytest.mark.report(79)
def test_agent_gets_the_environment_without_jupyters_own_tokens(
    start_kernel: StartKernel,
) -> None:
    secrets = {"JUPYTERHUB_API_TOKEN": "hub", "JUPYTER_TOKEN": "server", "JPY_API_TOKEN": "api"}
    kernel = start_kernel(env={**secrets, "AWS_SECRET_ACCESS_KEY": "passed on, as the README says"})
    kernel.run(sim({"text": "Hello."}))
    environment = Path(f"/proc/{kernel.agent}/environ").read_bytes().split(b"\0")
    names = {entry.partition(b"=")[0].decode() for entry in environment}
    assert not names & set(secrets)
    assert "AWS_SECRET_ACCESS_KEY" in names


@pytest.mark.report(82)
def test_leave_for_one_call_is_none_for_another(kernel: Kernel) -> None:
    other = {**RUN, "toolCallId": "other", "rawInput": {"command": "rm -rf /"}}
    asked = {**RUN, "rawInput": {"command": "ls"}}
    done = {**other, "status": "completed"}
    cell = kernel.ask(sim({"ask": {"toolCall": asked}}, {"tool": done}))
    kernel.click(kernel.question(cell), "Allow")
    kernel.finish(cell)
    ran = {call["id"]: call["ran_without_asking"] for call in cell.record["tool_calls"]}
    assert ran == {"run": False, "other": True}
    assert cell.text.count("ran without asking") == 1


@pytest.mark.report(82)
@pytest.mark.parametrize("how", ["command", "change"])
def test_call_that_becomes_another_after_it_was_allowed_is_flagged(
    kernel: Kernel, how: str
) -> None:
    diff = {"type": "diff", "path": "/w/a.py", "oldText": "x\n"}
    as_asked: Json = {"rawInput": {"command": "ls"}}
    as_done: Json = {"rawInput": {"command": "rm -rf /"}}
    if how == "change":
        as_asked = {"content": [{**diff, "newText": "y\n"}]}
        as_done = {"content": [{**diff, "newText": "evil\n"}]}
    call = {**RUN, "toolCallId": how}
    done = {**call, **as_done, "status": "completed"}
    cell = kernel.ask(sim({"ask": {"toolCall": {**call, **as_asked}}}, {"tool": done}))
    kernel.click(kernel.question(cell), "Allow")
    kernel.finish(cell)
    assert "⚠ not what was approved" in cell.text
    (told,) = cell.record["tool_calls"]
    assert told["changed_after_approval"]
