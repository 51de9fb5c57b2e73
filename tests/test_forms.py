"""The fields of a form: what a person typed, and what is wrong with it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.forms import Field, Item, Value, bounds, check, read

COLOURS = (Item("r", "Red"), Item("g", "Green", "like grass"), Item("3", "Three"))


@pytest.mark.parametrize(
    ("kind", "typed", "value"),
    [
        ("text", " as it is ", " as it is "),
        ("text", "", None),
        ("number", " 2.5 ", 2.5),
        ("number", "1e3", 1000.0),
        ("integer", "-7", -7),
        ("integer", "  ", None),
        ("yes_no", "Yes", True),
        ("yes_no", "n", False),
        ("choice", "2", "g"),
        ("choice", "green", "g"),
        ("choice", "R", "r"),
        ("choices", "1, Green,1", ["r", "g"]),
        ("choices", "", None),
    ],
)
def test_what_is_typed_becomes_a_value(kind: str, typed: str, value: Value | None) -> None:
    field = Field("f", kind, items=COLOURS)  # type: ignore[arg-type]
    assert read(field, typed) == value


@pytest.mark.parametrize(
    ("kind", "typed", "words"),
    [
        ("number", "two", "'two' is not a number"),
        ("number", "inf", "not a number that can be sent"),
        ("number", "nan", "not a number that can be sent"),
        ("integer", "2.5", "'2.5' is not a whole number"),
        ("yes_no", "perhaps", "neither yes nor no"),
        ("choice", "4", "'4' is not one of 1 to 3"),
        ("choice", "0", "'0' is not one of 1 to 3"),
        ("choices", "1,blue", "'blue' is not one of 1 to 3"),
    ],
)
def test_what_is_no_value_is_said_in_words(kind: str, typed: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read(Field("f", kind, items=COLOURS), typed)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        (Field("f", required=True), None, "is required"),
        (Field("f"), None, ""),
        (Field("f", least=3), "ab", "must be at least 3 characters"),
        (Field("f", most=3), "abcd", "must be at most 3 characters"),
        (Field("f", "integer", least=1, most=5), 6, "must be at most 5"),
        (Field("f", "number", least=0.5), 0.4, "must be at least 0.5"),
        (Field("f", "integer", most=1234567), 1234568, "must be at most 1234567"),
        (Field("f", "number", most=0.123456789), 0.2, "must be at most 0.123456789"),
        (Field("f", "choices", least=1), [], "must be at least 1 choices"),
        (Field("f", "yes_no", least=2), True, ""),
        (Field("f", format="email"), "someone@example.org", ""),
        (Field("f", format="email"), "someone at home", "must be an e-mail address"),
        (Field("f", format="uri"), "https://example.org/a", ""),
        (Field("f", format="uri"), "example", "must be an address like https://example.org"),
        (Field("f", format="date"), "2026-11-30", ""),
        (Field("f", format="date"), "2026-02-30", "must be a date like 2026-11-30"),
        (Field("f", format="date-time"), "2026-11-30T12:00:00Z", ""),
        (Field("f", format="date-time"), "2026-11-30", "must be a time like 2026-11-30T12:00:00Z"),
        (Field("f", format="something new"), "anything", ""),
        (Field("f", pattern="^[a-z]+$"), "abc", ""),
        (Field("f", pattern="^[a-z]+$"), "ABC", "must match ^[a-z]+$"),
        (Field("f", pattern="("), "a pattern that is none is the agent's to see to", ""),
    ],
)
def test_a_value_is_checked(field: Field, value: Value | None, problem: str) -> None:
    assert check(field, value) == problem


def test_a_pattern_that_takes_for_ever_does_not_hold_the_kernel() -> None:
    assert check(Field("f", pattern="^(a+)+$"), "a" * 60 + "!") == ""


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (Field("f"), ""),
        (Field("f", least=1, most=9), "1 to 9 characters"),
        (Field("f", "integer", least=1), "a whole number, at least 1"),
        (Field("f", "integer", least=1.0, most=2_000_000.0), "a whole number, 1 to 2000000"),
        (Field("f", "choices", most=2), "at most 2 choices"),
        (Field("f", format="date", pattern="^2"), "date, like ^2"),
    ],
)
def test_bounds_are_told_in_words(field: Field, words: str) -> None:
    assert bounds(field) == words


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_can_be_typed(number: float) -> None:
    value = read(Field("f", "number"), repr(number))
    assert isinstance(value, float)
    assert math.isclose(value, number)
