"""The output area of one cell: the only place that publishes anything."""

from __future__ import annotations

import select
import sys
from collections.abc import Mapping
from typing import Any, Protocol

import zmq

Bundle = Mapping[str, Any]


class Output(Protocol):
    """Where a turn is shown."""

    @property
    def human(self) -> bool:
        """Whether somebody is there who can answer (the request allows stdin)."""

    @property
    def updates(self) -> bool:
        """Whether what was shown can be changed; consoles only take new lines."""

    def publish(self, bundle: Bundle, display_id: str, update: bool) -> None:
        """Show a bundle, or change the one with this display id."""

    def write(self, text: str) -> None:
        """Add text, where nothing can be updated."""

    def ask(self, prompt: str, secret: bool = False) -> None:
        """Ask for a line of text, which may be one that is not to be seen; does not wait for it."""

    def typed(self) -> str | None:
        """The line that was typed since ``ask``, if any."""


class CellOutput:
    """The output of the cell that is running now; it stays that cell's when another one runs.

    Args:
        shell: the IPython shell of a kernel.
    """

    def __init__(self, shell: Any) -> None:
        self._shell, self._kernel = shell, shell.kernel
        self._parent = self._kernel.get_parent()
        self._ident = self._kernel._parent_ident["shell"]
        self._asked = ""
        content = self._parent.get("content", {})
        self.human = bool(content.get("allow_stdin", False))
        # jupyter console and qtconsole ignore updates; notebooks tell which cell is executed.
        self.updates = not self.human or "cellId" in self._parent.get("metadata", {})

    def publish(self, bundle: Bundle, display_id: str, update: bool) -> None:
        """Show a bundle, or change the one with this display id."""
        transient = {"display_id": display_id}
        if self._is_current():
            self._shell.display_pub.publish(dict(bundle), transient=transient, update=update)
            return
        self._kernel.session.send(
            self._kernel.iopub_socket,
            "update_display_data" if update else "display_data",
            {"data": dict(bundle), "metadata": {}, "transient": transient},
            parent=self._parent,
            ident=self._kernel._topic("display_data"),
        )

    def write(self, text: str) -> None:
        """Add text to the stream."""
        print(text, end="", flush=True)

    def ask(self, prompt: str, secret: bool = False) -> None:
        """Send an ``input_request``; what was typed for an earlier one is dropped."""
        sys.stdout.flush()
        while self._reply() is not None:
            pass
        content = {"prompt": prompt, "password": secret}
        request = self._kernel.session.send(
            self._kernel.stdin_socket, "input_request", content, self._parent, ident=self._ident
        )
        self._asked = request["header"]["msg_id"]

    def typed(self) -> str | None:
        """The answer to the last ``input_request``, without waiting for it."""
        reply = self._reply()
        # Some front ends say which request they answer; those that do not are believed.
        if reply is None or reply["parent_header"].get("msg_id", self._asked) != self._asked:
            return None
        return str(reply["content"].get("value", ""))

    def _reply(self) -> Any:
        return self._kernel.session.recv(self._kernel.stdin_socket, zmq.NOBLOCK)[1]

    def _is_current(self) -> bool:
        header = self._kernel.get_parent().get("header", {})
        return bool(header.get("msg_id") == self._parent.get("header", {}).get("msg_id"))


class TerminalOutput:
    """A terminal or a plain script: text goes to standard output, answers are typed."""

    updates = False

    def __init__(self) -> None:
        self.human = sys.stdin is not None and sys.stdin.isatty()

    def publish(self, bundle: Bundle, display_id: str, update: bool) -> None:  # noqa: ARG002
        """Show a bundle's text; nothing can be changed later."""
        if not update:
            self.write(f"{bundle.get('text/plain', '')}\n")

    def write(self, text: str) -> None:
        """Add text."""
        print(text, end="", flush=True)

    def ask(self, prompt: str, secret: bool = False) -> None:  # noqa: ARG002  # it is the person's
        """Ask for a line of text."""
        self.write(prompt)

    def typed(self) -> str | None:
        """The line that was typed, without waiting for it."""
        ready, _, _ = select.select([sys.stdin], [], [], 0)
        return sys.stdin.readline() if ready else None
