"""Widget clicks while a cell runs, without nested event loops.

A running turn blocks the kernel's main thread, on which widget messages would have to wait for
the cell to end. So while a turn is active they are taken off the shell channel and put into the
turn's inbox, and the blocked thread handles them itself. Everything else takes its ordinary way:
queued cells stay queued, and in order. Only what came before the turn began, while another cell
ran, is out of reach, and waits for the turn's end. (Why not asyncio, subshells or nest_asyncio:
measured, see docs/architecture.md.)

ipykernel 7 reads the shell channel in a thread of its own, and there the pump stands for the length
of a turn; ipykernel 6 has no such thread, so the blocked thread looks at the socket itself. Both
use names that ipykernel does not document. They are looked for, not assumed: without them there is
no pump, and questions are asked as text.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from .inbox import CommMessage, Inbox

COMM_TYPES = {"comm_open", "comm_msg", "comm_close", "comm_info_request"}
POLL = 0.02  # seconds
HAND_OVER = 5.0  # seconds; it takes a fraction of a millisecond
STUCK = 0.5  # seconds


class Pump(Protocol):
    """Brings widget messages to a running turn."""

    longest_wait: float | None
    """Seconds that the turn may wait in one go, None for as long as it likes."""

    @property
    def works(self) -> bool:
        """Whether widgets can be used at all."""

    @property
    def is_stuck(self) -> bool:
        """Whether a widget's own code has been running for so long that Stop must mean it."""

    def turn(self) -> AbstractContextManager[None]:
        """A context manager: for its length messages go to the inbox."""

    def poll(self) -> None:
        """Look for messages, where nobody else does."""

    def handle(self, message: CommMessage) -> None:
        """Handle a widget message on this thread."""


def find_pump(kernel: Any, inbox: Inbox) -> Pump:
    """The pump that fits a kernel.

    Args:
        kernel: the ipykernel, or None where there is no kernel (terminal IPython).
    """
    if _has(kernel, "shell_stream", "shell_handlers", "session", "iopub_socket", "_topic"):
        thread = getattr(kernel, "shell_channel_thread", None)
        if thread is None and _has(kernel, "schedule_dispatch", "dispatch_shell"):
            return PollingPump(kernel, inbox)
        if _has(thread, "io_loop", "manager") and _has(kernel, "shell_channel_thread_main"):
            return ThreadPump(kernel, inbox)
    return NoPump()


def _has(thing: Any, *names: str) -> bool:
    return thing is not None and all(getattr(thing, name, None) is not None for name in names)


class NoPump:
    """For kernels that it is not known how to pump: widgets do not work while a cell runs."""

    works = is_stuck = False
    longest_wait: float | None = None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Change nothing."""
        yield

    def poll(self) -> None:
        """Find nothing."""

    def handle(self, message: CommMessage) -> None:
        """Never called."""


class _KernelPump:
    """What both pumps share: being there for a turn, and handling one message."""

    works = True
    longest_wait: float | None = None

    def __init__(self, kernel: Any, inbox: Inbox) -> None:
        self._kernel, self._inbox = kernel, inbox
        self._turns = 0
        self._handling_since: float | None = None

    @property
    def is_stuck(self) -> bool:
        """Whether a widget's own code has been running for long."""
        since = self._handling_since
        return since is not None and time.monotonic() - since > STUCK

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let widget messages come to the inbox; a widget's callback may run a turn in a turn."""
        self._turns += 1
        if self._turns == 1:
            self._divert()
        try:
            yield
        finally:
            self._turns -= 1
            if not self._turns:
                self._restore()

    def handle(self, message: CommMessage) -> None:
        """Handle a message as ipykernel would, but leave the running cell the current parent."""
        kernel, session = self._kernel, self._kernel.session
        try:
            idents, frames = session.feed_identities(message.frames, copy=False)
            request = session.deserialize(frames, content=True, copy=False)
        except Exception:
            kernel.log.exception("a widget message could not be read")
            return
        self._status("busy", request)
        self._handling_since = time.monotonic()
        try:
            reply = kernel.shell_handlers[request["header"]["msg_type"]](
                self._reply_stream(), idents, request
            )
            if inspect.iscoroutine(reply):
                _run_to_end(reply)
        except KeyboardInterrupt:
            kernel.log.warning("a widget's own code was interrupted")
        except Exception:
            kernel.log.exception("a widget message could not be handled")
        finally:
            self._handling_since = None
            self._status("idle", request)
            if self._turns:
                # The last status is what a front end shows of the kernel, and the cell still runs.
                self._status("busy", kernel.get_parent())

    def _status(self, state: str, request: dict[str, Any]) -> None:
        # ipywidgets in the browser waits for this before it sends the next change.
        self._kernel.session.send(
            self._kernel.iopub_socket,
            "status",
            {"execution_state": state},
            parent=request,
            ident=self._kernel._topic("status"),
        )

    def _divert(self) -> None:
        raise NotImplementedError

    def _restore(self) -> None:
        raise NotImplementedError

    def _reply_stream(self) -> Any:
        raise NotImplementedError

    def _is_comm(self, frames: list[Any]) -> bool:
        session = self._kernel.session
        try:
            _, rest = session.feed_identities(frames, copy=False)
            header = session.deserialize(rest, content=False, copy=False)["header"]
        except Exception:
            return False  # the ordinary way says what is wrong with it
        return header.get("msg_type") in COMM_TYPES


class ThreadPump(_KernelPump):
    """For ipykernel 7: stands in the thread that reads the shell channel."""

    def poll(self) -> None:
        """The thread does it."""

    def _divert(self) -> None:
        self._receive_with(self._receive)

    def _restore(self) -> None:
        self._receive_with(self._kernel.shell_channel_thread_main)

    def _receive_with(self, callback: Any) -> None:
        done = threading.Event()

        def install() -> None:
            self._kernel.shell_stream.on_recv(callback, copy=False)
            done.set()

        self._kernel.shell_channel_thread.io_loop.add_callback(install)
        done.wait(HAND_OVER)

    async def _receive(self, frames: list[Any]) -> None:
        if self._is_comm(frames):
            self._inbox.put(CommMessage(frames))
        else:
            await self._kernel.shell_channel_thread_main(frames)

    def _reply_stream(self) -> Any:
        return self._kernel.shell_channel_thread.manager.get_subshell_to_shell_channel_socket(None)


class PollingPump(_KernelPump):
    """For ipykernel 6: the blocked thread reads the shell channel, and puts back the rest."""

    longest_wait: float | None = POLL

    def poll(self) -> None:
        """Read what has come, and send what was replied."""
        self._kernel.shell_stream.flush()

    def _divert(self) -> None:
        self._ordinary = self._kernel.shell_stream._recv_callback
        self._kernel.shell_stream.on_recv(self._receive, copy=False)

    def _restore(self) -> None:
        self._kernel.shell_stream.on_recv(self._ordinary, copy=False)

    def _receive(self, frames: list[Any]) -> None:
        if self._is_comm(frames):
            self._inbox.put(CommMessage(frames))
        else:
            self._ordinary(frames)

    def _reply_stream(self) -> Any:
        return self._kernel.shell_stream


def _run_to_end(coroutine: Any) -> None:
    """Run a handler that is declared async, but waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
    raise RuntimeError("a widget handler waits for something, which it cannot do here")
