"""The fold of a turn's events, by the protocol's merge rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agy_kernel.conversation.toolcalls import (
    ToolCall,
)
from agy_kernel.conversation.transcript import (
    NEVER_EXECUTED,
    Attachment,
    Message,
    Plan,
    Remark,
    Transcript,
    close,
    fold,
)
from agy_kernel.events import (
    Answered,
    Asked,
    Content,
    ContentChunk,
    Diff,
    Event,
    Location,
    ModeChanged,
    Notice,
    PlanEntry,
    PlanUpdate,
    Progress,
    TextChunk,
    ToolCallUpdate,
    TurnEnded,
    UnknownUpdate,
    Usage,
    UsageChanged,
)
from agy_kernel.questions import Answer, Form, Option, Permission

ALLOW = Option("allow", "Allow", "allow_once")
DENY = Option("deny", "Deny", "reject_once")


def folded(*events: Event) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript = fold(transcript, event)
    return transcript


def only_call(*events: Event) -> ToolCall:
    [call] = folded(*events).tool_calls
    return call


def say(text: str, message_id: str | None = None) -> TextChunk:
    return TextChunk("agent", text, message_id)


def ask(call: ToolCallUpdate) -> Permission:
    return Permission(replace(call, asked=True), (ALLOW, DENY))


# -- text


def test_chunks_are_appended_as_they_are() -> None:
    assert folded(say("Hel"), say("lo\n"), say("wor")).text == "Hello\nwor"


def test_a_tool_call_between_ends_a_message() -> None:
    entries = folded(say("one"), ToolCallUpdate("a"), say("two")).entries
    assert [type(e) for e in entries] == [Message, ToolCall, Message]


def test_thoughts_and_text_are_told_apart_and_the_text_leaves_thoughts_out() -> None:
    transcript = folded(TextChunk("thought", "hm"), say("yes"), TextChunk("thought", "so"))
    assert [(e.role, e.text) for e in transcript.entries if isinstance(e, Message)] == [
        ("thought", "hm"),
        ("agent", "yes"),
        ("thought", "so"),
    ]
    assert transcript.text == "yes"


@pytest.mark.parametrize(
    ("ids", "messages"),
    [
        (("a", "a"), 1),
        (("a", "b"), 2),
        ((None, None), 1),
        (("a", None), 1),
        ((None, "a"), 1),
        ((None, "a", "b"), 2),
        (("a", None, "a"), 1),
    ],
)
def test_a_new_message_id_begins_a_new_message(ids: tuple[str | None, ...], messages: int) -> None:
    assert len(folded(*(say("x", i) for i in ids)).entries) == messages


def test_what_the_user_said_is_not_shown_again() -> None:
    echo = ContentChunk("user", Content("image", data="x"))
    assert folded(TextChunk("user", "hello"), echo, say("")).entries == ()


def test_a_picture_stands_between_two_messages() -> None:
    picture = ContentChunk("agent", Content("image", data="x"))
    assert folded(say("a"), picture, say("b")).entries == (
        Message("agent", "a"),
        Attachment(picture),
        Message("agent", "b"),
    )


# -- tool calls


def test_a_field_that_is_not_named_stays_and_lists_replace_lists() -> None:
    call = only_call(
        ToolCallUpdate("a", title="Edit", kind="edit", content=(Content("text", "x"),)),
        ToolCallUpdate("a", status="in_progress", raw_input={"b": 1}),
        ToolCallUpdate("a", content=(Content("text", "y"),), locations=(Location("/f"),)),
        ToolCallUpdate("a", status="completed", locations=()),
    )
    assert (call.title, call.kind, call.status) == ("Edit", "edit", "completed")
    assert call.content == (Content("text", "y"),)
    assert call.raw_input == {"b": 1}
    assert call.locations == ()


def test_defaults_are_the_protocol_s() -> None:
    call = only_call(ToolCallUpdate("a"))
    assert (call.kind, call.status) == ("other", "pending")


@pytest.mark.parametrize("announces", [True, False])
def test_whichever_frame_names_a_call_first_makes_its_entry(announces: bool) -> None:
    first = ToolCallUpdate("a", title="x", announces=announces)
    again = ToolCallUpdate("a", title="y", announces=not announces)
    transcript = folded(first, say("between"), again)
    assert [type(e) for e in transcript.entries] == [ToolCall, Message]
    assert transcript.tool_calls[0].title == "y"


def test_an_unknown_status_is_kept() -> None:
    call = only_call(ToolCallUpdate("a", status="paused"), TurnEnded("end_turn"))
    assert call.status == "paused"
    assert not call.unfinished


def test_a_diff_outlives_the_content_that_replaces_it() -> None:
    diff = Diff("/f", None, "x")
    call = only_call(
        ToolCallUpdate("a", content=(diff,)),
        ToolCallUpdate("a", status="completed", content=(Content("text", "Wrote it."),)),
    )
    assert call.changes == (diff,)
    assert call.paths == ("/f",)
    later = Diff("/f", None, "y")
    assert only_call(
        ToolCallUpdate("a", content=(diff,)), ToolCallUpdate("a", content=(later,))
    ).changes == (later,)


def test_an_entry_that_did_not_change_is_the_same_object() -> None:
    before = folded(ToolCallUpdate("a"), ToolCallUpdate("b"), say("x"))
    after = fold(before, ToolCallUpdate("b", status="completed"))
    assert [x is y for x, y in zip(before.entries, after.entries, strict=True)] == [
        True,
        False,
        True,
    ]
    assert fold(after, ToolCallUpdate("b", status="completed")) is after


FRAMES = st.builds(
    ToolCallUpdate,
    id=st.sampled_from(["a", "b", "c"]),
    title=st.none() | st.sampled_from(["t1", "t2"]),
    kind=st.none() | st.sampled_from(["edit", "read"]),
    status=st.none() | st.sampled_from(["pending", "in_progress", "completed", "failed", "odd"]),
    content=st.none()
    | st.just(())
    | st.just((Content("text", "x"),))
    | st.just((Diff("/f", None, "y"),)),
    raw_output=st.none() | st.just({"x": 1}),
    asked=st.booleans(),
    announces=st.booleans(),
)


@given(st.lists(FRAMES, max_size=12), st.randoms())
def test_calls_do_not_depend_on_how_their_frames_are_interleaved(
    frames: list[ToolCallUpdate], random: object
) -> None:
    """Frames of one call keep their order; those of others may come at any time between."""
    apart = sorted(frames, key=lambda frame: frame.id)
    together = {call.id: call for call in folded(*frames).tool_calls}
    assert together == {call.id: call for call in folded(*apart).tool_calls}
    assert list(together) == list(dict.fromkeys(frame.id for frame in frames))


@given(st.lists(FRAMES, max_size=8))
def test_a_frame_that_comes_twice_changes_nothing(frames: list[ToolCallUpdate]) -> None:
    twice = [frame for frame in frames for _ in range(2)]
    assert folded(*twice) == folded(*frames)


# -- questions


def test_a_request_makes_the_entry_when_nothing_announced_the_call() -> None:
    question = ask(ToolCallUpdate("a", title="Write x", kind="edit", status="pending"))
    call = only_call(Asked(question))
    assert (call.title, call.kind, call.question, call.answer) == (
        "Write x",
        "edit",
        question,
        None,
    )


@pytest.mark.parametrize("status", ["in_progress", "completed", "failed"])
def test_a_request_never_takes_a_call_back(status: str) -> None:
    question = ask(ToolCallUpdate("a", status="pending"))
    assert only_call(ToolCallUpdate("a", status=status), Asked(question)).status == status


def test_a_second_question_about_a_call_opens_it_again() -> None:
    first, second = ask(ToolCallUpdate("a")), ask(ToolCallUpdate("a"))
    call = only_call(Asked(first), Answered(first, Answer(ALLOW, "you")), Asked(second))
    assert call.question is second
    assert call.answer is None


def test_an_answer_to_an_earlier_question_is_not_one_to_the_later() -> None:
    first, second = ask(ToolCallUpdate("a")), ask(ToolCallUpdate("a"))
    call = only_call(Asked(first), Asked(second), Answered(first, Answer(ALLOW, "you")))
    assert call.answer is None


def ran(kind: str, status: str = "completed") -> ToolCallUpdate:
    return ToolCallUpdate("a", kind=kind, status=status)


@pytest.mark.parametrize(
    ("events", "unasked"),
    [
        ([ran("edit")], True),
        ([ran("execute", "in_progress")], True),
        ([ran("other", "failed")], True),
        ([ran("edit", "pending")], False),
        ([ran("read")], False),
        ([ran("search")], False),
        ([ran("think")], False),
        ([Asked(ask(ToolCallUpdate("a"))), ran("edit")], False),
        ([ran("other", "pending"), Asked(Form("Which?", (), call_id="a")), ran("other")], False),
        ([ran("edit", "pending"), Asked(Form("Which?", (), call_id="a")), ran("edit")], True),
    ],
)
def test_what_ran_without_asking_is_marked(events: Iterable[Event], unasked: bool) -> None:
    assert only_call(*events).unasked is unasked


# -- approved calls that are done under another id (seed, runs 6 and 7)


def superseded(path: str = "/f", text: str = "x") -> list[Event]:
    made = ToolCallUpdate("approved", kind="edit", content=(Diff(path, None, text),))
    question = ask(made)
    return [
        Asked(question),
        Answered(question, Answer(ALLOW, "you")),
        ToolCallUpdate("approved", status="failed", raw_output=NEVER_EXECUTED),
    ]


def stand_in(path: str = "/f", text: str = "x") -> list[Event]:
    return [
        ToolCallUpdate("other", kind="edit", title="edit_file", status="in_progress"),
        ToolCallUpdate("other", content=(Diff(path, None, text),), status="completed"),
    ]


def link(events: Iterable[Event]) -> tuple[bool, str | None, bool]:
    calls = {call.id: call for call in folded(*events).tool_calls}
    return calls["approved"].superseded, calls["other"].stands_for, calls["other"].unasked


def test_the_call_that_carries_it_out_is_known_whichever_is_heard_of_first() -> None:
    first, last = superseded()[:2], superseded()[2:]
    assert link([*superseded(), *stand_in()]) == (True, "approved", False)
    assert link([*first, *stand_in(), *last]) == (True, "approved", False)


@pytest.mark.parametrize("other", [stand_in("/elsewhere"), stand_in(text="something else")])
def test_leave_for_one_change_is_none_for_another(other: list[Event]) -> None:
    assert link([*superseded(), *other]) == (True, None, True)


def test_what_turns_out_to_be_another_change_was_not_allowed() -> None:
    where = ToolCallUpdate("other", kind="edit", locations=(Location("/f"),), status="in_progress")
    assert link([*superseded(), where]) == (True, "approved", False)
    then = ToolCallUpdate("other", content=(Diff("/f", None, "something else"),))
    assert link([*superseded(), where, then]) == (True, None, True)


def test_what_ran_before_it_was_asked_about_is_not_excused() -> None:
    assert link([*stand_in(), *superseded()]) == (True, None, True)


def test_one_leave_lets_one_call_run() -> None:
    again = ToolCallUpdate(
        "again", kind="edit", content=(Diff("/f", None, "x"),), status="completed"
    )
    calls = folded(*superseded(), *stand_in(), again).tool_calls
    assert [call.stands_for for call in calls] == [None, "approved", None]
    assert calls[-1].unasked


def test_what_was_refused_stands_for_nothing() -> None:
    question = ask(ToolCallUpdate("approved", kind="edit", content=(Diff("/f", None, "x"),)))
    events: list[Event] = [
        Asked(question),
        Answered(question, Answer(DENY, "you")),
        ToolCallUpdate("approved", status="failed", raw_output=NEVER_EXECUTED),
    ]
    assert link([*events, *stand_in()]) == (True, None, True)


# -- the end


def test_calls_without_a_final_status_are_unfinished_at_the_end() -> None:
    transcript = folded(
        ToolCallUpdate("a", status="in_progress"),
        ToolCallUpdate("b", status="completed"),
        ToolCallUpdate("c"),
        TurnEnded("end_turn", Usage(1, 2, 3)),
    )
    assert [call.unfinished for call in transcript.tool_calls] == [True, False, True]
    assert (transcript.stop_reason, transcript.usage) == ("end_turn", Usage(1, 2, 3))
    assert close(transcript) == transcript


def test_a_call_that_was_refused_is_not_unfinished() -> None:
    question = ask(ToolCallUpdate("a"))
    refused: list[Event] = [
        Asked(question),
        Answered(question, Answer(DENY, "you")),
        TurnEnded("end_turn"),
    ]
    assert not only_call(*refused).unfinished


def test_a_call_that_ends_after_the_turn_is_finished_after_all() -> None:
    running = ToolCallUpdate("a", status="in_progress")
    late: list[Event] = [running, TurnEnded("end_turn"), ToolCallUpdate("a", title="still going")]
    assert only_call(*late).unfinished
    assert not only_call(*late, ToolCallUpdate("a", status="completed")).unfinished


# -- the rest


def test_there_is_one_plan_and_it_stays_where_it_was() -> None:
    first, second = (PlanEntry("a"),), (PlanEntry("a", "completed"), PlanEntry("b"))
    transcript = folded(PlanUpdate(first), say("x"), PlanUpdate(second))
    assert transcript.entries == (Plan(PlanUpdate(second)), Message("agent", "x"))


def test_notices_and_unknown_updates_are_kept() -> None:
    transcript = folded(Notice("careful", "warning"), UnknownUpdate("new_thing", {}))
    assert transcript.entries[0] == Remark("careful", "warning")
    assert isinstance(transcript.entries[1], Remark)
    assert "new_thing" in transcript.entries[1].text


def test_usage_is_the_last_one_told() -> None:
    assert folded(UsageChanged(1, 10), UsageChanged(2, 10)).context == UsageChanged(2, 10)


@pytest.mark.parametrize("event", [ModeChanged("x"), Progress("y")])
def test_what_is_not_of_a_turn_changes_nothing(event: Event) -> None:
    before = folded(say("a"))
    assert fold(before, event) is before


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["text", "thought", "tool", "plan"]), max_size=30))
def test_the_old_transcript_stays_as_it_was(kinds: list[str]) -> None:
    make: dict[str, Event] = {
        "text": say("x"),
        "thought": TextChunk("thought", "y"),
        "tool": ToolCallUpdate("a", title="t"),
        "plan": PlanUpdate((PlanEntry("p"),)),
    }
    transcript, seen = Transcript(), []
    for kind in kinds:
        seen.append((transcript, transcript.entries))
        transcript = fold(transcript, make[kind])
    assert all(old.entries == entries for old, entries in seen)
