"""A diff shows what changes, all of it, and in no time."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agy_kernel.acp.updates import update_event
from agy_kernel.display.changes import what
from agy_kernel.display.diffs import compare, plain, render, stat
from agy_kernel.events import Diff, ToolCallUpdate
from tests.support.renderers import text_of

FULL = "%agy diff c1"


def diff(old: str | None, new: str, deleted: bool = False) -> Diff:
    return Diff("/w/a.txt", old, new, deleted)


def lines(text: str) -> list[str]:
    return text.split("\n")[: -1 if text.endswith("\n") or not text else None]


def applied(old: list[str], shown: Diff) -> list[str]:
    """The old lines with the shown ones applied; where lines are left out, they must be unique."""
    new: list[str] = []
    at = 0
    script = compare(shown).lines
    for i, line in enumerate(script):
        if line.sign == "…":
            following = next((x.text for x in script[i + 1 :] if x.sign in " -"), None)
            end = old.index(following, at) if following is not None else len(old)
            new += old[at:end]
            at = end
        elif line.sign in " -":
            assert old[at] == line.text
            new += [line.text] if line.sign == " " else []
            at += 1
        elif line.sign == "+":
            new.append(line.text)
    return [*new, *old[at:]]


FEW = st.lists(st.sampled_from(["a", "b", "", " a", "a "]), max_size=6)


@given(FEW, FEW)
def test_the_shown_lines_make_the_new_text_of_the_old_one(old: list[str], new: list[str]) -> None:
    shown = diff("\n".join([*old, ""]), "\n".join([*new, ""]))
    hidden = [line for line in compare(shown).lines if line.sign == "…"]
    if not hidden:
        assert applied(old, shown) == new


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 60), st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=6))
def test_with_lines_left_out_too(size: int, edits: list[tuple[int, bool]]) -> None:
    old = [f"line {i}" for i in range(size)]
    new = list(old)
    for at, insert in edits:
        new[at : at + 1] = [f"new {at}", *new[at : at + 1]] if insert else []
    assert applied(old, diff("\n".join([*old, ""]), "\n".join([*new, ""]))) == new


@given(FEW, FEW)
def test_the_counts_are_those_of_the_lines(old: list[str], new: list[str]) -> None:
    compared = compare(diff("\n".join([*old, ""]), "\n".join([*new, ""])))
    signs = [line.sign for line in compared.lines]
    assert (compared.added, compared.removed) == (signs.count("+"), signs.count("-"))
    assert len(new) - len(old) == compared.added - compared.removed


def test_three_lines_of_context_and_a_mark_for_what_is_left_out() -> None:
    old = [f"{i}" for i in range(20)]
    new = [*old[:10], "changed", *old[11:]]
    shown = plain(diff("\n".join(old), "\n".join(new)))
    assert shown.split("\n") == [
        "…",
        "  7",
        "  8",
        "  9",
        "- 10",
        "+ changed",
        "  11",
        "  12",
        "  13",
    ]


@pytest.mark.parametrize("old_text", [{"oldText": None}, {}, {"oldText": ""}])
def test_a_new_file_may_be_told_in_three_ways(old_text: dict[str, str | None]) -> None:
    item = {"type": "diff", "path": "/a", "newText": "x\ny\n", **old_text}
    frame = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "t", "content": [item]}
    event = update_event(frame)
    assert isinstance(event, ToolCallUpdate)
    assert event.content
    [told] = event.content
    assert isinstance(told, Diff)
    assert (what(told), stat(told)) == ("new file", "+2 −0")
    assert plain(told) == "+ x\n+ y"


def test_a_deleted_file_loses_its_lines() -> None:
    gone = diff("x\ny\n", "", deleted=True)
    assert (what(gone), stat(gone), plain(gone)) == ("deleted", "+0 −2", "- x\n- y")


def test_a_file_that_was_empty_is_changed_and_not_new() -> None:
    assert what(diff("", "x\n")) == "changed"


@pytest.mark.parametrize(
    ("case", "says"),
    [
        (diff(None, ""), "(empty)"),
        (diff("", "", deleted=True), "(empty)"),
        (diff("same\n", "same\n"), "(no change)"),
    ],
)
def test_a_diff_without_lines_says_why(case: Diff, says: str) -> None:
    assert text_of(render(case, FULL)) == says


def test_the_last_newline_and_the_kind_of_newlines_are_told() -> None:
    assert "no newline at the end of the file after" in plain(diff("a\n", "a"))
    assert "no newline at the end of the file before" in plain(diff("a", "a\n"))
    assert "CRLF" in plain(diff("a\r\nb\r\n", "a\nb\n"))
    assert stat(diff("a\r\nb\r\n", "a\nb\n")) == "+0 −0"
    assert plain(diff("a\r\nb\r\n", "a\r\nc\r\n")) == "  a\n- b\n+ c"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("a\r\nb\r\n", "a\nb\r\n", "(CRLF → CRLF and LF, mixed)"),
        ("a\r\nb\r\n", "a\r\nnew\nb\r\n", "(CRLF → CRLF and LF, mixed)"),
        ("a\r\nb\n", "a\nb\n", "(CRLF and LF, mixed → LF)"),
        ("a\r\nb\n", "a\nb\r\n", "some line ends changes"),
    ],
)
def test_line_ends_that_change_in_some_lines_only_are_told(old: str, new: str, says: str) -> None:
    assert says in plain(diff(old, new))
    assert "no change" not in text_of(render(diff(old, new), FULL))


@pytest.mark.parametrize(
    ("hidden", "named"),
    [
        ("\u202e", "⟨U+202E⟩"),
        ("\u2066", "⟨U+2066⟩"),
        ("\u200b", "⟨U+200B⟩"),
        ("\ufeff", "⟨U+FEFF⟩"),
        ("\x1b[2K", "⟨U+001B⟩[2K"),
        ("\r", "⟨U+000D⟩"),
    ],
)
def test_what_cannot_be_seen_in_a_line_is_named(hidden: str, named: str) -> None:
    """What would be written is shown as what would run is: whole."""
    change = diff("a = 1\n", f"a = 1{hidden} # x\n")
    for shown in (text_of(render(change, FULL)), plain(change)):
        assert f"+ a = 1{named} # x" in shown


def test_two_edits_of_a_long_file_are_shown_without_what_lies_between() -> None:
    old = [f"line {i % 50}" if i % 3 else f"unique {i}" for i in range(20_000)]
    new = [*old[:5], "first", *old[6:15_000], "second", "third", *old[15_000:]]
    compared = compare(diff("\n".join(old), "\n".join(new)))
    assert (compared.added, compared.removed) == (3, 1)
    assert len(compared.lines) < 25


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["x"] * 20_000, ["y", *["x"] * 19_000, "y"]),
        ([f"{i}" for i in range(20_000)], [f"{i}" for i in range(20_000, 0, -1)]),
        ([*"ab"] * 10_000, [*"ba", "c"] * 7_000),
        (
            [w for i in range(440) for w in (f"a{i}", "")],
            [w for i in range(440) for w in (f"b{i}", "")],
        ),
        ([f"a{i}" for i in range(20_000)], [f"b{i}" for i in range(20_000)]),
        ([f"{i}" for i in range(20_000)], [f"{i}" if i % 3 else "new" for i in range(20_000)]),
    ],
    ids=[
        *("alike", "reversed", "two kinds", "rewritten, with blank lines", "rewritten"),
        "every third line",
    ],
)
def test_no_diff_takes_long(old: list[str], new: list[str]) -> None:
    start = time.process_time()
    shown = diff("\n".join(old), "\n".join(new))
    assert render(shown, FULL)
    assert time.process_time() - start < 2
    assert compare(shown).added - compare(shown).removed == len(new) - len(old)


def test_a_long_diff_is_folded_with_its_number_of_lines() -> None:
    shown = render(diff(None, "x\n" * 200), FULL)
    assert "<summary>140 more lines</summary>" in shown
    assert text_of(shown).count("+ x") == 200


def test_an_endless_diff_is_not_sent_whole() -> None:
    shown = render(diff(None, "x\n" * 100_000 + "y" * 1_000_000), FULL)
    assert len(shown) < 200_000
    assert "99,441 lines are not shown here: %agy diff c1" in shown
    assert len(render(diff(None, "y" * 1_000_000), FULL)) < 3_000


def test_a_diff_is_one_line_of_source_and_escaped() -> None:
    shown = render(diff("a\n\n<b>$x$\n", "a\n\n<script>\\\\(\n"), FULL)
    assert "\n" not in shown
    assert not re.search(r"<script|<b>|\$|\\", shown)
    assert "- <b>$x$" in text_of(shown)
