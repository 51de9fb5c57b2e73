"""A kernel and the front end before it; fixtures that start some."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest
from jupyter_client.manager import KernelManager

from tests.support.front_end import LOOK_AGAIN, FrontEnd
from tests.support.notebook import Json
from tests.support.processes import agents_of, happens_within, watchdogs_of
from tests.support.starts import one_start_at_a_time
from tests.support.stopwatch import Stopwatch

SIMULATOR = f"{sys.executable} -m agy_kernel.agents.simulator --chunk-delay 0"


class Kernel(FrontEnd):
    """A kernel and its front end; use as a context manager.

    Args:
        folder: an empty folder for everything that is written; the notebook is in ``notebook``.
        agent: what ``AGY_AGENT`` is set to.
        env: more variables.
        name: which kernel to start.
    """

    def __init__(
        self,
        folder: Path,
        agent: str = SIMULATOR,
        env: Mapping[str, str] | None = None,
        name: str = "antigravity",
    ) -> None:
        super().__init__()
        self.folder, self.cwd = folder, folder / "notebook"
        self._tape = folder / "tape.jsonl"
        self._env = isolated(folder) | {"AGY_AGENT": agent, "AGY_TAPE": str(self._tape)}
        self._env |= env or {}
        self._manager = KernelManager(
            kernel_name=name, connection_file=str(folder / "connection.json")
        )
        # A busy kernel is not to be killed as one that hangs: the tests know how long it may take.
        self._manager.shutdown_wait_time = 40.0
        self._pids: list[int] = []

    # -- life

    def __enter__(self) -> Kernel:
        self.cwd.mkdir(parents=True)
        try:
            with one_start_at_a_time():
                self._start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._manager.is_alive():
                self.shutdown()
        finally:
            self._end()
        self.check_nothing_left()

    def _start(self) -> None:
        with (self.folder / "kernel.log").open("a") as log:
            self._manager.start_kernel(env=self._env, cwd=str(self.cwd), stdout=log, stderr=log)
            self._pids.append(self.pid)
            self._connect()

    def _end(self) -> None:
        self.disconnect()
        if self._manager.is_alive():
            os.killpg(self.pid, signal.SIGKILL)
        self._manager.cleanup_resources()

    def _connect(self) -> None:
        self.connect(self._manager.blocking_client())
        # IOPub is there when something of ours has come on it, and that may take a few tries.
        asked: set[str] = set()
        end = time.monotonic() + 60
        while not asked & self.notebook.idle:
            assert time.monotonic() < end, self.log
            assert self._manager.is_alive(), self.log
            asked.add(self.begin("kernel_info_request"))
            again = time.monotonic() + 0.3
            while not asked & self.notebook.idle and time.monotonic() < again:
                self.hear_next(LOOK_AGAIN)
        self.wait(lambda: any(map(self.reply, asked)), "kernel_info_reply")
        self.notebook.unclaimed.clear()  # whatever the debugger says while it starts

    @property
    def pid(self) -> int:
        """The kernel's process, which leads a group of its own."""
        assert self._manager.provisioner is not None
        return int(self._manager.provisioner.pid)  # type: ignore[attr-defined]

    @property
    def agents(self) -> set[int]:
        """The processes of its agent."""
        return agents_of(self.pid)

    @property
    def agent(self) -> int:
        """The one process of its agent."""
        (pid,) = self.agents
        return pid

    @property
    def log(self) -> str:
        """What the kernel wrote to its own stdout and stderr."""
        return (self.folder / "kernel.log").read_text()

    def shutdown(self) -> float:
        """End it as Jupyter does; returns the seconds that this took."""
        watch = Stopwatch()
        self._manager.shutdown_kernel()
        seconds = watch.seconds
        self.hear_rest()
        return seconds

    def restart(self) -> None:
        """End it and start another one, as Jupyter does."""
        with one_start_at_a_time():  # the next one has the ports of the last
            self._manager.shutdown_kernel(restart=True)
            self.hear_rest()
            self.notebook.cells.clear()
            self._start()

    @property
    def is_settled(self) -> bool:
        """Whether every cell has ended."""
        return self._manager.is_alive() and all(c.idle for c in self.notebook.cells.values())

    def check_nothing_left(self) -> None:
        """Nothing of any agent is left.

        Raises:
            AssertionError: something is; names it.
        """

        def left() -> set[int]:
            return {p for pid in self._pids for p in agents_of(pid) | watchdogs_of(pid)}

        assert happens_within(5, lambda: not left()), f"left behind: {left()}\n{self.log}"

    def let_go(self, name: str) -> None:
        """End the simulator's step ``{"wait": name}``."""
        (self.cwd / name).touch()

    # -- the wire

    def wire(self, direction: str | None = None) -> list[Any]:
        """The frames so far, from client to agent (``c2a``), the other way (``a2c``), or all."""
        if not self._tape.exists():
            return []
        lines = self._tape.read_bytes().splitlines(keepends=True)
        entries = [json.loads(line) for line in lines if line.endswith(b"\n")]
        frames = (e for e in entries if "msg" in e)  # no headers
        return [e["msg"] for e in frames if direction in (None, e["dir"])]

    def sent(self, method: str) -> list[Json]:
        """The requests and notifications of one method that the kernel sent."""
        return [frame for frame in self.wire("c2a") if frame.get("method") == method]

    def account(self) -> str:
        """What was seen last, the last frames of the wire, and the kernel's log."""
        wire = [f"-- wire: {json.dumps(frame)[:300]}" for frame in self.wire()[-8:]]
        return "\n".join([super().account(), *wire, f"-- log: {self.log[-4_000:]}"])


def prompt_of(frame: Json) -> str:
    """What was typed, of a ``session/prompt``: its last block."""
    return str(frame["params"]["prompt"][-1]["text"])


def sim(*steps: Json) -> str:
    """A prompt that scripts the simulator (docs/simulator.md)."""
    return f"SIM: {json.dumps(steps)}"


class StartKernel(Protocol):
    """Starts a kernel that ends with the test."""

    def __call__(
        self, agent: str = ..., env: Mapping[str, str] | None = ..., name: str = ...
    ) -> Kernel: ...


@pytest.fixture
def start_kernel(tmp_path: Path) -> Iterator[StartKernel]:
    """Start as many kernels as a test needs; all are ended, and nothing may be left of them."""
    with ExitStack() as kernels:
        folders = (tmp_path / f"kernel{number}" for number in itertools.count(1))

        def start(
            agent: str = SIMULATOR, env: Mapping[str, str] | None = None, name: str = "antigravity"
        ) -> Kernel:
            return kernels.enter_context(Kernel(next(folders), agent, env, name))

        yield start


@pytest.fixture
def kernel(start_kernel: StartKernel) -> Kernel:
    """A kernel with the simulator, for one test."""
    return start_kernel()


@pytest.fixture(scope="module")
def module_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel with the simulator, for a module."""
    with Kernel(tmp_path_factory.mktemp("shared")) as kernel:
        yield kernel


@pytest.fixture
def shared_kernel(module_kernel: Kernel) -> Iterator[Kernel]:
    """The module's kernel, started anew where a test has left a cell running."""
    yield module_kernel
    if not module_kernel.is_settled:
        module_kernel.restart()


def isolated(folder: Path) -> dict[str, str]:
    """The environment of a kernel that writes into a folder only, and knows no settings."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("AGY_", "JPY_", "JUPYTER"))}
    places = {
        "HOME": "home",
        "IPYTHONDIR": "ipython",
        "JUPYTER_CONFIG_DIR": "jupyter/config",
        "JUPYTER_DATA_DIR": "jupyter/data",
        "JUPYTER_RUNTIME_DIR": "jupyter/runtime",
        "XDG_STATE_HOME": "state",
    }
    return own | {name: str(folder / place) for name, place in places.items()}
