"""How smoothly a page runs: its longest task, and the pictures that it draws in a second."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any

from playwright.sync_api import Page

# A task is "long" from 50 ms on (w3.org/TR/longtasks-1); what it reports comes with a delay.
BEGIN = """() => {
    const meter = window.smoothness = {tasks: [], gap: 0, frames: 0, begin: performance.now()}
    meter.observer = new PerformanceObserver(list =>
        list.getEntries().forEach(entry => meter.tasks.push(entry.duration)))
    meter.observer.observe({entryTypes: ['longtask']})
    let last = meter.begin
    const frame = now => {
        meter.gap = Math.max(meter.gap, now - last)
        meter.frames++
        last = now
        meter.next = requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
}"""
END = """() => {
    const meter = window.smoothness
    meter.observer.takeRecords().forEach(entry => meter.tasks.push(entry.duration))
    meter.observer.disconnect()
    cancelAnimationFrame(meter.next)
    const seconds = (performance.now() - meter.begin) / 1000
    return {tasks: meter.tasks, gap: meter.gap, fps: meter.frames / seconds, seconds}
}"""


@dataclass
class Smoothness:
    """What was measured.

    Args:
        longest_task: milliseconds; 0 where none took 50.
        longest_gap: milliseconds between two pictures.
        busy: milliseconds in long tasks, together.
        fps: pictures a second.
        seconds: how long it was measured.
    """

    longest_task: float
    longest_gap: float
    busy: float
    fps: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"longest task {self.longest_task:.0f} ms, longest gap {self.longest_gap:.0f} ms, "
            f"{self.fps:.0f} fps over {self.seconds:.1f} s"
        )


class Meter:
    """Measures a page while it is open as a context; the result is in ``result``."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.result: Smoothness

    def __enter__(self) -> Meter:
        self._page.evaluate(BEGIN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if kind is None:
            # What was rendered last is drawn, and told of, by then.
            self._page.evaluate("() => new Promise(done => requestIdleCallback(done))")
            self.result = _smoothness(self._page.evaluate(END))


def _smoothness(meter: dict[str, Any]) -> Smoothness:
    tasks = meter["tasks"] or [0.0]
    return Smoothness(max(tasks), meter["gap"], sum(tasks), meter["fps"], meter["seconds"])
