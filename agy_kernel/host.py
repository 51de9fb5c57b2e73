"""One conversation in one kernel: the agent's thread, the turns, and what they showed."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections import deque
from collections.abc import Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from .acp.connection import Connection
from .acp.tape import Tape
from .agents import catalogue
from .conversation.conversation import Conversation
from .conversation.engine import Engine, EventSink
from .conversation.permissions import decide
from .conversation.thread import AgentThread
from .conversation.turn import Turn
from .display.ask import FrontEnd
from .display.footer import Circumstances, footer, problem, record
from .display.inbox import CommMessage, Happened, Inbox, Interrupt
from .display.interrupts import interrupts
from .display.loop import BATCH, run_until_over
from .display.output import CellOutput, Output
from .display.pump import find_pump
from .display.shown import Shown, View
from .display.stream import StreamView
from .display.view import NotebookView
from .events import AgentInfo, Capabilities, Event, TurnBroken, TurnEnded
from .prompt.blocks import Parcel, build
from .settings import Settings, load_settings

log = logging.getLogger(__name__)

T = TypeVar("T")
KEPT_TURNS = 20
CLOSE_TIMEOUT = 1.9  # Jupyter kills a kernel that takes much longer to shut down


class Host:
    """What ``%agy`` and the Antigravity kernel stand on.

    Args:
        shell: the IPython shell of a kernel.
    """

    def __init__(self, shell: Any) -> None:
        self._shell, self._kernel = shell, shell.kernel
        self._thread = AgentThread()
        self._inbox = Inbox(self._wake)
        self._pump = find_pump(self._kernel, self._inbox)
        self._front_end = FrontEnd()
        self._last_engine: Connection | None = None
        self.turns: deque[Shown] = deque(maxlen=KEPT_TURNS)

    @cached_property
    def settings(self) -> Settings:
        """The settings, as they were when they were first needed."""
        return load_settings()

    @cached_property
    def tape(self) -> Tape:
        """The record of the wire."""
        return Tape(self.settings.tape)

    @cached_property
    def conversation(self) -> Conversation:
        """The conversation; its agent is started by the first prompt."""
        launch = catalogue.find(self.settings.agent, self.settings.acp_bin)
        cwd = notebook_folder()

        def make_engine(on_event: EventSink) -> Engine:
            self._last_engine = Connection(
                launch,
                cwd,
                on_event,
                auth=self.settings.auth,
                start_timeout=self.settings.start_timeout,
                gate=self._inbox.room,
                tape=self.tape,
            )
            return self._last_engine

        return Conversation(make_engine, cwd, launch.name)

    @property
    def known_conversation(self) -> Conversation | None:
        """The conversation, if anybody has needed it yet."""
        return self.__dict__.get("conversation")

    # -- a turn

    def prompt(self, text: str) -> None:
        """Send a prompt, show what comes of it, and return when the turn is over.

        Raises:
            AgyError: the turn failed; what was received is shown all the same.
            TurnCancelled: it was stopped.
        """
        conversation = self.conversation
        blocks, _ = build(Parcel(text), Capabilities())
        output = CellOutput(self._shell)
        shown = Shown(self._view(output, conversation.cwd))
        turn = Turn(
            partial(self._happened, shown),
            partial(decide, policy=self.settings.permissions, human=output.human),
        )
        self.turns.append(shown)
        begin = time.monotonic()
        with interrupts(self.interrupted):
            run_until_over(
                shown,
                self._inbox,
                self._pump,
                start=lambda: self._submit(conversation.prompt(blocks, turn)),
                stop=lambda: self._submit(conversation.stop(turn)),
            )
            self._end(shown, time.monotonic() - begin)
        if (error := problem(shown.transcript, _ending(shown), turn.stopping)) is not None:
            raise error

    def interrupted(self, *_: object) -> None:
        """Handle SIGINT: only leave a note; an exception could tear a message, or lose an event."""
        self._inbox.put(Interrupt())

    def _view(self, output: Output, folder: str) -> View:
        if output.updates:
            return NotebookView(output, folder, self._front_end, self._pump.works)
        return StreamView(output, folder, self._front_end)

    def _happened(self, shown: Shown, event: Event) -> None:
        self._inbox.put(Happened(shown, event))

    def _end(self, shown: Shown, seconds: float) -> None:
        how, ending = self._circumstances(seconds), _ending(shown)
        shown.view.end(footer(shown.transcript, ending, how), record(shown.transcript, ending, how))

    def _circumstances(self, seconds: float) -> Circumstances:
        # An agent that has ended in this turn is still the one that it ran with.
        conversation, engine = self.conversation, self._last_engine
        chosen = {what: choices.name() for what, choices in conversation.choices.items()}
        return Circumstances(
            engine.info if engine and engine.info.name else AgentInfo(conversation.name),
            conversation.session_id or "",
            chosen.get("model", ""),
            chosen.get("mode", ""),
            seconds,
        )

    # -- between turns

    def _wake(self) -> None:
        """Something came while no turn was running: look at it when the kernel has time."""
        self._kernel.io_loop.add_callback(self._drain)

    def _drain(self) -> None:
        late: dict[int, Shown] = {}
        for _ in range(BATCH):
            item = None if self._inbox.has_reader else self._inbox.get(0)
            if item is None:
                break
            if isinstance(item, Happened):
                item.shown.take(item.event)
                late[id(item.shown)] = item.shown
            elif isinstance(item, CommMessage):
                self._pump.handle(item)
        else:
            self._wake()
        for shown in late.values():
            shown.draw()

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on the agent's thread and wait for it; Stop ends both."""
        future = self._thread.submit(work)
        try:
            with interrupts(signal.default_int_handler):
                return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def _submit(self, work: Coroutine[Any, Any, None]) -> None:
        self._thread.submit(work).add_done_callback(_report)

    def close(self) -> None:
        """End the agent and all it started, within two seconds."""
        if (conversation := self.known_conversation) is not None:
            closing = self._thread.submit(conversation.close())
            try:
                closing.result(CLOSE_TIMEOUT)
            except FutureTimeout:
                log.warning("the agent did not end in time; its watchdog will see to it")
        self.tape.close()
        if not self._inbox.has_reader:
            self._thread.close()


def notebook_folder() -> str:
    """The folder of the notebook where Jupyter tells it, else the kernel's own."""
    notebook = os.environ.get("JPY_SESSION_NAME", "")
    folder = Path(notebook).parent
    return str(folder) if folder.is_absolute() and folder.is_dir() else str(Path.cwd())


def _ending(shown: Shown) -> TurnEnded | TurnBroken:
    assert shown.ending is not None
    return shown.ending


def _report(future: Future[None]) -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        log.error("on the agent's thread", exc_info=error)
