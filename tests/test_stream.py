"""A turn on a console: lines that cannot be changed any more, whatever pieces they come in."""

from __future__ import annotations

import pytest

from agy_kernel.display.ask import FrontEnd
from agy_kernel.display.place import Place
from agy_kernel.display.shown import Shown
from agy_kernel.display.stream import StreamView
from agy_kernel.events import (
    Event,
    PlanEntry,
    PlanUpdate,
    TextChunk,
    ToolCallUpdate,
    TurnEnded,
)
from tests.support.screen import Screen


def written(*events: Event) -> str:
    """What stands on the console in the end, drawn after each event."""
    screen = Screen()
    shown = Shown(StreamView(screen, Place("/w"), FrontEnd()))
    for event in (*events, TurnEnded("end_turn")):
        shown.take(event)
        shown.draw()
    shown.finish()
    return screen.written


def say(text: str) -> TextChunk:
    return TextChunk("agent", text)


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        (["one\r", "\ntwo"], "one\ntwo"),
        (["one\r", "two"], "one\ntwo"),
        (["a \ud83d", "\ude00 smile"], "a \U0001f600 smile"),
        (["a \x1b", "[3", "1mred\x1b[0", "m word"], "a red word"),
        (["the end\r"], "the end\n"),
        (["alone \ud83d"], "alone \ufffd"),
    ],
)
def test_what_is_cut_between_chunks_is_written_whole(chunks: list[str], text: str) -> None:
    assert written(*map(say, chunks)) == text


def test_what_was_held_back_is_written_before_what_comes_next() -> None:
    read = ToolCallUpdate("c", title="Read", kind="read", status="completed")
    assert written(say("one\r"), read, say("two")) == "one\n[read · Read]\ntwo"


def plan(*done: str) -> PlanUpdate:
    return PlanUpdate(tuple(PlanEntry(s, "completed" if s in done else "pending") for s in "ab"))


def test_a_plan_is_written_when_it_comes_and_as_it_stands_in_the_end() -> None:
    shown = written(plan(), say("working"), plan("a"), plan("a", "b"))
    assert shown == "☐ a\n☐ b\nworking\n☑ a\n☑ b\n"
    assert written(plan(), say("working"), plan()) == "☐ a\n☐ b\nworking"
