"""One conversation in one kernel: the agent's thread, the turns, and what they showed."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from .agents.hints import explained
from .context import Context, Pack, notebook_folder, notebook_path, own_folder
from .conversation.conversation import Conversation
from .conversation.thread import AgentThread
from .conversation.turn import Turn
from .conversation.watch import Limits
from .conversations import Conversations
from .display.ask import FrontEnd
from .display.footer import Circumstances, footer, problem, record
from .display.inbox import CommMessage, Happened, Inbox, Interrupt
from .display.interrupts import interrupts
from .display.loop import BATCH, run_until_over
from .display.output import CellOutput, Output, TerminalOutput
from .display.place import Place
from .display.pump import find_pump
from .display.quiet import QuietView
from .display.shown import Shown, View
from .display.stream import StreamView
from .display.view import NotebookView
from .errands import Errand, Work, put
from .errors import CommandError, TurnCancelled, TurnTimeout
from .events import Event, TurnBroken, TurnEnded
from .prompt.gather import Request
from .questions import Answer, Confirmation, Question
from .reply import Reply
from .run import Run
from .signin.signing_out import signs_out

if TYPE_CHECKING:
    from .configuration import Configuration
    from .conversation.permissions import Permissions
    from .settings import Settings

log = logging.getLogger(__name__)

T = TypeVar("T")
Going = Callable[[], Coroutine[Any, Any, None]]
KEPT_TURNS = 20
UNATTENDED = 600.0  # seconds for a turn where no person is there
CLOSE_TIMEOUT = 1.9  # Jupyter kills a kernel that takes much longer to shut down


@dataclass(frozen=True, slots=True)
class Manner:
    """How a turn is run.

    Args:
        agent: which agent to ask; empty for the one that the settings name.
        timeout: seconds that it may take.
        quiet: show nothing but questions.
    """

    agent: str = ""
    timeout: float | None = None
    quiet: bool = False


class Host:
    """What ``%agy``, ``ask`` and the Antigravity kernel stand on.

    Args:
        shell: the IPython shell, of a kernel or of a terminal; None in a plain script.
        is_prompt_notebook: whether a cell is a prompt, or one asks from Python.
        is_ours: whether a cell's source only talks to the agent, and is no news to it.
    """

    def __init__(
        self,
        shell: Any = None,
        is_prompt_notebook: bool = False,
        is_ours: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.shell, self._kernel = shell, getattr(shell, "kernel", None)
        self._thread = AgentThread()
        self._inbox = Inbox(self._wake)
        self._pump = find_pump(self._kernel, self._inbox)
        self._front_end = FrontEnd()
        self.is_prompt_notebook = is_prompt_notebook
        self.context = Context(shell, is_prompt_notebook, is_ours)
        self.conversations = Conversations(
            lambda: self.configuration, self.context, self._notebook, self._inbox.room
        )
        self._said: set[str] = set()
        self._turn = threading.RLock()
        self.turns: deque[Shown] = deque(maxlen=KEPT_TURNS)
        self._late: dict[int, Shown] = {}
        """The turns for which something has come since they were drawn, although they are over."""
        self._will_draw_late = False

    @cached_property
    def configuration(self) -> Configuration:
        """The settings, and where each comes from."""
        from .configuration import Configuration

        return Configuration(own_folder() / "settings.json")

    @cached_property
    def permissions(self) -> Permissions:
        """The rules, and what was decided by them."""
        from .policy import permissions

        return permissions(lambda: self.configuration, notebook_folder())

    @property
    def settings(self) -> Settings:
        """The settings, as they are now."""
        return self.configuration.settings

    @property
    def conversation(self) -> Conversation:
        """The conversation with the agent that the settings name."""
        return self.conversations.with_agent()

    @property
    def known_conversation(self) -> Conversation | None:
        """The last conversation that anybody has needed."""
        return next(reversed(self.conversations.all), None)

    def _notebook(self) -> str:
        path = notebook_path(self.shell.user_ns) if self.shell is not None else None
        return str(path) if path is not None else ""

    # -- a turn

    def prompt(self, request: Request, manner: Manner = Manner()) -> Reply:
        """Send a prompt, show what comes of it, and return when the turn is over.

        A prompt of another thread waits until this one's turn is over.

        Raises:
            AgyError: the turn failed; what was received is shown all the same.
            TurnTimeout: it took longer than ``manner.timeout``.
            TurnCancelled: it was stopped, or is not to be sent.
            CommandError: it would sign out, and nobody can be asked.
        """
        with self._alone():
            return self._prompt(request, manner)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One turn at a time, but for one that a widget's own code begins within another."""
        is_mine = False
        try:
            with interrupts(signal.default_int_handler):
                is_mine = self._turn.acquire()
        except KeyboardInterrupt:
            if is_mine:
                self._turn.release()
            raise TurnCancelled("stopped while another turn was running.") from None
        try:
            yield
        finally:
            self._turn.release()

    def _prompt(self, request: Request, manner: Manner) -> Reply:
        conversation = self.conversations.with_agent(manner.agent)
        self._ask_before_signing_out(request.text, conversation)
        output = self._output()
        shown = Shown(self._view(output, conversation.cwd, manner.quiet))
        turn = self._turn_shown_as(shown, output)
        pack = self.pack(request, conversation)
        limits, warnings = self._limits(manner, output.human), self._warnings()
        opened = partial(self.conversations.remember, conversation)
        run = Run(conversation, pack, turn, limits, opened, warnings)
        self.turns.append(shown)
        begin = time.monotonic()
        with self._sitting(shown, run.go, lambda: conversation.stop(turn)):
            how = run.circumstances(time.monotonic() - begin)
            self._end(shown, how)
        if shown.transcript.stop_reason not in (None, "refusal"):
            run.pack.was_told()
        self.conversations.remember(conversation)
        if run.expired:
            raise TurnTimeout(run.expired)
        if (error := problem(shown.transcript, _ending(shown), turn.stopping)) is not None:
            raise explained(error)
        return Reply.of(shown.transcript, how)

    def _ask_before_signing_out(self, text: str, conversation: Conversation) -> None:
        if not signs_out(text, conversation.commands):
            return
        word = text.split(maxsplit=1)[0]
        details = ("The agent may forget your sign-in, for every program that uses it.",)
        answer = self.ask(Confirmation(f"Send {word}? It signs you out.", details, yes="Send"))
        if answer.by == "you" and not answer.accepted:
            raise TurnCancelled(f"{word} was not sent.")
        if not answer.accepted:
            raise CommandError(f"{word} was not sent: {answer.why}.")

    def _limits(self, manner: Manner, human: bool) -> Limits:
        settings = self.settings
        seconds = manner.timeout or settings.turn_timeout
        if seconds is None:
            seconds = 0.0 if human else UNATTENDED
        return Limits(seconds, settings.idle_timeout, settings.idle_ends)

    def _warnings(self) -> list[str]:
        """What is to be said of the settings, once, and of what could not be remembered."""
        problems = [p for p in self.configuration.problems if p not in self._said]
        self._said.update(problems)
        return problems + self.conversations.take_warnings()

    def pack(self, request: Request, conversation: Conversation) -> Pack:
        """Read what could go along: code of the person's objects runs here, so Stop ends it."""
        try:
            with interrupts(signal.default_int_handler):
                agent = self.conversations.home(conversation).agent
                return self.context.pack(request, conversation.cwd, self.settings, agent)
        except KeyboardInterrupt:
            raise TurnCancelled("stopped before anything was sent.") from None

    def interrupted(self, *_: object) -> None:
        """Handle SIGINT: only leave a note; an exception could tear a message, or lose an event.

        Raises:
            KeyboardInterrupt: where code of the person's runs, in answer to a widget, and hangs.
        """
        self._inbox.put(Interrupt())
        if self._pump.is_stuck:
            raise KeyboardInterrupt

    def _output(self) -> Output:
        return CellOutput(self.shell) if self._kernel is not None else TerminalOutput()

    def _view(self, output: Output, folder: str, quiet: bool) -> View:
        place = Place(folder, notebook_path(self.shell.user_ns) if self.shell else None)
        view: View = StreamView(output, place, self._front_end)
        if output.updates:
            view = NotebookView(output, place, self._front_end, self._pump.works)
        return QuietView(view) if quiet else view

    def _turn_shown_as(self, shown: Shown, output: Output) -> Turn:
        decide = partial(self.permissions.decide, human=output.human)
        return Turn(partial(self._happened, shown), decide)

    @contextmanager
    def _sitting(self, shown: Shown, go: Going, stop: Going) -> Iterator[None]:
        """Sit in the cell until a turn is over; what is shown then is still no part of the cell's.

        Args:
            go: begins it, on the agent's thread.
            stop: ends it, there too.
        """
        self._draw_late(at_once=True)
        with interrupts(self.interrupted), self.context.unrecorded():
            run_until_over(
                shown,
                self._inbox,
                self._pump,
                start=lambda: self._submit(go()),
                stop=lambda: self._submit(stop()),
            )
            yield

    def _happened(self, shown: Shown, event: Event) -> None:
        self._inbox.put(Happened(shown, event))

    def _end(self, shown: Shown, how: Circumstances) -> None:
        ending = _ending(shown)
        shown.view.end(footer(shown.transcript, ending, how), record(shown.transcript, ending, how))

    # -- without a prompt

    def ask(self, question: Question) -> Answer:
        """Ask the person something in this cell, and wait for the answer; nobody may be there.

        Raises:
            TurnCancelled: Stop was pressed instead.
        """
        return self.attend(partial(put, question))

    def attend(self, work: Work[T]) -> T:
        """Run something on the agent's thread that asks and tells in this cell, and wait for it.

        Raises:
            TurnCancelled: it was stopped.
        """
        with self._alone():
            return self._attend(work)

    def _attend(self, work: Work[T]) -> T:
        output = self._output()
        shown = Shown(self._view(output, notebook_folder(), quiet=False), is_prompt=False)
        turn = self._turn_shown_as(shown, output)
        errand = Errand(work, turn)
        with self._sitting(shown, errand.go, errand.stop):
            shown.view.end("", {})
        if (error := problem(shown.transcript, _ending(shown), turn.stopping)) is not None:
            raise error
        return errand.result

    # -- between turns

    def _wake(self) -> None:
        """Something came while no turn was running: look at it when the kernel has time."""
        if self._kernel is not None:
            self._kernel.io_loop.add_callback(self._drain)

    def _drain(self) -> None:
        for _ in range(BATCH):
            item = None if self._inbox.has_reader else self._inbox.get(0)
            if item is None:
                break
            if isinstance(item, Happened):
                item.shown.take(item.event)
                self._late[id(item.shown)] = item.shown
            elif isinstance(item, CommMessage):
                self._pump.handle(item)
        else:
            self._wake()
        if not self._will_draw_late:
            self._draw_late()

    def _draw_late(self, at_once: bool = False) -> None:
        """Draw what came late, no more often than while a turn runs: its pages may be large.

        Args:
            at_once: because nothing else will be drawn for a while.
        """
        for key, shown in list(self._late.items()):
            if at_once or shown.view.due_in() == 0:
                del self._late[key]
                shown.draw()
        if self._late and self._kernel is not None:
            pause = min(shown.view.due_in() for shown in self._late.values())
            self._will_draw_late = True
            self._kernel.io_loop.call_later(pause, self._draw_what_waits)

    def _draw_what_waits(self) -> None:
        self._will_draw_late = False
        self._draw_late()

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on the agent's thread and wait for it; a long wait is said in this cell.

        Raises:
            TurnCancelled: Stop has ended both.
        """
        return self.attend(lambda _: work)

    def _submit(self, work: Coroutine[Any, Any, None]) -> None:
        self._thread.submit(work).add_done_callback(_report)

    def close(self) -> None:
        """End the agents and all they started, within two seconds."""
        closing = [self._thread.submit(c.close()) for c in self.conversations.all]
        _, unfinished = wait(closing, CLOSE_TIMEOUT)
        if unfinished:
            log.warning("an agent did not end in time; its watchdog will see to it")
        self.context.close()
        self.conversations.tape.close()
        if not self._inbox.has_reader:
            self._thread.close()


def _ending(shown: Shown) -> TurnEnded | TurnBroken:
    assert shown.ending is not None
    return shown.ending


def _report(future: Future[None]) -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        log.error("on the agent's thread", exc_info=error)
