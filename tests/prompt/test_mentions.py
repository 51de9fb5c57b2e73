"""Mentions are found, and told apart from all else that has an at sign."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.prompt.mentions import Mention, find, read, unescape


def names(text: str) -> list[str]:
    return [mention.name for mention in find(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@df", ["df"]),
        ("what is @df and\n\t@fig", ["df", "fig"]),
        ("@df @fig @df", ["df", "fig"]),
        ("@größe @数据 @_x1", ["größe", "数据", "_x1"]),
        ("@data/a.csv @dir/ @~/x @../y", ["data/a.csv", "dir/", "~/x", "../y"]),
        ("write to me@example.org", []),
        ("(@df) '@df' a@b @ @@ x@", []),
        (r"\@df stays, and \\@df", []),
        ("git@github.com:a/b", []),
        ("", []),
    ],
)
def test_mentions_stand_behind_white_space(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "why?\n@property\ndef x(self): ...",
        "@app.route('/x y')\nasync def f(): ...",
        "  @a\n  @b.c(1)\n  class X: ...",
        "@dataclass  \nclass X: ...",
    ],
)
def test_decorators_are_none(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize("text", ["@df\nwhat is it?", "@df what?\ndef f(): ...", "@df\ndefine it"])
def test_but_a_mention_on_a_line_of_its_own_is_one(text: str) -> None:
    assert names(text) == ["df"]


@pytest.mark.parametrize(
    ("name", "mention"),
    [
        ("error", Mention("error", "error")),
        ("cell:3", Mention("cell:3", "cell", cell="3")),
        ("cell:last", Mention("cell:last", "cell", cell="last")),
        ("cell:x", Mention("cell:x", "other")),
        ("cell:" + "9" * 5_000, Mention("cell:" + "9" * 5_000, "other")),
        ("a/b.ipynb", Mention("a/b.ipynb", "notebook", path="a/b.ipynb")),
        ("b.ipynb#3", Mention("b.ipynb#3", "notebook", cell="3", path="b.ipynb")),
        ("b.ipynb#x", Mention("b.ipynb#x", "other")),
        (".ipynb", Mention(".ipynb", "other")),
        ("errors", Mention("errors", "other")),
    ],
)
def test_what_a_name_can_mean(name: str, mention: Mention) -> None:
    assert read(name) == mention


@pytest.mark.parametrize(
    ("name", "shorter"),
    [
        ("df?", "df"),
        ("df.", "df"),
        ("a.csv,", "a.csv"),
        ("df),", "df"),
        ("df's", "df"),
        ("df’s?", "df"),
        ("cell:3:", "cell:3"),
        ("b.ipynb#3!", "b.ipynb#3"),
        ("dir/…", "dir/"),
        ("df", None),
        ("x.y", None),
        ("...", None),
        ("'s", None),
    ],
)
def test_punctuation_at_the_end_may_be_none_of_it(name: str, shorter: str | None) -> None:
    mention = read(name).shorter
    assert (mention.name if mention else None) == shorter


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        (r"\@df", "@df"),
        (r"say \@df or @fig", "say @df or @fig"),
        (r"a\@b.c", r"a\@b.c"),
        (r"\\@df", r"\\@df"),
        (r"C:\dir \n", r"C:\dir \n"),
    ],
)
def test_a_backslash_before_a_mention_is_not_sent(typed: str, sent: str) -> None:
    assert unescape(typed) == sent


@given(st.text(alphabet="@\\ ab.?'\n(", max_size=20))
def test_what_is_found_stands_in_the_text(text: str) -> None:
    for mention in find(text):
        assert f"@{mention.name}" in text.split()
        assert mention.shorter is None or mention.name.startswith(mention.shorter.name)
