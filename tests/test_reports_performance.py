"""Public reports about what is too much.

Each test stands for a row of the table in docs/reliability.md.
"""

from __future__ import annotations

import shlex

import pytest

from tests.agents.scripted import answer, chunk, command, expect, opening, send, to_stderr
from tests.support.kernels import Kernel, StartKernel, sim

NOISE = "RAW WS MSG: {" + "x" * 9_980 + "}\n"
SHOWN = ("display_data", "update_display_data", "stream")


@pytest.mark.report(7)
def test_ten_megabytes_on_stderr_neither_stop_the_stream_nor_show(
    start_kernel: StartKernel,
) -> None:
    noise = [step for n in range(10) for step in (to_stderr(NOISE, 100), send(chunk(f"{n} ")))]
    script = [expect("session/prompt"), *noise]
    script.append(answer("session/prompt", {"stopReason": "end_turn"}))
    kernel = start_kernel(shlex.join(command(*opening(), *script)))
    cell = kernel.run("Say something")
    assert cell.status == "ok"
    assert cell.outputs[0]["data"]["text/plain"] == "0 1 2 3 4 5 6 7 8 9 "
    assert not cell.times("RAW WS MSG")
    assert "RAW WS MSG" not in kernel.log


@pytest.mark.report(75)
def test_ten_thousand_chunks_are_two_hundred_messages_at_most_and_exact(
    shared_kernel: Kernel,
) -> None:
    cell = shared_kernel.run(sim({"chunks": [10_000, "word "]}))
    text = "".join(output["data"]["text/plain"] for output in cell.outputs[:-1])
    assert text == "word " * 10_000
    messages = [message for message in cell.messages if message.type in SHOWN]
    assert len(messages) <= 200
    assert len(cell.outputs) <= 40
    assert sum(len(str(message.content)) for message in messages) < 40 * len(text)
