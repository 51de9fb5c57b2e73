"""What stands on a button tells allow from reject, whatever the agent calls its options."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.display.labels import LONGEST, LONGEST_TOOLTIP, labels
from agy_kernel.questions import Option

KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")


def texts(*options: tuple[str, str]) -> list[str]:
    made = [Option(str(n), name, kind) for n, (name, kind) in enumerate(options)]
    return [label.text for label in labels(made)]


# The names that agents in tests/agents/traffic, and the simulator, give to their options.
HONEST = [
    ("Allow", "allow_once"),
    ("Allow once", "allow_once"),
    ("Yes", "allow_once"),
    ("Yes, proceed", "allow_once"),
    ("Allow this change", "allow_once"),
    ("Allow for this session", "allow_always"),
    ("Allow for remainder of this session", "allow_always"),
    ("Always allow", "allow_always"),
    ("Always Allow all Write", "allow_always"),
    ("Always Allow Bash(exit 3)", "allow_always"),
    ("Yes, and don't ask again for `echo hello`", "allow_always"),
    ("Reject", "reject_once"),
    ("Deny", "reject_once"),
    ("No, provide feedback", "reject_once"),
    ("No, and tell Codex what to do differently", "reject_once"),
    ("Skip this change", "reject_once"),
    ("Never", "reject_always"),
    ("Never Allow This Tool", "reject_always"),
]


@pytest.mark.parametrize(("name", "kind"), HONEST, ids=[name for name, _ in HONEST])
def test_a_name_that_says_what_it_does_stands_alone(name: str, kind: str) -> None:
    other = ("Cancel", "reject_once") if kind.startswith("allow") else ("OK", "allow_once")
    assert texts((name, kind), other)[0] == name


def test_the_answers_to_a_question_are_left_as_they_are() -> None:
    names = ["Tea", "Coffee", "C", "C++", "👍", "お茶", "Ja"]
    assert texts(*((name, "allow_once") for name in names)) == names


LIES = [
    ("Allow", "reject_once", "Reject once: “Allow”"),
    ("Deny", "allow_once", "Allow once: “Deny”"),
    ("Cancel", "allow_always", "Always allow: “Cancel”"),
    ("Allow", "allow_always", "Always allow: “Allow”"),
    ("Allow once", "allow_always", "Always allow: “Allow once”"),
    ("Reject", "reject_always", "Always reject: “Reject”"),
    ("Yes (reject once)", "allow_once", "Allow once: “Yes (reject once)”"),
    ("Reject once: “Deny”", "allow_once", "Allow once: “Reject once: “Deny””"),
    ("Do not allow", "allow_once", "Allow once: “Do not allow”"),
    ("Close this window", "allow_once", "Allow once: “Close this window”"),
    ("Nein", "allow_once", "Allow once: “Nein”"),
    ("拒否", "allow_once", "Allow once: “拒否”"),
    ("D\u0435ny", "allow_once", "Allow once: “D\u0435ny”"),  # a Cyrillic letter
    ("\uff24\uff25\uff2e\uff39", "allow_once", "Allow once: “\uff24\uff25\uff2e\uff39”"),
    ("", "allow_once", "Allow once"),
    ("\u200b\u3164\n", "reject_always", "Always reject"),
]


@pytest.mark.parametrize(("name", "kind", "shown"), LIES)
def test_the_kind_stands_before_a_name_that_does_not_say_it(
    name: str, kind: str, shown: str
) -> None:
    assert texts((name, kind), ("No", "reject_once"))[0] == shown


def test_a_lie_is_told_where_nothing_is_rejected_too() -> None:
    assert texts(("No", "allow_once"), ("Cancel", "allow_once")) == [
        "Allow once: “No”",
        "Allow once: “Cancel”",
    ]


ALIKE = [
    "Allow",
    "ALLOW",
    "Allow\u200b",
    "\u202eAllow",
    "Al\u00adlow",
    "Allow.",
    "\u0410llow",
    "A11ow",
]


@pytest.mark.parametrize("twin", ALIKE, ids=ascii)
def test_names_that_look_alike_are_told_apart_by_their_kinds(twin: str) -> None:
    first, second = texts(("Allow", "allow_once"), (twin, "allow_always"))
    assert first.startswith("Allow once: “")
    assert second.startswith("Always allow: “")


def test_what_is_the_same_in_all_is_numbered() -> None:
    assert texts(("Go", "allow_once"), ("Go", "allow_once"), ("No", "reject_once")) == [
        "1. Allow once: “Go”",
        "2. Allow once: “Go”",
        "3. No",
    ]
    assert texts(("", ""), ("", "")) == ["1. (no name)", "2. (no name)"]


def test_a_name_is_one_short_line_and_whole_in_the_tooltip() -> None:
    tower = "z" + "\u0301" * 9
    name = f"Allow\r\nall of this,\x1b[31m now \u202e and {tower} " + "x" * 300
    warning = "it\u202e reads \x1b[1myour keys"
    (label,) = labels([Option("1", name, "allow_always", warning)])
    assert label.text.startswith("Allow all of this, now and ź\u0301\u0301 x")
    assert label.text.endswith("…")
    assert len(label.text) == LONGEST
    assert "x" * 300 in label.tooltip
    assert label.tooltip.startswith("Always allow · Allow all of this")
    assert label.tooltip.endswith("Warning: it reads your keys")


def test_a_kind_that_nobody_knows_is_not_named() -> None:
    assert texts(("Perhaps", "allow_perhaps"), ("No", "reject_once")) == ["Perhaps", "No"]


@given(st.lists(st.tuples(st.text(max_size=90), st.sampled_from([*KINDS, "", "odd"])), max_size=5))
def test_whatever_the_names_are_no_two_labels_are_the_same(options: list[tuple[str, str]]) -> None:
    made = labels([Option(str(n), name, kind) for n, (name, kind) in enumerate(options)])
    assert len({label.text for label in made}) == len(options)
    for label in made:
        assert label.text.strip()
        assert len(label.text) < LONGEST + 40
        assert len(label.tooltip) <= LONGEST_TOOLTIP
        assert all(unicodedata.category(letter)[0] != "C" for letter in label.text)


@given(st.text(max_size=20), st.sampled_from(KINDS))
def test_allow_and_reject_can_be_told_apart_under_any_one_name(name: str, kind: str) -> None:
    allow, reject = texts((name, "allow_once"), (name, "reject_once"))
    assert "Allow once" in allow
    assert "Reject once" in reject
