"""Plans, remarks and attachments: in one place, in few words, and safe."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.conversation.transcript import Plan, Remark, Transcript, fold
from agy_kernel.display.entries import markdown, plain
from agy_kernel.display.pages import Segment
from agy_kernel.display.place import Place
from agy_kernel.events import (
    Compaction,
    Content,
    ContentChunk,
    Event,
    NothingNew,
    Notice,
    PlanEntry,
    PlanUpdate,
    TextChunk,
    ToolCallUpdate,
    UnknownUpdate,
)
from tests.support.renderers import RENDERERS, harm_in, text_of

PLACE = Place("/w")


def folded(*events: Event) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript = fold(transcript, event)
    return transcript


def shown(*events: Event) -> list[str]:
    entries = folded(*events).entries
    return [text_of(markdown(entry, Segment(i), PLACE)) for i, entry in enumerate(entries)]


def texts(*events: Event) -> list[str]:
    return [plain(entry, PLACE) for entry in folded(*events).entries]


# -- plans

STEPS = (PlanEntry("read", "completed"), PlanEntry("write", "in_progress"), PlanEntry("test"))


def test_a_plan_is_a_checklist() -> None:
    assert shown(PlanUpdate(STEPS)) == ["plan 1 of 3 done☑ read◐ write☐ test"]
    assert texts(PlanUpdate(STEPS)) == ["☑ read\n◐ write\n☐ test"]


def test_priorities_are_told_where_they_differ() -> None:
    steps = (PlanEntry("a", priority="high"), PlanEntry("b", priority="low"))
    assert shown(PlanUpdate(steps)) == ["plan 0 of 2 done☐ a · high priority☐ b · low priority"]


def test_a_plan_that_is_dropped_leaves_a_word_where_it_stood() -> None:
    said = TextChunk("agent", "x")
    assert shown(PlanUpdate(STEPS), said, PlanUpdate()) == ["plan dropped", "x"]
    assert folded(PlanUpdate()).entries == ()


def test_several_plans_are_kept_apart_by_their_ids() -> None:
    first, second = PlanUpdate(STEPS, "p1"), PlanUpdate(STEPS[:1], "p2")
    changed = PlanUpdate(STEPS[:2], "p1")
    assert folded(first, second, changed).entries == (Plan(changed), Plan(second))
    assert shown(first, second, PlanUpdate(id="p1"))[0] == "plan dropped"


def test_a_plan_in_markdown_and_one_in_a_file() -> None:
    assert shown(PlanUpdate(id="p", text="# Do *it*\n<script>"))[0] == "planDo it <script>"
    assert shown(PlanUpdate(id="p", uri="file:///w/plan.md")) == ["planplan.md"]
    assert texts(PlanUpdate(id="p", uri="file:///w/plan.md")) == ["file:///w/plan.md"]


# -- remarks


def test_what_comes_again_is_counted_and_not_said_again() -> None:
    vendor = [UnknownUpdate("_vendor", {"n": n}) for n in range(1_500)]
    assert shown(*vendor, UnknownUpdate("_other", {})) == [
        "update of an unknown kind: _vendor (× 1,500)",
        "update of an unknown kind: _other",
    ]
    notices: list[Event] = [
        Notice("MCP server unavailable", "warning"),
        TextChunk("agent", "x"),
    ] * 2
    assert texts(*notices) == ["[MCP server unavailable (× 2)]", "xx"]


def test_the_same_words_of_another_weight_are_another_remark() -> None:
    assert folded(Notice("x"), Notice("x", "error")).entries == (Remark("x"), Remark("x", "error"))


def test_a_compaction_is_one_line_whatever_is_said_of_it() -> None:
    events = [Compaction("k"), Compaction("k"), Compaction("k", "completed"), Compaction("k")]
    assert shown(*events) == ["compaction of the context: completed"]
    assert shown(Compaction("a"), Compaction("b", "failed")) == [
        "compaction of the context: in progress",
        "compaction of the context: failed",
    ]


def test_what_tells_nothing_new_is_not_shown() -> None:
    assert folded(NothingNew()).entries == ()


# -- what a terminal prints


def test_what_a_terminal_prints_is_put_together() -> None:
    pieces = [f"line {i}\n" for i in range(5_000)]
    [call] = folded(*(ToolCallUpdate("a", printed=piece) for piece in pieces)).tool_calls
    assert "".join(call.printed) == "".join(pieces)
    assert len(call.printed) < 20


# -- attachments


@pytest.mark.parametrize("role", ["agent", "thought"])
def test_a_block_stands_between_the_words_around_it(role: str) -> None:
    link = ContentChunk(role, Content("resource_link", uri="https://x.example", name="X"))  # type: ignore[arg-type]  # both are roles
    words: list[Event] = [TextChunk("agent", "before"), link, TextChunk("agent", "after")]
    assert texts(*words) == ["before", "[link: X · https://x.example]", "after"]


NASTY = st.sampled_from(["<img src=x onerror=a()>", "a\n\nb", "$x$", "![x](http://e)", '"', "```"])
ENTRIES = st.one_of(
    st.builds(
        PlanUpdate,
        st.lists(st.builds(PlanEntry, NASTY, NASTY, NASTY), max_size=3).map(tuple),
        NASTY,
        NASTY,
        NASTY,
    ),
    st.builds(Notice, NASTY, NASTY),
    st.builds(UnknownUpdate, NASTY, st.just({})),
    st.builds(Compaction, NASTY, NASTY),
)


@given(ENTRIES)
def test_whatever_an_agent_says_the_entry_holds(event: Event) -> None:
    for entry in folded(event).entries:
        for render in RENDERERS:
            assert not harm_in(render(markdown(entry, Segment(0), PLACE)))
