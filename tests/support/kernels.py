"""A kernel, driven as a front end drives it: over its sockets, with widgets and a person."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest
import zmq
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

from tests.support.notebook import Cell, Json, Notebook, Question
from tests.support.processes import agents_of, happens_within, watchdogs_of

T = TypeVar("T")
PATIENCE = 20.0  # seconds for anything that a test waits for
LOOK_AGAIN = 0.05  # seconds; a condition may be about processes, files or the wire
SIMULATOR = f"{sys.executable} -m agy_kernel.agents.simulator --chunk-delay 0"


class Kernel:
    """A kernel and its front end; use as a context manager.

    The front end shows widgets, and reports their views, while ``shows_widgets`` is true.

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
        self.folder, self.cwd = folder, folder / "notebook"
        self.notebook = Notebook()
        self.shows_widgets = True
        self._tape = folder / "tape.jsonl"
        self._env = isolated(folder) | {"AGY_AGENT": agent, "AGY_TAPE": str(self._tape)}
        self._env |= env or {}
        self._manager = KernelManager(
            kernel_name=name, connection_file=str(folder / "connection.json")
        )
        self._client: BlockingKernelClient | None = None
        self._pids: list[int] = []
        self._seen_views: set[str] = set()
        self._replies: dict[str, Json] = {}
        self._asker: Json | None = None

    # -- life

    def __enter__(self) -> Kernel:
        self.cwd.mkdir(parents=True)
        try:
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
        with one_start_at_a_time(), (self.folder / "kernel.log").open("a") as log:
            self._manager.start_kernel(env=self._env, cwd=str(self.cwd), stdout=log, stderr=log)
            self._pids.append(self.pid)
            self._connect()

    def _end(self) -> None:
        if self._client is not None:
            self._client.stop_channels()
        for pid in self._pids:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        self._manager.cleanup_resources()

    def _connect(self) -> None:
        self._client = self._manager.blocking_client()
        self._client.start_channels(hb=False)
        # IOPub is there when something of ours has come on it, and that may take a few tries.
        asked: set[str] = set()
        end = time.monotonic() + 60
        while not asked & self.notebook.idle:
            assert time.monotonic() < end, self.log
            assert self._manager.is_alive(), self.log
            asked.add(self._channels.kernel_info())
            with suppress(TimeoutError):
                self.wait(lambda: bool(asked & self.notebook.idle), "kernel_info", timeout=0.3)
        self.wait(lambda: any(a in self._replies for a in asked), "kernel_info_reply")
        self.notebook.unclaimed.clear()  # whatever the debugger says while it starts

    @property
    def _channels(self) -> BlockingKernelClient:
        assert self._client is not None
        return self._client

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
        begin = time.monotonic()
        self._manager.shutdown_kernel()
        seconds = time.monotonic() - begin
        self._hear_rest()
        return seconds

    def restart(self) -> None:
        """End it and start another one, as Jupyter does."""
        self._manager.shutdown_kernel(restart=True)
        self._hear_rest()
        self._channels.stop_channels()
        self.notebook.cells.clear()
        self._start()

    def kill(self) -> None:
        """Kill the kernel's process, as the system would."""
        os.kill(self.pid, signal.SIGKILL)
        assert happens_within(5, lambda: not self._manager.is_alive())

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

    # -- cells

    def send(
        self,
        code: str,
        *,
        allow_stdin: bool = False,
        cell_id: str | None = None,
        silent: bool = False,
        store_history: bool = True,
        stop_on_error: bool = True,
    ) -> Cell:
        """Send a cell, and do not wait for it.

        Args:
            allow_stdin: whether a person is there.
            cell_id: notebooks tell it, consoles do not.
        """
        content = {
            "code": code,
            "silent": silent,
            "store_history": store_history,
            "user_expressions": {},
            "allow_stdin": allow_stdin,
            "stop_on_error": stop_on_error,
        }
        metadata = {} if cell_id is None else {"cellId": cell_id}
        request = self._channels.session.msg("execute_request", content, metadata=metadata)
        cell = self.notebook.add(request)
        self._channels.shell_channel.send(request)
        return cell

    def ask(self, code: str) -> Cell:
        """Send a cell as a person in a notebook does."""
        return self.send(code, allow_stdin=True, cell_id="cell")

    def finish(self, cell: Cell, timeout: float = PATIENCE) -> Cell:
        """Wait until a cell is done; returns it."""
        self.wait(lambda: bool(cell.reply) and cell.idle, "the end of the cell", timeout)
        return cell

    def run(self, code: str, timeout: float = PATIENCE, **how: Any) -> Cell:
        """Send a cell, and wait until it is done."""
        return self.finish(self.send(code, **how), timeout)

    def shows(self, cell: Cell, text: str, timeout: float = PATIENCE) -> None:
        """Wait until a cell shows a text."""
        self.wait(lambda: text in cell.text, f"{text!r} in the cell", timeout)

    def request(self, kind: str, content: Json | None = None, channel: str = "shell") -> Json:
        """Send any other request and wait for its reply; returns the reply's content."""
        sent = self.begin(kind, content, channel)
        return self.wait(lambda: self.reply(sent), f"the reply to {kind}")

    def begin(self, kind: str, content: Json | None = None, channel: str = "shell") -> str:
        """Send any other request, and do not wait for its reply; returns its id."""
        message = self._channels.session.msg(kind, content or {})
        getattr(self._channels, f"{channel}_channel").send(message)
        return str(message["header"]["msg_id"])

    def reply(self, request_id: str) -> Json:
        """The reply's content, empty while there is none."""
        return self._replies.get(request_id, {})

    # -- a person

    def question(self, cell: Cell, timeout: float = PATIENCE) -> Question:
        """Wait for a question; returns it."""
        (question,) = self.questions(cell, 1, timeout)
        return question

    def questions(self, cell: Cell, count: int, timeout: float = PATIENCE) -> list[Question]:
        """Wait for ``count`` questions at once; returns them, from top to bottom."""

        def shown() -> list[Question]:
            questions = self.notebook.questions(cell)
            return questions if len(questions) == count else []

        return self.wait(shown, f"{count} questions", timeout)

    def click(self, question: Question, name: str, subshell: str | None = None) -> str:
        """Click on a button; returns the message's id."""
        data = {"method": "custom", "content": {"event": "click"}}
        return self.comm(question.buttons[name], data, subshell)

    def comm(self, comm_id: str, data: Json, subshell: str | None = None) -> str:
        """Send a widget message; returns its id."""
        message = self._channels.session.msg("comm_msg", {"comm_id": comm_id, "data": data})
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self._channels.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def handled(self, message_id: str) -> None:
        """Wait until the kernel is done with a message."""
        self.wait(lambda: message_id in self.notebook.idle, "the idle status of a message")

    def asked(self, cell: Cell, times: int = 1, timeout: float = PATIENCE) -> str:
        """Wait until a line of text is asked for, as often as said; returns the last prompt."""
        self.wait(lambda: len(cell.asked) >= times, f"{times} times input_request", timeout)
        return cell.asked[-1]

    def type(self, line: str) -> None:
        """Answer the last ``input_request``."""
        self.typing(line)()

    def typing(self, line: str) -> Callable[[], None]:
        """Begin to answer the last ``input_request``; what is returned sends the answer."""
        assert self._asker is not None
        reply = self._channels.session.msg("input_reply", {"value": line}, parent=self._asker)
        return lambda: self._channels.stdin_channel.send(reply)

    def interrupt(self) -> None:
        """Press Stop, as JupyterLab does: a request on the control channel."""
        self._channels.control_channel.send(self._channels.session.msg("interrupt_request", {}))

    # -- listening

    def wait(self, condition: Callable[[], T], what: str, timeout: float = PATIENCE) -> T:
        """Take messages until a condition holds; returns its value.

        Raises:
            TimeoutError: it does not; says what was seen.
        """
        end = time.monotonic() + timeout
        while not (value := condition()):
            if not self._hear_next(LOOK_AGAIN) and time.monotonic() > end:
                raise TimeoutError(f"{what} did not come within {timeout} s\n{self._account()}")
        return value

    def _hear_next(self, timeout: float) -> bool:
        """Take what comes next on any channel; false when nothing does in time."""
        client = self._channels
        channels = {"iopub": client.iopub_channel, "shell": client.shell_channel}
        channels |= {"stdin": client.stdin_channel, "control": client.control_channel}
        poller = zmq.Poller()
        for channel in channels.values():
            poller.register(channel.socket, zmq.POLLIN)
        ready = dict(poller.poll(int(max(0.0, timeout) * 1000)))
        for name, channel in channels.items():
            if channel.socket in ready:
                _, message = client.session.recv(channel.socket, zmq.NOBLOCK)
                if message is not None:
                    self._hear(name, message)
        return bool(ready)

    def _hear_rest(self) -> None:
        while self._hear_next(0.1):
            pass

    def _hear(self, channel: str, message: Json) -> None:
        parent = message["parent_header"].get("msg_id", "")
        cell = self.notebook.cells.get(parent)
        if channel == "iopub":
            self.notebook.hear(message)
            self._report_views()
        elif channel == "stdin":
            self._asker = message
            if cell is not None:
                cell.asked.append(message["content"]["prompt"])
        elif cell is not None:
            cell.reply, cell.replied = message["content"], time.monotonic()
        else:
            self._replies[parent] = message["content"]

    def _report_views(self) -> None:
        if not self.shows_widgets:
            return
        for cell in list(self.notebook.cells.values()):
            for model in self.notebook.views(cell):
                counts = self.notebook.models[model].get("_view_count") is not None
                if counts and model not in self._seen_views:
                    self._seen_views.add(model)
                    state = {"_view_count": 1}
                    self.comm(model, {"method": "update", "state": state, "buffer_paths": []})

    def _account(self) -> str:
        cells = [
            f"-- cell: {c.status}, idle: {c.idle}\n{c.text[-2_000:]}"
            for c in list(self.notebook.cells.values())[-3:]
        ]
        wire = [f"-- wire: {json.dumps(frame)[:300]}" for frame in self.wire()[-8:]]
        return "\n".join([*cells, *wire, f"-- log: {self.log[-4_000:]}"])

    # -- the wire

    def wire(self, direction: str | None = None) -> list[Any]:
        """The frames so far, from client to agent (``c2a``), the other way (``a2c``), or all."""
        if not self._tape.exists():
            return []
        lines = self._tape.read_bytes().splitlines(keepends=True)
        entries = [json.loads(line) for line in lines if line.endswith(b"\n")]
        return [e["msg"] for e in entries if direction in (None, e["dir"])]

    def sent(self, method: str) -> list[Json]:
        """The requests and notifications of one method that the kernel sent."""
        return [frame for frame in self.wire("c2a") if frame.get("method") == method]


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
    with starting(tmp_path) as start:
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


@contextmanager
def starting(folder: Path) -> Iterator[StartKernel]:
    """What starts kernels in subfolders of a folder; at the end they are ended."""
    with ExitStack() as kernels:
        count = 0

        def start(
            agent: str = SIMULATOR, env: Mapping[str, str] | None = None, name: str = "antigravity"
        ) -> Kernel:
            nonlocal count
            count += 1
            return kernels.enter_context(Kernel(folder / f"kernel{count}", agent, env, name))

        yield start


@contextmanager
def one_start_at_a_time() -> Iterator[None]:
    """Let nobody else start a kernel meanwhile: ports are chosen before they are bound."""
    with (Path(tempfile.gettempdir()) / "agy-kernel-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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
