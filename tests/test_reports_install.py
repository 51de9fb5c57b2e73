"""Public reports about installing and starting agents; more of them in test_hints.py.

Each test stands for a row of the table in docs/reliability.md.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import psutil
import pytest

from agy_kernel.settings import Settings
from tests.agents.scripted import command, expect, fail, hello, opening, turn
from tests.support.kernels import Kernel, StartKernel, sim


@pytest.mark.report(86)
def test_a_missing_helper_is_the_first_thing_that_the_cell_says(start_kernel: StartKernel) -> None:
    words = "Could not find default localharness binary"
    refusal = fail("session/new", -32603, words)
    script = command(*hello(), expect("session/new"), refusal)
    cell = start_kernel(shlex.join(script)).run("Hello")
    assert cell.status == "error"
    assert cell.error["evalue"].startswith("The server did not find localharness_external")
    assert words in cell.error["evalue"]


@pytest.mark.report(88)
def test_a_slow_first_start_is_waited_for_and_says_what_it_waits_for(
    start_kernel: StartKernel, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    os.mkfifo(disk)
    agent = shlex.join(command(*opening(), *turn("At last.")))
    slow = f"read -r _ < {shlex.quote(str(disk))}; exec {agent}"
    kernel = start_kernel(shlex.join(["sh", "-c", slow]))
    cell = kernel.send("Hello")
    said = r"starting sh \(([2-9]|\d\d+) s\)"  # more of them where the kernel comes late
    kernel.wait(lambda: re.search(said, cell.text), "how long it has waited")
    disk.write_text("ready\n")
    kernel.finish(cell)
    assert cell.status == "ok"
    assert "At last." in cell.text
    assert Settings().start_timeout >= 120


@pytest.mark.report(89)
def test_nothing_listens_on_a_port_but_jupyters_own_channels(kernel: Kernel) -> None:
    before = listening(kernel.pid)
    cell = kernel.run(sim({"text": "Hello"}))
    assert cell.status == "ok"
    assert len(before) >= 5
    assert listening(kernel.pid) == before
    assert [listening(pid) for pid in kernel.agents] == [set()]


def listening(pid: int) -> set[int]:
    """The TCP ports that a process listens on."""
    sockets = psutil.Process(pid).net_connections("tcp")
    return {socket.laddr.port for socket in sockets if socket.status == psutil.CONN_LISTEN}
