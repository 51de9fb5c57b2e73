"""Figures, and how they are printed."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

RUNS = 5
HEADS = ("what", "measured", "goal", "floor in the same run")


@dataclass
class Figure:
    """A line of the table."""

    what: str
    ours: str
    goal: str = ""
    floor: str = ""


def head() -> str:
    """The head of a table, as Markdown."""
    return f"| {' | '.join(HEADS)} |\n|{'|'.join(':--' for _ in HEADS)}|"


def line(figure: Figure) -> str:
    """A line of a table."""
    return f"| {figure.what} | {figure.ours} | {figure.goal} | {figure.floor} |"


def median(measure: Callable[[], float], runs: int = RUNS) -> float:
    """The median of a few runs."""
    return statistics.median(measure() for _ in range(runs))


def medians(
    ours: Callable[[], float], floor: Callable[[], float], runs: int = RUNS
) -> tuple[float, float]:
    """The medians of two things that are measured in turn, so that both meet the same load."""
    pairs = [(ours(), floor()) for _ in range(runs)]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


def ms(seconds: float) -> str:
    """Seconds as milliseconds."""
    return f"{seconds * 1000:.1f} ms"
