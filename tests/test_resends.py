"""The whole text so far, sent again, is shown once; a text that repeats itself is left alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agy_kernel.conversation.resends import MOST_HELD, Resends
from agy_kernel.conversation.transcript import Message
from agy_kernel.display.shown import Shown
from agy_kernel.events import (
    Event,
    Notice,
    PlanEntry,
    PlanUpdate,
    Role,
    TextChunk,
    ToolCallUpdate,
    TurnEnded,
    UsageChanged,
)
from tests.support.screen import Played

SENTENCE = "The quick brown fox jumps over the lazy dog."
STORY = (
    "I looked at the file.\n\nIt has three functions, and one of them is never called:\n\n"
    "```python\ndef unused():\n    return 1\n```\n\nShall I remove it? I would also rename `x`.\n"
)


def shown(chunks: Iterable[str]) -> str:
    """The text that comes of chunks, without a display."""
    resends, parts = Resends(), [""]
    for chunk in chunks:
        parts.append(resends.take(chunk, lambda: "".join(parts)))
    return "".join(parts) + resends.rest()


def pieces(text: str, lengths: Sequence[int]) -> list[str]:
    """A text, cut into pieces of these lengths, over and over."""
    cut: list[str] = []
    at = 0
    while at < len(text):
        length = lengths[len(cut) % len(lengths)]
        cut.append(text[at : at + length])
        at += length
    return cut


def cumulative(text: str, lengths: Sequence[int]) -> list[str]:
    return list(accumulate(pieces(text, lengths)))


LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=8)
WORDS = st.lists(
    st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=9),
    min_size=8,
    max_size=60,
    unique=True,
).map(" ".join)


# -- sent again


@given(WORDS, LENGTHS)
@example(STORY, [4])
@example(STORY, [1])
@example("Hi there, you! How are you?", [2, 6, 1, 5])
def test_the_whole_text_so_far_in_each_chunk_is_shown_once(text: str, lengths: list[int]) -> None:
    assert shown(cumulative(text, lengths)) == text


@given(WORDS, LENGTHS)
@example(STORY, [4])
def test_the_whole_message_after_its_pieces_is_shown_once(text: str, lengths: list[int]) -> None:
    assert shown([*pieces(text, lengths), text]) == text


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        (["Hel", "lo", " world", "Hello world"], "Hello world"),
        (["Hello", "Hello world", "Hello world!"], "Hello world!"),
        ([SENTENCE, f"{SENTENCE} And so on."], f"{SENTENCE} And so on."),
        (["I am ", "I am here", "I am here now", "I am here now."], "I am here now."),
        (["你好", "你好,我正在看这个文件,稍等", "你好,我正在看这个文件,稍等一下"], None),
        (["你好,我正在看这个文", "你好,我正在看这个文件", "你好,我正在看这个文件吧"], None),
        ([STORY * 2 + "a", STORY * 2 + "ab", STORY * 2 + "ab"], STORY * 2 + "ab"),
        ([STORY * 2 + "x\n", STORY * 2 + "x\n\nThe end."], None),
        ([*pieces(STORY, [9]), STORY.strip()], STORY),
        ([*pieces(STORY, [9]), "\n" + STORY], STORY),
        ([*pieces(STORY, [9]), STORY, " More.", STORY + " More."], STORY + " More."),
        ([*pieces(STORY, [9]), STORY + "More."], STORY + "More."),
        ([*cumulative(STORY, [5]), STORY, STORY], STORY),
        ([*cumulative(STORY, [5]), "And a piece."], STORY + "And a piece."),
    ],
)
def test_what_is_sent_again_is_cut(chunks: list[str], text: str | None) -> None:
    assert shown(chunks) == (text or chunks[-1])


# -- said again


@pytest.mark.parametrize(
    "chunks",
    [
        ["ha", "ha"],
        ["ha", "haha", "hahaha", "hahahaha", "hahahahaha", "hahahahahaha"],
        ["abcd"] * 1_000,
        ["abcd" * n for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 100, 200)],
        ["1", "10"],
        ["1", "10", "100", "1000"],
        ["1", "\n", "10", "\n", "100"],
        ["*", "**bold**"],
        ["=" * 2**n for n in range(12)],
        ["The same line.\n"] * 50,
        ["The same line.\n", "The same line.\n" * 2, "The same line.\n" * 3, "Done."],
        ["The same line.\n", "The same line.\nThe same line.\nDone."],
        [SENTENCE + "\n"] * 2,
        [SENTENCE] * 2,
        [SENTENCE + "\n", SENTENCE + "\n", f"{SENTENCE}\n{SENTENCE}\n"],
        [SENTENCE * 10 + "\n"] * 3,
        [(SENTENCE + "\n") * 10, (SENTENCE + "\n") * 10 + "Done."],
        ["New York,", "New York,NY"],
        ["| a | b |\n", "| a | b |\n", "| a | b |\n| c | d |\n"],
        ["la la ", "la", " la ", "la la "],
        ["", "a", "", "a", ""],
        ["Roses are red,\n", "violets are blue.\n", "Roses are red,\nviolets are blue.\n"],
        [" ", "  ", "   ", "    ", "x"],
        ["\n", "\n\n", "\n\n\n"],
    ],
    ids=lambda chunks: f"{len(chunks)} of {sum(map(len, chunks))}",
)
def test_a_text_may_repeat_itself(chunks: list[str]) -> None:
    assert shown(chunks) == "".join(chunks)


@given(st.text("ab1 \n*", min_size=1, max_size=40), st.integers(2, 50), LENGTHS)
def test_what_is_said_over_and_over_is_never_cut(unit: str, times: int, lengths: list[int]) -> None:
    text = f"{unit}\n" * times
    assert shown(pieces(text, lengths)) == text


@given(st.lists(st.sampled_from(["ha", "haha", "1", "10", "*", "**b**", "\n", "abcd", "- x\n"])))
def test_small_pieces_in_any_order_are_never_cut(chunks: list[str]) -> None:
    assert shown(chunks) == "".join(chunks)


@given(st.lists(st.text("ab \n", max_size=30)))
def test_never_more_than_what_came_is_shown_and_never_less_than_the_last(chunks: list[str]) -> None:
    text = shown(chunks)
    assert len(text) <= len("".join(chunks))
    assert text.strip().endswith((chunks or [""])[-1].strip())


def test_little_is_held_back_and_not_for_long() -> None:
    resends = Resends()
    chunks = ["ab" * n for n in range(1, 100)]
    for chunk in chunks:
        resends.take(chunk, str)
        assert len(resends._held) <= MOST_HELD
    assert not resends.holds


# -- in a turn


def say(text: str, role: Role = "agent", message_id: str | None = None) -> TextChunk:
    return TextChunk(role, text, message_id)


def turn(*events: Event) -> Shown:
    played = Played()
    played.play(events)
    return played.shown


def texts(shown: Shown) -> list[str]:
    return [entry.text for entry in shown.transcript.entries if isinstance(entry, Message)]


@pytest.mark.parametrize("role", ["agent", "thought"])
def test_it_is_cut_in_text_and_in_thoughts_drawn_or_not(role: Role) -> None:
    for draws in (True, False):
        played = Played()
        for text in cumulative(STORY, [7]):
            played.shown.take(say(text, role))
            if draws:
                played.shown.draw()
        played.finish()
        assert texts(played.shown) == [STORY]


def test_each_message_is_judged_by_itself() -> None:
    other = STORY.replace("file", "folder")
    events = [say(text, message_id="a") for text in cumulative(STORY, [7])]
    others = [say(text, message_id="b") for text in cumulative(other, [7])]
    assert texts(turn(*events, *others)) == [STORY, other]
    between: list[Event] = [*events[:9], ToolCallUpdate("c1"), *others]
    assert texts(turn(*between)) == [events[8].text, other]


def test_what_adds_nothing_to_the_page_does_not_hide_it() -> None:
    usage = UsageChanged(1, 2)
    events: list[Event] = [e for t in cumulative(STORY, [7]) for e in (say(t), usage)]
    assert texts(turn(*events)) == [STORY]


@pytest.mark.parametrize(
    "event",
    [ToolCallUpdate("c1"), Notice("so"), PlanUpdate((PlanEntry("x"),)), say("x", "thought")],
)
def test_what_was_held_back_keeps_its_place(event: Event) -> None:
    said = turn(say("1"), say("10"), event, say("end"))
    first, *_, last = said.transcript.entries
    assert (first, last) == (Message("agent", "110"), Message("agent", "end"))


def test_what_was_held_back_is_shown_when_the_turn_ends_and_after() -> None:
    ended = turn(say("1"), say("10"), TurnEnded("end_turn"))
    assert texts(ended) == ["110"]
    assert texts(turn(TurnEnded("end_turn"), say("1"), say("10"))) == ["110"]


def test_a_message_without_pieces_needs_no_repair() -> None:
    assert texts(turn(say(""), say("x", "user"), say("one"), say(""), say(" two"))) == ["one two"]
