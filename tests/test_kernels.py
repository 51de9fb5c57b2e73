"""Which kernels still run: an id alone does not say it, and clocks are set."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from agy_kernel.kernels import runs_elsewhere, this_kernel

NAME_ITSELF = (
    "from agy_kernel.kernels import this_kernel; print(this_kernel(), flush=True); input()"
)


@pytest.fixture
def other() -> Iterator[subprocess.Popen[str]]:
    command = (sys.executable, "-c", NAME_ITSELF)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        yield process
        process.kill()


def named(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_kernel_runs_until_it_has_ended(other: subprocess.Popen[str]) -> None:
    name = named(other)
    assert runs_elsewhere(name) == other.pid
    other.communicate("\n")
    assert runs_elsewhere(name) is None


def test_this_kernel_runs_nowhere_else() -> None:
    assert runs_elsewhere(this_kernel()) is None


@pytest.mark.parametrize(("seconds", "runs"), [(1, True), (-30, True), (3600, False)])
def test_a_clock_that_was_set_does_not_hide_a_kernel_and_an_id_used_again_is_none(
    other: subprocess.Popen[str], seconds: int, runs: bool
) -> None:
    host, pid, started = named(other).split()
    assert abs(int(started) - psutil.Process(other.pid).create_time()) < 2
    found = runs_elsewhere(f"{host} {pid} {int(started) + seconds}")
    assert found == (other.pid if runs else None)


@pytest.mark.parametrize("name", ["", "somewhere 1 1", "{host} x 1", "{host} {pid}", "{host} 1 x"])
def test_a_name_that_means_no_kernel_of_this_machine(name: str) -> None:
    assert runs_elsewhere(name.format(host=socket.gethostname(), pid=os.getppid())) is None
