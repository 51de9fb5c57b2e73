"""A turn on the outputs of a cell: what is seen, in which order, how often it is sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import ipywidgets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agy_kernel.acp.updates import update_event
from agy_kernel.display.ask import LATE
from agy_kernel.display.footer import RECORD_TYPE
from agy_kernel.display.pages import BLOCK, HARD_BLOCK, MAX_OUTPUTS
from agy_kernel.display.shown import Shown
from agy_kernel.events import (
    Answered,
    Asked,
    Content,
    ContentChunk,
    Diff,
    Event,
    Notice,
    PlanEntry,
    PlanUpdate,
    Progress,
    TextChunk,
    ToolCallUpdate,
    TurnEnded,
)
from agy_kernel.questions import Answer, Option, Permission
from tests.support.screen import WIDGET, Played

ENDLESS = "words without an end, " * 50_000
OPTIONS = (Option("allow", "Allow", "allow_once"), Option("deny", "Deny", "reject_once"))
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/q842iQAAAABJRU5Er"
    "kJggg=="
)


def call(call_id: str, status: str = "completed", title: str = "") -> ToolCallUpdate:
    return ToolCallUpdate(call_id, title=title or f"tool {call_id}", kind="other", status=status)


def question(call_id: str, warning: str = "") -> Permission:
    return Permission(
        ToolCallUpdate(call_id, title=f"tool {call_id}", kind="other", asked=True), OPTIONS, warning
    )


def say(text: str) -> TextChunk:
    return TextChunk("agent", text)


def think(text: str) -> TextChunk:
    return TextChunk("thought", text)


def answered(asked: Permission, option: Option | None = OPTIONS[0]) -> Answered:
    answer = Answer(option, by="you")
    asked.answer(answer)
    return Answered(asked, answer)


# -- order and looks


def test_text_tools_and_thoughts_stand_in_the_order_in_which_they_came() -> None:
    turn = Played()
    turn.play([think("hm"), say("first"), call("a"), say("second"), call("b"), say("third")])
    screen = turn.finish()
    page = "\n".join(screen.markdown)
    marks = ["hm", "first", "tool a", "second", "tool b", "third", "An Agent"]
    assert [page.index(mark) for mark in marks] == sorted(page.index(mark) for mark in marks)


def test_consecutive_tool_calls_share_an_output() -> None:
    turn = Played()
    turn.play([call("a"), call("b"), call("c")])
    assert len(turn.screen.outputs) == 1


def test_a_card_is_updated_in_place() -> None:
    turn = Played()
    turn.play([call("a", "in_progress"), say("x"), call("a", "failed")])
    assert len(turn.screen.outputs) == 2
    assert "failed" in turn.screen.markdown[0]


def test_a_late_update_changes_the_card_and_not_the_footer() -> None:
    turn = Played()
    turn.play([call("a", "in_progress")])
    turn.finish()
    turn.play([call("a", "completed"), call("new"), say("late words")])
    assert "unfinished" not in turn.screen.markdown[0]
    footers = [o for o in turn.screen.outputs.values() if RECORD_TYPE in o]
    assert len(footers) == 1
    assert "late words" in turn.screen.markdown[-1]
    assert turn.screen.plain[-1] == "late words"


def test_a_picture_and_a_plan_are_shown() -> None:
    turn = Played()
    picture = Content("image", data=PNG, mime_type="image/png")
    turn.play([ContentChunk("agent", picture), PlanUpdate((PlanEntry("step 1"),))])
    turn.play([PlanUpdate((PlanEntry("step 1", "completed"), PlanEntry("step 2")))])
    page = "\n".join(turn.finish().markdown)
    assert f"data:image/png;base64,{PNG}" in page
    assert "☑ step 1" in page
    assert page.count("step 1") == 1


def test_what_is_no_picture_is_named_and_not_loaded() -> None:
    turn = Played()
    odd = Content("image", uri="https://evil.example/?leak", mime_type="![x](http://evil)")
    turn.play([ContentChunk("agent", odd)])
    [shown] = turn.screen.markdown
    assert shown.startswith("<div")
    assert "<img" not in shown


def test_a_turn_without_a_word_says_so() -> None:
    assert "without any text" in "".join(Played().finish().markdown)


def test_what_is_being_waited_for_gives_way_to_what_comes() -> None:
    turn = Played()
    turn.play([Progress("starting the agent (1 s)"), Progress("starting the agent (2 s)")])
    assert len(turn.screen.markdown) == 1
    turn.play([say("hello")])
    assert turn.screen.markdown == ["hello"]


def test_what_is_being_waited_for_goes_when_the_text_above_it_grows() -> None:
    turn = Played()
    turn.play([say("one "), Progress("waiting, 10 s"), say("two")])
    assert turn.screen.markdown == ["one two"]


def test_what_was_waited_for_is_gone_where_nothing_else_comes() -> None:
    turn = Played()
    turn.shown = Shown(turn.view, is_prompt=False)
    turn.play([Progress("signing in (2 s)"), TurnEnded("end_turn")])
    turn.shown.finish()
    turn.view.end("", {})
    assert turn.screen.markdown == []


# -- text


def ordinary_text(size: int) -> str:
    paragraph = "Some words of a reply, with `code` and a list:\n\n- one\n- two\n\n"
    fence = "```python\nfor i in range(3):\n\n    print(i)\n```\n\n"
    return ((paragraph * 5 + fence) * (size // 300))[:size]


def drawn_in_pieces(text: str, size: int) -> Played:
    turn = Played()
    turn.play(say(text[i : i + size]) for i in range(0, len(text), size))
    return turn


@pytest.mark.parametrize("piece", [700, 30_000, 200_000])
def test_long_text_is_whole_in_blocks_that_can_be_drawn(piece: int) -> None:
    text = ordinary_text(100_000)
    screen = drawn_in_pieces(text, piece).finish()
    texts = screen.plain[:-1]
    assert "".join(texts) == text
    assert max(map(len, texts)) <= HARD_BLOCK
    assert len(texts) <= 26


def test_a_sealed_block_is_not_sent_again() -> None:
    text = ordinary_text(100_000)
    turn = drawn_in_pieces(text, 500)
    draws = len(text) // 500
    assert turn.screen.bytes < draws * (BLOCK + 2_000) * 2
    before = len(turn.screen.published)
    turn.play([say("the end")])
    assert len(turn.screen.published) == before + 1


def test_the_end_sends_only_what_lacks_its_plain_text() -> None:
    turn = drawn_in_pieces(ordinary_text(100_000), 1_000)
    before = len(turn.screen.published)
    screen = turn.finish()
    assert len(screen.published) - before == 3  # the page at the end, the one above, the footer
    assert all("text/plain" in output for output in screen.outputs.values())


def test_a_fence_of_five_million_characters() -> None:
    line = "x = 'some code of a very long file'  # with <b> and $money$\n"
    text = "```python\n" + line * (5_000_000 // len(line)) + "```\n"
    screen = drawn_in_pieces(text, 250_000).finish()
    assert len(screen.outputs) <= MAX_OUTPUTS
    assert "".join(screen.plain[:-1]).replace("\n\n", "\n") == text
    for block in screen.markdown[:5]:
        assert block.startswith("```\n")  # so much is not coloured
        assert block.endswith("\n```")


def test_one_line_of_a_million_characters_in_a_fence_goes_on() -> None:
    text = "```\n" + "x" * 1_000_000
    screen = drawn_in_pieces(text, 100_000).finish()
    assert "".join(screen.plain[:-1]) == text
    assert len(screen.outputs) < 20


def test_a_hundred_thousand_chunks_take_a_moment() -> None:
    turn = Played()
    start = time.process_time()
    for _ in range(100_000):
        turn.shown.take(say("word "))
    turn.shown.draw()
    screen = turn.finish()
    assert "".join(screen.plain[:-1]) == "word " * 100_000
    assert time.process_time() - start < 3


def test_long_thoughts_are_shown_once() -> None:
    thought = "".join(f"Thought number {i}.\n\n" for i in range(3_000))
    turn = Played()
    turn.play(think(thought[i : i + 5_000]) for i in range(0, len(thought), 5_000))
    page = "\n".join(turn.finish().markdown)
    assert page.count("Thought number 17.") == 1
    assert page.count("Thought number 2999.") == 1


# -- never more than forty outputs


def test_a_question_after_two_hundred_tool_calls_can_be_seen_and_answered() -> None:
    turn = Played()
    asked = question("last")
    for i in range(200):
        turn.play([call(f"c{i}"), say(f"Now number {i}.")])
    turn.play([Asked(asked)])
    assert len(turn.screen.widgets) == 1
    place = next(i for i, o in enumerate(turn.screen.outputs.values()) if WIDGET in o)
    assert place < MAX_OUTPUTS
    turn.click("Allow")
    assert asked.reply.result(timeout=0).option == OPTIONS[0]
    screen = turn.finish()
    assert screen.widgets == []
    assert len(screen.outputs) <= MAX_OUTPUTS
    page = "\n".join(screen.markdown)
    assert all(f"tool c{i}<" in page for i in range(200))


def test_a_hundred_questions_in_one_turn() -> None:
    turn = Played()
    for i in range(100):
        asked = question(f"c{i}")
        turn.play([say(f"May I do {i}?"), Asked(asked)])
        turn.click("Allow")
        turn.play([Answered(asked, asked.reply.result(timeout=0)), call(f"c{i}")])
    screen = turn.finish()
    assert len(screen.outputs) <= MAX_OUTPUTS
    assert "\n".join(screen.markdown).count("“Allow” by you") == 100


MAKE: dict[str, Callable[[int], Event]] = {
    "text": lambda n: say(f"#{n}# {'words ' * (n % 7 * 400)}\n\n"),
    "thought": lambda n: think(f"#{n}# "),
    "tool": lambda n: call(f"t{n}", "in_progress", title=f"#{n}#"),
    "update": lambda n: call("shared", "completed", title=f"state {n}"),
    "plan": lambda n: PlanUpdate((PlanEntry(f"#{n}#"),)),
    "notice": lambda n: Notice(f"#{n}#"),
    "image": lambda _: ContentChunk("agent", Content("image", data=PNG)),
    "progress": lambda _: Progress("waiting"),
}


def story(kinds: list[str], answer_all: bool = True) -> Iterator[Event]:
    """Events of these kinds; each says its number, but for updates of a call that all share."""
    open_questions: list[Permission] = []
    for n, kind in enumerate(kinds):
        if kind == "ask":
            open_questions.append(question(f"q{n}"))
            yield Asked(open_questions[-1])
        elif kind != "answer":
            yield MAKE[kind](n)
        elif open_questions:
            yield answered(open_questions.pop(n % len(open_questions)))
    if answer_all:
        yield from (answered(asked) for asked in open_questions)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from([*MAKE, "ask", "answer"]), max_size=120))
def test_whatever_comes_there_are_at_most_forty_outputs_and_all_is_there(kinds: list[str]) -> None:
    turn = Played()
    turn.play(story(kinds))
    screen = turn.finish()
    assert len(screen.outputs) <= MAX_OUTPUTS
    assert screen.widgets == []
    assert all("text/markdown" in output for output in screen.outputs.values())
    page = "\n".join(screen.markdown)
    said = [n for n, kind in enumerate(kinds) if kind in ("text", "thought", "notice", "tool")]
    for n in said:
        assert page.count(f"#{n}#") == 1
    text = "".join(e.text for e in story(kinds) if isinstance(e, TextChunk) and e.role == "agent")
    plain = "\n\n".join(screen.plain)
    assert all(word in plain for word in text.split())


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["text", "tool", "ask"]), max_size=60))
def test_while_questions_are_open_every_one_is_on_the_screen(kinds: list[str]) -> None:
    turn = Played()
    turn.play(story(kinds, answer_all=False))
    for _ in range(kinds.count("ask")):
        turn.click("Deny")
        turn.now += 1
        turn.view.poll()
    assert turn.screen.widgets == []
    assert not turn.view.has_open_question


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["text", "tool", "notice", "image"]), max_size=100))
def test_without_questions_the_order_of_arrival_is_kept(kinds: list[str]) -> None:
    turn = Played()
    turn.play(story(kinds))
    page = "\n".join(turn.finish().markdown)
    marks = [f"#{n}#" for n, kind in enumerate(kinds) if kind != "image"]
    assert [page.index(mark) for mark in marks] == sorted(page.index(mark) for mark in marks)


# -- questions


def test_an_answered_question_leaves_markdown_under_the_same_display_id() -> None:
    turn = Played()
    asked = question("a")
    turn.play([say("May I?"), Asked(asked)])
    [(display_id, bundle)] = [(k, v) for k, v in turn.screen.outputs.items() if WIDGET in v]
    turn.click("Allow")
    turn.play([Answered(asked, asked.reply.result(timeout=0))])
    after = turn.screen.outputs[display_id]
    assert set(after) == {"text/markdown", "text/plain"}
    assert "“Allow” by you" in after["text/markdown"]
    assert "Allow" in after["text/plain"]
    assert bundle != after


def test_a_question_keeps_its_place_among_the_calls_around_it() -> None:
    turn = Played()
    asked = question("b")
    turn.play([call("a", "pending"), call("b", "pending"), call("c", "pending"), Asked(asked)])
    turn.play([answered(asked)])
    page = "\n".join(turn.finish().markdown)
    assert page.index("tool a") < page.index("tool b") < page.index("tool c")


def test_several_questions_are_open_at_once() -> None:
    turn = Played()
    first, second = question("a"), question("b")
    turn.play([call("a", "pending"), call("b", "pending"), Asked(first), Asked(second)])
    assert len(turn.screen.widgets) == 2
    turn.click("Deny")
    assert first.reply.result(timeout=0).option == OPTIONS[1]
    assert second.open
    turn.click("Allow")
    assert second.reply.result(timeout=0).option == OPTIONS[0]


def test_a_call_that_is_asked_about_twice_is_asked_twice() -> None:
    turn = Played()
    first, second = question("a"), question("a")
    turn.play([Asked(first)])
    turn.click("Allow")
    turn.play([Asked(second)])
    assert len(turn.screen.widgets) == 1
    turn.click("Deny")
    assert second.reply.result(timeout=0).option == OPTIONS[1]


def test_a_late_click_says_that_the_question_has_expired() -> None:
    turn = Played()
    asked = question("a")
    turn.play([Asked(asked)])
    widget = turn.view._asking[0][0].widget
    asked.answer(Answer(None, by="stop"))
    turn.play([Answered(asked, Answer(None, by="stop"))])
    widget.children[1].children[0].click()
    turn.now += 1
    turn.view.poll()
    assert LATE in "".join(turn.screen.markdown)


def test_no_widget_is_left_behind() -> None:
    before = set(ipywidgets.widget._instances)
    turn = Played()
    asked = [question(f"q{i}") for i in range(30)]
    for one in asked:
        turn.play([say("so"), Asked(one)])
    turn.play([answered(one) for one in asked])  # all of them before the first is drawn
    turn.finish()
    assert set(ipywidgets.widget._instances) - before == set()


def test_without_widgets_a_question_is_a_card_and_a_line_of_text() -> None:
    turn = Played(use_widgets=False)
    asked = question("a", warning="careful")
    turn.play([Asked(asked)])
    turn.view.poll()
    assert turn.screen.widgets == []
    assert "tool a" in turn.screen.markdown[0]
    assert "Warning: careful" in turn.screen.written
    assert "1. Allow\n  2. Deny" in turn.screen.written
    turn.screen.lines = ["2"]
    turn.view.poll()
    assert asked.reply.result(timeout=0).option == OPTIONS[1]


def test_a_diff_on_a_page_is_one_line_of_source() -> None:
    turn = Played()
    diff = Diff("/w/a.txt", "old\n\n\nx\n", "new\n\n\nx\n")
    turn.play([ToolCallUpdate("a", title="Edit", kind="edit", status="completed", content=(diff,))])
    [page] = turn.screen.markdown
    assert "\n" not in page


def test_a_footer_says_how_it_ended_and_is_inert() -> None:
    turn = Played()
    screen = turn.finish(TurnEnded("![x](http://evil/)"))
    footer = screen.markdown[-1]
    assert footer.startswith("<div")
    assert "stop reason ![x](http://evil/)" in footer


# -- words without an end

TOOL = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Do it", "status": "completed"}
BLOCKS: dict[str, dict[str, object]] = {
    "type": {"type": ENDLESS},
    "name": {"type": "resource_link", "uri": "https://x.example", "name": ENDLESS},
    "address": {"type": "resource_link", "uri": f"https://x.example/{ENDLESS}", "name": "x"},
    "description": {"type": "resource_link", "uri": "x", "name": "x", "description": ENDLESS},
    "resource": {"type": "resource", "resource": {"uri": ENDLESS, "text": "x"}},
    "picture": {"type": "image", "data": "AAAA", "mimeType": ENDLESS},
    "picture elsewhere": {"type": "image", "uri": f"https://{ENDLESS}", "mimeType": "image/png"},
}
UPDATES: dict[str, dict[str, object]] = {
    "kind of update": {"sessionUpdate": ENDLESS},
    "notice": {"sessionUpdate": "notice", "description": ENDLESS},
    "compaction": {"sessionUpdate": "compaction_update", "status": ENDLESS},
    "step": {"sessionUpdate": "plan", "entries": [{"content": ENDLESS}]},
    "steps": {"sessionUpdate": "plan", "entries": [{"content": f"{n}"} for n in range(20_000)]},
    "plan": {"sessionUpdate": "plan_update", "plan": {"planId": "p", "content": ENDLESS}},
    "currency": {
        "sessionUpdate": "usage_update",
        "size": 1,
        "cost": {"amount": 1, "currency": ENDLESS},
    },
    **{key: {**TOOL, key: ENDLESS} for key in ("title", "kind", "status")},
    "id": {**TOOL, "toolCallId": ENDLESS, "title": ""},
    "path": {**TOOL, "kind": "edit", "locations": [{"path": f"/w/{ENDLESS}"}]},
    "exit status": {**TOOL, "kind": "execute", "rawOutput": {"exit_code": ENDLESS}},
    **{
        f"block: {name}": {"sessionUpdate": "agent_message_chunk", "content": block}
        for name, block in BLOCKS.items()
    },
}


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_no_words_of_an_agent_but_its_text_are_shown_without_an_end(
    update: dict[str, object],
) -> None:
    start = time.process_time()
    played = Played(human=False, use_widgets=False)
    played.play([update_event(update)])
    assert played.finish().bytes < 100_000
    assert time.process_time() - start < 5


def test_no_stop_reason_is_either() -> None:
    assert Played(human=False, use_widgets=False).finish(TurnEnded(ENDLESS)).bytes < 100_000
