"""Public reports about streaming: what a turn says of itself, and how a cell ends.

Each test stands for a row of the table in docs/reliability.md.
"""

from __future__ import annotations

import shlex

import pytest

from tests.agents.scripted import Step, answer, chunk, command, expect, opening, send, turn, update
from tests.support.kernels import Kernel, StartKernel, sim

UNREACHABLE = {"code": -32603, "message": "model unreachable: doRequest: EOF"}


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    return shared_kernel


def agent(*steps: Step) -> str:
    """The command line of a scripted agent."""
    return shlex.join(command(*steps))


@pytest.mark.report(10)
def test_words_before_the_first_prompt_are_a_notice_and_no_part_of_the_answer(
    start_kernel: StartKernel,
) -> None:
    banner = answer("session/new", {"sessionId": "s1"}, chunk("Welcome to agent 1.0"))
    *start, _ = opening()
    kernel = start_kernel(agent(*start, banner, *turn("The answer.")))
    cell = kernel.run("Say something")
    assert cell.status == "ok"
    assert "Before the first prompt the agent said: Welcome to agent 1.0" in cell.text
    (text,) = (o["data"] for o in cell.outputs if "The answer." in o["data"]["text/plain"])
    assert text["text/plain"] == "The answer."


@pytest.mark.report(14)
def test_tool_server_that_failed_is_named_for_people_and_for_programs(kernel: Kernel) -> None:
    cell = kernel.run(sim({"text": "The MCP server 'nb' failed to initialize: no such file"}))
    assert cell.status == "ok"
    assert cell.record["failed_mcp_servers"] == ["nb"]
    footer = cell.outputs[-1]["data"]["text/markdown"]
    assert "⚠ MCP server failed: nb" in footer
    assert kernel.run(sim({"text": "fine"})).record["failed_mcp_servers"] == []


@pytest.mark.report(16)
def test_dropped_model_stream_is_a_readable_error_and_the_next_cell_goes_on(
    kernel: Kernel,
) -> None:
    cell = kernel.run(sim({"text": "half "}, {"fail": UNREACHABLE}))
    assert cell.status == "error"
    assert cell.error["evalue"].startswith("model unreachable: doRequest: EOF (-32603)")
    assert "Run the cell again" in cell.error["traceback"][-1]
    assert "half" in cell.text
    following = kernel.run(sim({"text": "whole"}))
    assert following.status == "ok"
    assert following.record["session_id"] == cell.record["session_id"]


@pytest.mark.report(18)
def test_silence_is_counted_and_a_turn_without_a_word_says_so(kernel: Kernel) -> None:
    cell = kernel.send(sim({"wait": 11.5}))
    kernel.shows(cell, "waiting for the agent, 10 s")
    kernel.finish(cell)
    assert "ended the turn without any text" in cell.text
    assert "waiting for the agent" not in cell.text


@pytest.mark.report(39)
def test_call_without_an_end_is_unfinished_and_does_not_run_for_ever(kernel: Kernel) -> None:
    call = {"toolCallId": "bg", "title": "Serve files", "kind": "execute", "status": "in_progress"}
    cell = kernel.run(sim({"tool": call}, {"text": "It runs in the background."}))
    assert "… <b>run</b>" in cell.text
    assert "unfinished at the end of the turn" in cell.text
    assert "running" not in cell.text.replace("runs in", "")
    (told,) = cell.record["tool_calls"]
    assert told["unfinished"]


@pytest.mark.report(93)
def test_words_that_look_like_diagnostics_are_shown_as_the_agent_said_them(
    kernel: Kernel,
) -> None:
    words = "I0812 12:00:00.1 harness.cc:42] step 3: tool budget 12\n\nThe answer is 4."
    cell = kernel.run(sim({"text": words}))
    assert words in cell.outputs[0]["data"]["text/plain"]
    said = [f["params"]["update"] for f in kernel.wire("a2c") if f.get("method")]
    text = "".join(
        u["content"]["text"] for u in said if u["sessionUpdate"] == "agent_message_chunk"
    )
    assert words in text


@pytest.mark.report(95)
def test_usage_of_a_turn_is_told_once_and_not_added_up(start_kernel: StartKernel) -> None:
    usage = {"inputTokens": 300, "outputTokens": 30, "totalTokens": 330}
    steps = [update("s1", "usage_update", used=n, size=1_000) for n in (110, 220, 330)]
    script = [expect("session/prompt"), send(chunk("a"), *steps)]
    script += [answer("session/prompt", {"stopReason": "end_turn", "usage": usage})]
    cell = start_kernel(agent(*opening(), *script)).run("Say something")
    assert cell.record["usage"] == {"input": 300, "output": 30, "total": 330}
    assert cell.record["context"] == {"used": 330, "size": 1_000}
    assert "300 tokens in, 30 tokens out, context 330 of 1,000" in cell.text
    assert cell.text.count("tokens in") == 1
