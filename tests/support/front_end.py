"""A front end: it sends cells, listens, shows widgets, and has a person before it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import zmq
from jupyter_client.blocking.client import BlockingKernelClient

from tests.support.notebook import Cell, Json, Notebook, Question
from tests.support.stopwatch import Stopwatch

T = TypeVar("T")
PATIENCE = 20.0  # seconds for anything that a test waits for
FAREWELL = 3.0  # seconds; one that was killed says none
LOOK_AGAIN = 0.05  # seconds; a condition may be about processes, files or the wire


class FrontEnd:
    """A front end of one kernel, over its sockets.

    It shows widgets, and reports their views, while ``shows_widgets`` is true.
    """

    def __init__(self) -> None:
        self.notebook = Notebook()
        self.shows_widgets = True
        self._client: BlockingKernelClient | None = None
        self._seen_views: set[str] = set()
        self._replies: dict[str, Json] = {}
        self._asker: Json | None = None
        self._said_farewell = False

    def connect(self, client: BlockingKernelClient) -> None:
        """Open the channels to a kernel, in place of those to the last one."""
        self.disconnect()
        self._client, self._said_farewell = client, False
        client.start_channels(hb=False)

    def disconnect(self) -> None:
        """Close the channels."""
        if self._client is not None:
            self._client.stop_channels()

    @property
    def _channels(self) -> BlockingKernelClient:
        assert self._client is not None
        return self._client

    def account(self) -> str:
        """What was seen last, for the message of a test that fails."""
        return "\n".join(
            f"-- cell: {c.status}, idle: {c.idle}\n{c.text[-2_000:]}"
            for c in list(self.notebook.cells.values())[-3:]
        )

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

    @property
    def is_secret(self) -> bool:
        """Whether the line that is asked for is not to be seen."""
        return self._asker is not None and bool(self._asker["content"]["password"])

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
        watch = Stopwatch()
        while not (value := condition()):
            # What has come in time counts, however late it is looked at.
            if not self.hear_next(LOOK_AGAIN) and watch.seconds > timeout:
                raise TimeoutError(f"{what} did not come within {timeout} s\n{self.account()}")
        return value

    def hear_next(self, timeout: float) -> bool:
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

    def hear_rest(self) -> None:
        """Take what is still on its way from a kernel that has ended; its farewell is the last."""
        watch = Stopwatch()
        while (self.hear_next(0.1) or not self._said_farewell) and watch.seconds < FAREWELL:
            pass

    def _hear(self, channel: str, message: Json) -> None:
        parent = message["parent_header"].get("msg_id", "")
        cell = self.notebook.cells.get(parent)
        if channel == "iopub":
            self.notebook.hear(message)
            self._said_farewell |= message["msg_type"] == "shutdown_reply"
            self._report_views()
        elif channel == "stdin":
            self._asker = message
            if cell is not None:
                cell.asked.append(message["content"]["prompt"])
        elif cell is not None:
            cell.reply_made = message["header"]["date"]
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
