"""The loop that a running cell sits in: events are drawn, clicks handled, Stop is heard.

It blocks the kernel's main thread until the turn is over, and is the only thing that does. Every
wait is short or can be woken: by an event of the agent, by a widget message, by SIGINT.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from .headings import deed, shortened
from .inbox import CommMessage, Happened, Inbox, Interrupt, Item
from .pump import Pump
from .shown import Shown

LONGEST_WAIT = 0.1
SILENCE = 10.0
OFTEN = 60.0  # seconds of silence during which each one is told
BATCH = 2_000


def run_until_over(
    shown: Shown,
    inbox: Inbox,
    pump: Pump,
    start: Callable[[], None],
    stop: Callable[[], None],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Run a turn until it is over and drawn.

    Args:
        shown: the turn; its ``ending`` is set when this returns.
        inbox: where its events arrive.
        pump: brings clicks.
        start: sends the prompt; must not wait.
        stop: asks that the turn end; must not wait; may be called more than once.
        clock: tells the seconds.
    """
    with inbox.read(), pump.turn():
        start()
        _Loop(shown, inbox, pump, stop, clock).run()
    shown.finish()


class _Loop:
    def __init__(
        self,
        shown: Shown,
        inbox: Inbox,
        pump: Pump,
        stop: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self._shown, self._inbox, self._pump, self._stop = shown, inbox, pump, stop
        self._clock = clock
        self._heard = self._said = clock()
        self._late: list[Shown] = []

    def run(self) -> None:
        while self._shown.ending is None:
            self._take_all(self._inbox.get(self._patience()))
            self._pump.poll()
            for shown in (self._shown, *self._late):
                if shown.is_dirty and (shown.view.due_in() == 0 or shown.is_full):
                    shown.draw()
            self._shown.view.poll()
            self._say_what_is_awaited()
        for shown in self._late:
            shown.draw()

    def _patience(self) -> float:
        longest = self._pump.longest_wait or LONGEST_WAIT
        return min(longest, self._shown.view.due_in()) if self._shown.is_dirty else longest

    def _take_all(self, item: Item | None) -> None:
        for _ in range(BATCH):
            if item is None:
                return
            self._take(item)
            item = None if self._shown.is_full else self._inbox.get(0)
        if item is not None:
            self._take(item)

    def _take(self, item: Item) -> None:
        match item:
            case Happened(shown, event):
                self._heard = self._clock()
                shown.take(event)
                if shown is not self._shown and shown not in self._late:
                    self._late.append(shown)
            case CommMessage():
                self._pump.handle(item)
            case Interrupt():
                self._stop()

    def _say_what_is_awaited(self) -> None:
        now = self._clock()
        if self._shown.view.has_open_question:
            self._heard = now
        silence = now - self._heard
        pause = 1.0 if silence < OFTEN else 10.0
        if silence >= SILENCE and now - self._said >= pause:
            self._said = now
            self._shown.view.status(f"waiting for the agent, {silence:.0f} s{self._last_deed()}")

    def _last_deed(self) -> str:
        """What the agent was last seen to do, if it did anything."""
        calls = self._shown.transcript.tool_calls
        if not calls:
            return ""
        return f", last: {shortened(calls[-1].title or deed(calls[-1]))}"
