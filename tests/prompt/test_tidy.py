"""Outputs become text that is worth reading, and every cut is counted."""

import base64
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.prompt.tidy import cut, encodable, html_as_text, size, tidy, without_base64

LEFT_OUT = re.compile(r"\n\[([\d,]+) bytes left out\]\n")
ANY_TEXT = st.text(st.characters(), max_size=200)  # lone surrogates too
MUCH = 1_000_000


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x07shown", "shown"),
        ("\x1b[2K\r 10%\r 50%\r100%\nend", "100%\nend"),
        ("10%\r20%\r", "20%"),
        ("windows\r\nlines\r\n", "windows\nlines"),
        ("10%\b\b\b20%\b\b\b30%", "30%"),
        ("ab\b", "a"),
        ("\b\b\bx", "x"),
        ("a.b c\b-d", "a.b -d"),
        ("over\rwritten\b\b\b\b", "wri"),
        ("nul\x00 bell\x07 del\x7f c1\x9b", "nul bell del c1"),
        ("tab\tstays", "tab\tstays"),
        ("\n\nlines\n\n", "lines"),
        ("", ""),
    ],
)
def test_text_is_as_a_terminal_leaves_it(written: str, seen: str) -> None:
    assert tidy(written) == seen


@given(ANY_TEXT)
def test_tidy_text_stays_as_it_is_and_holds_no_control(text: str) -> None:
    once = tidy(text)
    assert tidy(once) == once
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", once)


def test_binary_and_mixed_encodings_become_text() -> None:
    data = bytes(range(256)) * 3
    for encoding, errors in (("latin-1", "strict"), ("utf-8", "surrogateescape")):
        text = tidy(data.decode(encoding, errors))
        assert encodable(text).encode()
        assert "ABC" in text


def test_base64_is_counted() -> None:
    picture = bytes(range(256)) * 4
    assert without_base64(f'"{base64.b64encode(picture).decode()}"') == (
        '"[1,368 characters of base64]"'
    )
    wrapped = base64.encodebytes(picture).decode()
    assert without_base64(f"<{wrapped}>").startswith("<[1,3")


@pytest.mark.parametrize(
    "text", ["x" * 5_000, "ACGT" * 500, "word " * 500, "\n".join(["0f" * 32] * 50), "a/b" * 100]
)
def test_long_text_that_is_no_base64_stays(text: str) -> None:
    assert without_base64(text) == text


def test_a_html_table_becomes_rows_and_bars() -> None:
    markup = """<style>th { color: red }</style><table>
      <tr><th></th><th>name</th><th>n</th></tr>
      <tr><th>0</th><td>a &amp; b</td><td>1</td></tr>
    </table><script>alert("no")</script>"""
    assert html_as_text(markup) == "| name | n\n0 | a & b | 1"


@pytest.mark.parametrize("markup", ["<", "<p", "<script>x", "a < b", "<td>x</td>" * 3, "&lt;b&gt;"])
def test_broken_html_is_no_error(markup: str) -> None:
    html_as_text(markup)


@given(ANY_TEXT, st.integers(0, 250))
def test_a_cut_keeps_within_its_limit_and_counts_what_is_gone(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert size(short) <= limit
    if size(text) <= limit:
        assert short == text
    elif short:
        (gone,) = LEFT_OUT.findall(short)
        head, tail = LEFT_OUT.split(short)[0], LEFT_OUT.split(short)[2]
        clean = encodable(text)
        assert clean.startswith(head)
        assert clean.endswith(tail)
        assert int(gone.replace(",", "")) == size(text) - size(head) - size(tail)
    else:
        assert limit < 40  # there was no room for the count


def test_a_cut_keeps_the_beginning_and_the_end() -> None:
    assert cut("a" * 5_000 + "b" * 5_000, 100) == (
        "a" * 38 + "\n[9,925 bytes left out]\n" + "b" * 37
    )


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"line {n}: {n * 3.14159265358979} of one hundred" for n in range(100_000)),
        "x" * 5 * MUCH,
        "\r".join(f"{n}%" for n in range(700_000)),
        "".join(f"{n}%" + "\b" * len(f"{n}%") for n in range(100_000)),
        "y" * MUCH + "\b\b." * MUCH,
        "\x1b]" * MUCH,
        "\x1b[" * MUCH,
        "<" * MUCH,
        "<script>" * (MUCH // 8),
        f"{'A' * 399} " * (MUCH // 400),
        "\ud800" * MUCH,
        bytes(range(256)).decode("latin-1") * (MUCH // 256),
    ],
    ids=range(12),
)
def test_megabytes_of_anything_are_quick(text: str) -> None:
    begin = time.process_time()
    cut(without_base64(tidy(text)), 2_000)
    html_as_text(text)
    assert time.process_time() - begin < 10  # what is not linear takes minutes
