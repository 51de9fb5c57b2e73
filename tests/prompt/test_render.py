"""A cell as Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.prompt.cells import Cell, CellOutput
from agy_kernel.prompt.render import cell_text, fenced, one_line
from agy_kernel.secrets import MASK, Masker

NOTHING = Masker({})
HUNTER = Masker({"MY_TOKEN": "hunter2hunter2"})


def test_a_cell_with_all_that_it_can_have() -> None:
    outputs = (
        CellOutput("stdout", "\x1b[31mred\x1b[0m\n"),
        CellOutput("display", "<Figure>", b"png"),
        CellOutput("display", "", b"png"),
        CellOutput("stdout", "\r"),
        CellOutput("result", "42"),
    )
    cell = Cell("a", 3, "plot()\n42", outputs, "Traceback\nZeroDivisionError", 1.25)
    assert cell_text(cell, 2_000, NOTHING) == (
        "Cell [3] (failed after 1.2 s)\n"
        "```python\nplot()\n42\n```\n"
        "stdout:\n```\nred\n```\n"
        "display:\n```\n<Figure>\n(a picture)\n```\n"
        "display:\n```\n(a picture)\n```\n"
        "result:\n```\n42\n```\n"
        "error:\n```\nTraceback\nZeroDivisionError\n```"
    )


@pytest.mark.parametrize(
    ("cell", "is_known", "head"),
    [
        (Cell("a", 3, "x"), False, "Cell [3]"),
        (Cell("a", 3, "x", seconds=0.0), False, "Cell [3] (0.0 s)"),
        (
            Cell("a", 3, "x", seconds=2.0),
            True,
            "Cell [3] (2.0 s, replaces what was sent of it before)",
        ),
        (
            Cell("a", 3, "x", error="e"),
            True,
            "Cell [3] (failed, replaces what was sent of it before)",
        ),
    ],
)
def test_what_is_known_of_its_run_is_said(cell: Cell, is_known: bool, head: str) -> None:
    assert cell_text(cell, 2_000, NOTHING, is_known).splitlines()[0] == head


def test_every_output_has_its_limit_and_an_error_twice_as_much() -> None:
    outputs = (CellOutput("stdout", "a" * 900), CellOutput("result", "b" * 900))
    text = cell_text(Cell("a", 1, "x", outputs, "c" * 900), 300, NOTHING)
    assert text.count("bytes left out") == 3
    counts = [text.count(letter) for letter in ("aaaa", "bbbb", "cccc")]
    assert [round(n * 4, -2) for n in counts] == [300, 300, 600]


@pytest.mark.parametrize("place", range(0, 320, 3))
def test_no_part_of_a_secret_is_left_where_a_text_is_cut(place: int) -> None:
    text = "-" * place + "hunter2hunter2" + "-" * (400 - place)
    for cell in (
        Cell("a", 1, "x", (CellOutput("stdout", text),)),
        Cell("a", 1, "x", (), text),
        Cell("a", 1, text),
    ):
        shown = cell_text(cell, 100, HUNTER).replace(MASK, "")
        assert "hun" not in shown
        assert "ter2" not in shown
    assert "hun" not in one_line(Cell("a", 1, text), HUNTER)


def test_a_secret_beside_base64_is_not_taken_apart() -> None:
    text = "aB3" * 200 + "hunter2hunter2"
    assert "hunter" not in cell_text(Cell("a", 1, text), 100, HUNTER)
    assert "hunter" not in cell_text(Cell("a", 1, "x", (CellOutput("stdout", text),)), 999, HUNTER)


def test_a_secret_that_is_coloured_is_found() -> None:
    output = CellOutput("stdout", "hunter2\x1b[31mhunter2\x1b[0m")
    assert MASK in cell_text(Cell("a", 1, "x", (output,)), 100, HUNTER)


@given(st.text(alphabet="`\n ax", max_size=40))
def test_a_fence_cannot_be_closed_from_within(text: str) -> None:
    fence = fenced(text, "python").split("python")[0]
    assert fence not in text
    assert fenced(text) == f"{fence}\n{text}\n{fence}"


def test_of_an_older_cell_there_is_a_line() -> None:
    assert one_line(Cell("a", 3, "\n\nx = 1\ny = 2"), NOTHING) == "[3] x = 1"
    assert one_line(Cell("a", 3, "x" * 900), NOTHING) == f"[3] {'x' * 100}"
