"""Where long text is cut, and which page each entry of a transcript goes to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agy_kernel.conversation.toolcalls import ToolCall
from agy_kernel.conversation.transcript import (
    Entry,
    Message,
    Remark,
)
from agy_kernel.display.cuts import cut_point, hard_cut
from agy_kernel.display.pages import (
    BLOCK,
    HARD_BLOCK,
    LARGE_PAGE,
    LONG,
    MAX_OUTPUTS,
    OWN_PAGES,
    Page,
    Pages,
)

LINES = st.lists(
    st.sampled_from(
        [
            *("", "", "word", "  indented", "    deep", "- item", "```", "```py", "````", "~~~"),
            *("  ```", "```x`y", "\u2028```", "\x0c```", "text ``` text", "> ```", "\t"),
        ]
    ),
    max_size=40,
)
TEXTS = LINES.map("\n".join)


def fences(text: str) -> int:
    """How many fences are open at the end, as markdown-it reads it: none or one."""
    tokens = MarkdownIt("commonmark").parse(text)
    last = next((t for t in reversed(tokens) if t.type == "fence" and t.level == 0), None)
    if last is None or last.map is None or last.map[1] < len(text.split("\n")):
        return 0
    lines = text.split("\n")[slice(*last.map)]
    closing = lines[-1].strip()
    return int(
        len(lines) < 2 or not closing.startswith(last.markup) or set(closing) != {last.markup[0]}
    )


# -- cuts


def test_a_text_is_cut_behind_its_last_blank_line() -> None:
    assert cut_point("one\n\ntwo\n\nthree", 1) == len("one\n\ntwo\n\n")


@pytest.mark.parametrize(
    "text",
    [
        "no blank line\nat all",
        "a\n\n  what is indented may belong to the list above",
        "```\ncode\n\nmore code\n",
        "~~~\ncode\n```\n\nstill code\n",
        "- a\n  ```\nunindented, so this is no code any more\n```\n\nbut this is",
        "a\n\n",
        "",
    ],
)
def test_a_text_without_a_good_place_is_not_cut(text: str) -> None:
    assert cut_point(text, 1) is None


def test_a_fence_ends_with_the_list_item_that_it_is_in() -> None:
    item = "- a\n  ```\n  code\n\n"
    assert cut_point(f"{item}unindented", 1) == len(item)
    assert hard_cut(f"{item}unindented\nand more", len(f"{item}unindented\n")) == (29, "", "")


def test_a_cut_too_early_is_not_worth_its_output() -> None:
    assert cut_point("one\n\ntwo", at_least=6) is None
    assert cut_point("one\n\ntwo", at_least=5) == 5


@given(TEXTS)
def test_no_cut_is_inside_a_fence(text: str) -> None:
    cut = cut_point(text, 1)
    if cut is not None:
        assert text[:cut].endswith("\n")
        assert text[cut : cut + 1].strip()
        assert fences(text[:cut].rstrip("\n")) == 0


@given(TEXTS.filter(lambda text: len(text) > 1), st.data())
def test_a_hard_cut_leaves_two_texts_with_whole_fences(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(text) - 1))
    end, suffix, prefix = hard_cut(text, at)
    assert 0 < end <= at
    assert fences((text[:end] + suffix).rstrip("\n")) == 0
    assert bool(suffix) == bool(prefix)
    if prefix:
        assert fences(prefix.rstrip("\n")) == 1


def test_a_fence_is_closed_and_opened_again_with_its_language() -> None:
    text = "```python\n" + "x = 1\n" * 10
    end, suffix, prefix = hard_cut(text, 40)
    assert text[:end].endswith("\n")
    assert (suffix, prefix) == ("```\n", "```python\n")


def test_a_nested_fence_is_closed_where_it_stands() -> None:
    _, suffix, prefix = hard_cut("- a\n  ```py\n  x\n  y\n", 17)
    assert (suffix, prefix) == ("  ```\n", "  ```py\n")


def test_a_line_without_end_is_cut_in_the_middle() -> None:
    assert hard_cut("\n" + "x" * 100, 50) == (50, "", "")


def test_an_endless_opening_line_is_not_repeated() -> None:
    end, suffix, prefix = hard_cut("```" + "x" * 1_000 + "\ncode\n" * 10, 1_020)
    assert end > 1_000
    assert suffix == "```\n"
    assert prefix == ""


# -- pages


def pages_of(entries: list[Entry]) -> Pages:
    """Pages on which the entries were placed one after the other."""
    pages = Pages(lambda _: 100)
    for end in range(1, len(entries) + 1):
        pages.place(entries[:end])
    return pages


def parts(pages: Pages, entries: list[Entry], index: int) -> list[str]:
    """The parts of a message, in the order of the pages."""
    message = entries[index]
    assert isinstance(message, Message)
    return [s.exact(message) for page in pages._all for s in page.segments if s.entry == index]


def call(number: int) -> ToolCall:
    return ToolCall(f"c{number}")


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(TEXTS, st.sampled_from([1, 60, 400, 3_000])), min_size=1, max_size=6),
    st.sampled_from([700, 9_000, 1_000_000]),
)
def test_the_parts_of_a_text_are_the_text(blocks: list[tuple[str, int]], step: int) -> None:
    text = "".join((block + "\n\n") * times for block, times in blocks)
    pages = Pages(lambda _: 100)
    for end in range(step, len(text) + step, step):
        pages.place([Message("agent", text[:end])])
    entries: list[Entry] = [Message("agent", text)]
    found = parts(pages, entries, 0)
    assert "".join(found) == text
    assert max(map(len, found)) <= HARD_BLOCK
    assert sum(map(len, found)) / len(found) >= min(len(text), BLOCK // 2) / 2


def test_a_long_message_is_cut_although_something_came_after_it_at_once() -> None:
    entries: list[Entry] = [Message("agent", "word\n\n" * 20_000), call(1)]
    pages = Pages(lambda _: 100)
    pages.place(entries)
    assert max(map(len, parts(pages, entries, 0))) <= HARD_BLOCK


@given(st.lists(st.sampled_from(["say", "think", "call", "remark"]), max_size=150))
def test_there_are_never_too_many_pages_and_they_are_in_order(kinds: list[str]) -> None:
    make: dict[str, Callable[[int], Entry]] = {
        "say": lambda n: Message("agent", f"{n}"),
        "think": lambda n: Message("thought", f"{n}"),
        "call": call,
        "remark": lambda n: Remark(f"{n}"),
    }
    pages = pages_of([make[kind](n) for n, kind in enumerate(kinds)])
    pages.footer()
    assert len(pages._all) <= MAX_OUTPUTS
    placed = [segment.entry for page in pages._all for segment in page.segments]
    assert placed == list(range(len(kinds)))


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_questions_never_make_too_many_pages(data: st.DataObject) -> None:
    entries: list[Entry] = []
    sizes = st.sampled_from([10, 20_000])
    pages = Pages(lambda _: data.draw(sizes))
    open_pages: list[Page] = []
    for n in range(data.draw(st.integers(0, 120))):
        entries.append(call(n) if data.draw(st.booleans()) else Message("agent", "x"))
        pages.place(entries)
        if isinstance(entries[-1], ToolCall) and data.draw(st.booleans()):
            page = pages.ask(n)
            assert pages._all.index(page) < MAX_OUTPUTS
            open_pages.append(page)
        is_answered = data.draw(st.booleans())
        if open_pages and is_answered:
            pages.asked(open_pages.pop())
    pages.footer()
    assert len(pages._all) <= MAX_OUTPUTS
    placed = [segment.entry for page in pages._all for segment in page.segments]
    assert sorted(placed) == list(range(len(entries)))


def test_a_question_stands_alone_between_its_neighbours() -> None:
    pages = pages_of([call(0), call(1), call(2)])
    asked = pages.ask(1)
    assert [[s.entry for s in page.segments] for page in pages._all] == [[0], [1], [2]]
    assert asked.kind == "question"


def test_what_comes_after_a_question_does_not_join_it() -> None:
    entries: list[Entry] = [call(0)]
    pages = pages_of(entries)
    pages.ask(0)
    pages.place([*entries, call(1)])
    assert len(pages._all) == 2


def test_when_pages_run_out_a_question_has_a_slot_at_the_end() -> None:
    entries: list[Entry] = [Message("agent" if n % 2 else "thought", "x") for n in range(100)]
    entries.append(call(100))
    pages = pages_of(entries)
    pages.changed()
    slot = pages.ask(100)
    assert slot.kind == "slot"
    assert pages._all[-1] is slot
    assert OWN_PAGES < len(pages._all) < MAX_OUTPUTS
    assert pages.changed() == [slot]


def test_only_what_changed_is_to_be_drawn_and_in_order() -> None:
    entries: list[Entry] = [call(0), Message("agent", "x"), call(2)]
    pages = pages_of(entries)
    assert pages.changed() == pages._all
    assert not pages.has_changes
    pages.touch(2)
    pages.touch(0)
    assert pages.changed() == [pages._all[0], pages._all[2]]


def test_nothing_is_put_on_the_page_of_the_footer() -> None:
    entries: list[Entry] = [call(0)]
    pages = pages_of(entries)
    footer = pages.footer()
    pages.place([*entries, call(1)])
    assert footer.segments == []


def test_a_large_page_takes_over_what_the_small_one_below_it_holds() -> None:
    entries: list[Entry] = [call(n) for n in range(2_000)]
    pages = Pages(lambda _: 1_000)
    sizes = []
    for end in range(1, len(entries) + 1):
        pages.place(entries[:end])
        if pages._tail is not None:
            sizes.append(pages._tail.size)
    assert max(sizes) < LARGE_PAGE * 2
    large = [page.size for page in pages._all if page.kind == "rolling"][:-2]
    assert min(large) >= LARGE_PAGE
    assert max(large) < 2_000_000 / 6
    assert [s.entry for page in pages._all for s in page.segments] == list(range(2_000))


def test_a_turn_is_long_by_its_text_or_by_its_pages() -> None:
    few_but_much = pages_of([Message("agent", "word\n\n" * (LONG // 6 + 1)), call(1)])
    many_but_little = pages_of([Message("agent" if n % 2 else "thought", "x") for n in range(60)])
    short = pages_of([Message("agent", "word\n\n" * (LONG // 12)), call(1)])
    for pages, is_long in ((few_but_much, True), (many_but_little, True), (short, False)):
        assert ("rolling" in [page.kind for page in pages._all]) == is_long


def test_a_page_rests_until_something_is_put_on_it() -> None:
    entries: list[Entry] = [call(0)]
    pages = pages_of(entries)
    (page,) = pages.changed()
    page.rests_until = 10.0
    pages.touch(0)
    assert pages.changed(now=9.0) == []
    assert pages.has_changes
    assert pages.changed(now=10.0) == [page]
    page.rests_until = 20.0
    pages.place([*entries, call(1)])
    assert pages.changed(now=10.0) == [page]


def test_a_question_does_not_wait_for_a_page_that_rests() -> None:
    pages = pages_of([call(0)])
    (page,) = pages.changed()
    page.rests_until = 10.0
    assert pages.ask(0) is page
    assert pages.changed(now=0.0) == [page]
