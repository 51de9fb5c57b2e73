"""A program's output as its terminal shows it in the end; and the ends of a long text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.display.outputs import bounded, in_full
from agy_kernel.display.printed import as_left, excerpt


@pytest.mark.parametrize(
    ("printed", "left"),
    [
        ("plain\ntext\n", "plain\ntext\n"),
        ("dos\r\nlines\r\n", "dos\nlines\n"),
        ("odd\r\r\nend", "odd\nend"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("  0%|   |\r100%|###|\n", "100%|###|\n"),
        ("a long line\rshort", "shortg line"),
        ("a long line\r\x1b[Kshort", "short"),
        ("a long line\r\x1b[2Kshort", "short"),
        ("ends with a return\r", "ends with a return"),
        ("|\b/\b-\bok", "ok"),
        ("ab\b\b\bxy", "xy"),
        ("\x1b[32mgreen\x1b[0m", "\x1b[32mgreen\x1b[0m"),
    ],
)
def test_a_line_is_left_in_its_last_state(printed: str, left: str) -> None:
    assert as_left(printed) == left


def test_a_progress_bar_of_many_steps_takes_no_time() -> None:
    bar = "\r".join(f"{i:6}/500000 [{'#' * (i % 40):40}]" for i in range(100_000))
    assert as_left(bar).startswith(" 99999/500000 [")


def test_colours_are_taken_out_in_full_and_in_part() -> None:
    assert in_full("\x1b[31mred\x1b[0m 1%\r\x1b[31mRED\n", is_printed=True).startswith("RED")
    assert in_full("one\rtwo") == "one\ntwo"  # no terminal, and old line ends


@given(st.text(alphabet="ab\n", max_size=200), st.integers(4, 100))
def test_the_ends_and_what_is_between_make_the_text(text: str, limit: int) -> None:
    head, left_out, tail = excerpt(text, limit)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + left_out + len(tail) == len(text)
    assert len(head) + len(tail) <= limit
    assert left_out == 0 or len(text) > limit


def test_whole_lines_are_kept_where_there_are_any() -> None:
    head, _, tail = excerpt("".join(f"line {i}\n" for i in range(1_000)), 100)
    assert head.startswith("line 0\n")
    assert head.endswith("\n")
    assert tail.startswith("line 9")
    assert tail.endswith("line 999\n")


def test_a_long_output_keeps_both_ends_and_names_the_command() -> None:
    text = "first\n" + "x\n" * 2_500_000 + "last\n"
    shown = bounded(text, "%agy output c1")
    assert len(shown) < 21_000
    assert shown.startswith("first\n")
    assert shown.endswith("\nlast")
    assert "characters are not shown here: %agy output c1" in shown
