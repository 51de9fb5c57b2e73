"""What the agent says in a run: words of letters that nothing else in a notebook is made of.

So what a cell shows can be compared with what came over the wire, letter by letter, whatever stands
between: footers, cards, notices.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.notebook import Cell

LETTERS = "αβγδεζηθικλμνξοπρστυφχψω"
PARAGRAPH = 9  # words


def words(first: int, count: int) -> str:
    """A text of words that are all different."""
    numbered = range(first, first + count)
    return "".join(f"{_word(n)}{_gap(n)}" for n in numbered)


def letters(text: str) -> str:
    """What an agent has said in a text."""
    return "".join(letter for letter in text if letter in LETTERS)


def shown(cell: Cell) -> str:
    """What a cell shows of what its agent has said."""
    return letters(cell.text)


def common(one: str, other: str) -> int:
    """How many letters two texts have in common, from the beginning."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _word(number: int) -> str:
    return "".join(_digits(number))


def _digits(number: int) -> Iterator[str]:
    # The last one is of letters of its own, so that words are told apart without their gaps.
    *ends, base = LETTERS[-4:], len(LETTERS) - 4
    yield ends[0][number % 4]
    number //= 4
    for _ in range(4):
        yield LETTERS[number % base]
        number //= base


def _gap(number: int) -> str:
    return " " if number % PARAGRAPH else "\n\n"
