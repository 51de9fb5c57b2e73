"""A cell knows what it was, and whether it is private."""

from dataclasses import replace

import pytest

from agy_kernel.prompt.cells import Cell, CellOutput, fingerprint, words

CELL = Cell("a", 3, "x = 1", (CellOutput("stdout", "one"), CellOutput("display", "", b"png")))


@pytest.mark.parametrize(
    "source",
    [
        "# agy: private\nx = 1",
        "#agy:private",
        "\n\n  # AGY: Private stuff\nx",
        "%%py\n# agy: private\nx",
        "%%time\n\n# agy: private",
    ],
)
def test_a_cell_is_private_that_says_so_at_its_beginning(source: str) -> None:
    assert Cell("a", 1, source).is_private


@pytest.mark.parametrize(
    "source", ["x = 1\n# agy: private", "# agy: privateer", "'# agy: private'"]
)
def test_and_not_elsewhere(source: str) -> None:
    assert not Cell("a", 1, source).is_private


def test_a_cell_is_private_by_its_tag() -> None:
    assert Cell("a", 1, "x", tags=("other", "agy-private")).is_private


@pytest.mark.parametrize(
    "change",
    [
        {"source": "x = 2"},
        {"error": "ValueError"},
        {"outputs": ()},
        {"outputs": CELL.outputs[::-1]},
        {"outputs": (CellOutput("stderr", "one"), CELL.outputs[1])},
        {"outputs": (CELL.outputs[0], CellOutput("display", "", b"other"))},
    ],
)
def test_a_fingerprint_changes_with_what_is_told(change: dict[str, object]) -> None:
    assert replace(CELL, **change).fingerprint != CELL.fingerprint  # type: ignore[arg-type]


def test_and_with_nothing_else() -> None:
    again = replace(CELL, count=9, seconds=7.0, tags=("x",))
    assert again.fingerprint == CELL.fingerprint


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    assert fingerprint("x = 1", "", b"png") == "a113fe93e6bd9f499b1db160"


def test_parts_do_not_run_together() -> None:
    assert fingerprint("ab", "c") != fingerprint("a", "bc")


def test_words_come_in_order_and_once() -> None:
    assert words("df2 = df[ñame] + df2 * 3e5 # été") == ["df2", "df", "ñame", "e5", "été"]
