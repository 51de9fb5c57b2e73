"""Long turns: few outputs, every character, memory and traffic in proportion to the text."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest

from agy_kernel.display.ask import FrontEnd
from agy_kernel.display.cuts import cut_point
from agy_kernel.display.inbox import Happened, Inbox, Item
from agy_kernel.display.loop import run_until_over
from agy_kernel.display.pages import MAX_OUTPUTS
from agy_kernel.display.place import Place
from agy_kernel.display.pump import NoPump
from agy_kernel.display.shown import Shown
from agy_kernel.display.view import NotebookView
from agy_kernel.events import (
    Content,
    Event,
    Progress,
    TextChunk,
    ToolCallUpdate,
    TurnEnded,
    UsageChanged,
)
from tests.support.kernels import Kernel, sim
from tests.support.notebook import RECORD, Cell
from tests.support.screen import Screen

LINE = "x = 'some code of a very long file'  # with <b> and $money$\n"
PARAGRAPH = "Some words of a reply, with `code` and a list:\n\n- one\n- two\n\n"
HOURS = 2 * 60 * 60


def fence(size: int) -> str:
    return "```python\n" + LINE * (size // len(LINE)) + "```\n"


def prose(size: int) -> str:
    return PARAGRAPH * (size // len(PARAGRAPH))


# -- in a kernel


def saved_text(cell: Cell, path: Path) -> str:
    """The plain text of a cell's outputs, saved and read again, without the footer."""
    outputs = [nbformat.v4.output_from_msg(_as_message(output)) for output in cell.outputs]
    code = nbformat.v4.new_code_cell(outputs=outputs)
    nbformat.write(nbformat.v4.new_notebook(cells=[code]), path)
    (read,) = nbformat.read(path, as_version=4).cells
    return "".join(o.data["text/plain"] for o in read.outputs if RECORD not in o.data)


def _as_message(output: dict[str, Any]) -> dict[str, Any]:
    content = {k: v for k, v in output.items() if k != "output_type"}
    return {"header": {"msg_type": output["output_type"]}, "content": content}


def test_a_hundred_thousand_chunks_are_shown_and_saved_exactly(
    kernel: Kernel, tmp_path: Path
) -> None:
    cell = kernel.run(sim({"chunks": [100_000, "word\n"]}), timeout=120)
    assert saved_text(cell, tmp_path / "n.ipynb") == "word\n" * 100_000
    assert "".join(re.findall("w.*?d", cell.text)) == "word" * 100_000
    assert len(cell.outputs) <= MAX_OUTPUTS


def test_five_hundred_tool_calls_between_words_keep_their_order(
    kernel: Kernel, tmp_path: Path
) -> None:
    steps: list[dict[str, Any]] = []
    for n in range(500):
        call = {"toolCallId": f"c{n}", "title": f"Read {n}.txt", "kind": "read"}
        steps += [{"text": f"Step {n}. "}, {"tool": {**call, "status": "completed"}}]
    cell = kernel.run(sim(*steps), timeout=120)
    assert len(cell.outputs) <= MAX_OUTPUTS
    text = saved_text(cell, tmp_path / "n.ipynb")
    assert re.findall(r"Step (\d+)\.|Read (\d+)\.txt", text) == [
        pair for n in range(500) for pair in ((f"{n}", ""), ("", f"{n}"))
    ]
    assert re.findall(r"Read (\d+)\.txt", cell.text) == [f"{n}" for n in range(500)]


def test_a_fence_of_five_megabytes_is_shown_and_saved_exactly(
    kernel: Kernel, tmp_path: Path
) -> None:
    code = {"chunks": [1_000, LINE * 84]}
    steps = sim({"text": "```python\n"}, code, {"text": "```\n"})
    cell = kernel.run(steps, timeout=120)
    text = "```python\n" + LINE * 84_000 + "```\n"
    assert len(text) > 5_000_000
    assert saved_text(cell, tmp_path / "n.ipynb") == text
    assert cell.text.count(LINE) == 84_000
    assert len(cell.outputs) <= MAX_OUTPUTS


# -- on a screen, by a clock of our own


class Meter(Screen):
    """Counts what is published, and keeps only what is shown in the end."""

    def __init__(self) -> None:
        super().__init__()
        self.messages = self.size = self.largest = 0

    def publish(self, bundle: Mapping[str, Any], display_id: str, update: bool) -> None:
        size = sum(len(text) for text in bundle.values() if isinstance(text, str))
        self.messages, self.size = self.messages + 1, self.size + size
        self.largest = max(self.largest, size)
        self.keep(bundle, display_id, update)

    def keep(self, bundle: Mapping[str, Any], display_id: str, update: bool) -> None:
        assert update == (display_id in self.outputs)
        self.outputs[display_id] = dict(bundle)


class Listener(Meter):
    """Remembers every text that was ever shown."""

    seen = ""

    def keep(self, bundle: Mapping[str, Any], display_id: str, update: bool) -> None:
        super().keep(bundle, display_id, update)
        self.seen += str(bundle.get("text/markdown", ""))


class Sieve(Meter):
    """Keeps nothing."""

    def keep(self, bundle: Mapping[str, Any], display_id: str, update: bool) -> None:
        self.outputs[display_id] = {}


class Scheduled(Inbox):
    """An inbox whose items come at set times of a clock that only waiting moves.

    Args:
        items: seconds and what comes then, in order.
    """

    def __init__(self, items: Iterable[tuple[float, Item]]) -> None:
        super().__init__(lambda: None)
        self._items = iter(items)
        self._next = next(self._items)
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    def get(self, timeout: float) -> Item | None:
        at, item = self._next
        self.now = max(self.now, min(at, self.now + timeout))
        if at > self.now:
            return None
        self._next = next(self._items, (float("inf"), item))
        return item


def play(events: Iterable[tuple[float, Event]], screen: Meter) -> Shown:
    """Play a turn whose events come at set times through the loop that a cell sits in."""
    shown = Shown(_Unset())
    inbox = Scheduled((at, Happened(shown, event)) for at, event in events)
    front_end = FrontEnd(shows_widgets=False)
    shown.view = NotebookView(screen, Place("/w"), front_end, False, inbox.clock)
    run_until_over(shown, inbox, NoPump(), lambda: None, lambda: None, inbox.clock)
    return shown


class _Unset(NotebookView):
    def __init__(self) -> None:
        """The view is given when its clock is known."""


def pieces(text: str, size: int, pause: float) -> Iterator[tuple[float, Event]]:
    """A text in pieces, one after each pause, and the end of the turn."""
    starts = range(0, len(text), size)
    for number, start in enumerate(starts):
        yield number * pause, TextChunk("agent", text[start : start + size])
    yield len(starts) * pause, TurnEnded("end_turn")


@pytest.mark.parametrize("make", [prose, fence], ids=["prose", "fence"])
def test_what_is_sent_is_linear_in_the_text(make: Any) -> None:
    sent = {}
    for size in (100_000, 1_000_000, 4_000_000):
        screen = Meter()
        play(pieces(make(size), 2_000, 0.01), screen)
        assert len(screen.outputs) <= MAX_OUTPUTS
        assert "".join(screen.plain) == make(size)
        sent[size] = screen.size / size
    assert max(sent.values()) < 12
    assert sent[4_000_000] < 1.5 * sent[1_000_000]


@pytest.mark.parametrize("make", [prose, fence], ids=["prose", "fence"])
def test_a_turn_keeps_its_text_once_and_needs_it_three_times_at_most(make: Any) -> None:
    text = make(5_000_000)
    screen = Sieve()
    cut_point("imports what it needs, which is not the text's", 1)
    tracemalloc.start()
    try:
        shown = play(pieces(text, 5_000, 0.01), screen)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert shown.transcript.text == text
    assert kept < 1.1 * len(text)
    assert peak < 3 * len(text)


def two_hours(every: float, make: Any) -> Iterator[tuple[float, Event]]:
    """Something again and again, for two hours, after a few words."""
    yield 0.0, TextChunk("agent", "I begin. ")
    for number in range(int(HOURS / every)):
        yield number * every, make(number)
    yield HOURS, TextChunk("agent", "Done.")
    yield HOURS, TurnEnded("end_turn")


def usage(number: int) -> Event:
    return UsageChanged(number, 1_000_000)


def call(number: int) -> Event:
    content = (Content("text", text=f"line {number}\n" * 20),)
    return ToolCallUpdate("c1", title="Wait", status="in_progress", content=content)


def progress(number: int) -> Event:
    return Progress(f"still at it, {number}")


@pytest.mark.parametrize("make", [usage, call, progress])
def test_two_hours_of_news_without_words(make: Any) -> None:
    screen = Meter()
    play(two_hours(1.0, make), screen)
    assert len(screen.outputs) <= MAX_OUTPUTS
    assert screen.messages <= HOURS + 10
    assert screen.size < 40_000_000
    page = "\n".join(screen.markdown)
    assert page.index("I begin.") < page.index("Done.")


def test_silence_says_what_the_agent_was_last_seen_to_do() -> None:
    screen = Listener()
    call = ToolCallUpdate("c", title="Run run_command?", kind="execute", status="in_progress")
    play([(0.0, call), (30.0, TurnEnded("end_turn"))], screen)
    assert "waiting for the agent, 20 s, last: Run run_command?" in screen.seen


def test_two_hours_of_silence_are_told_ever_more_rarely() -> None:
    screen = Meter()
    begin = (0.0, TextChunk("agent", "I begin. "))
    play([begin, (HOURS, TextChunk("agent", "Done.")), (HOURS, TurnEnded("end_turn"))], screen)
    assert HOURS / 15 < screen.messages < HOURS / 5
    assert screen.markdown == ["I begin. Done."]


def test_news_of_old_calls_does_not_send_large_pages_every_second() -> None:
    calls, seconds = 100, 1_200

    def events() -> Iterator[tuple[float, Event]]:
        yield 0.0, TextChunk("agent", prose(300_000))
        for n in range(calls):
            yield n, ToolCallUpdate(f"c{n}", title=f"Look at {n}", status="in_progress")
            yield n, TextChunk("agent", prose(2_000))
        for second in range(seconds):
            update = ToolCallUpdate(f"c{second % calls}", title=f"state {second}.")
            yield calls + second, update
        yield calls + seconds, TurnEnded("end_turn")

    screen = Meter()
    play(events(), screen)
    assert len(screen.outputs) <= MAX_OUTPUTS
    assert screen.size < seconds * 25_000
    states = re.findall(r"state (\d+)\.<", "".join(screen.markdown))
    assert states == [f"{n}" for n in range(seconds - calls, seconds)]
