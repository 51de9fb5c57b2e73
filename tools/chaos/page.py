"""The part of docs/reliability.md that says what the runs came to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from .faults import FAULTS
from .run import Tally

PAGE = Path(__file__).parent.parent.parent / "docs" / "reliability.md"
BEGIN, END = "<!-- chaos -->", "<!-- end of chaos -->"


def table(tally: Tally) -> str:
    """What it came to, as Markdown: first what held, then how often each fault was met."""
    held = [
        ("runs", tally.seeds),
        ("faults", tally.faults.total()),
        ("turns", tally.turns),
        ("hangs", tally.hangs),
        ("orphans", tally.orphans),
        ("letters received", f"{tally.letters:,}"),
        ("letters lost", tally.lost),
        ("questions", tally.questions),
        ("questions not answered exactly once", tally.replies_amiss),
        ("Stop, median and longest (s)", f"{median(tally.stops):.2f}, {max(tally.stops):.2f}"),
    ]
    faults = [(FAULTS[name].what, count) for name, count in sorted(tally.faults.items())]
    return "\n\n".join((_lines("what", "how many", held), _lines("fault", "times", faults)))


def section(page: str) -> str:
    """The part of the page between the marks."""
    return page.partition(BEGIN)[2].partition(END)[0].strip()


def write(tally: Tally) -> None:
    """Put the table where it belongs."""
    page = PAGE.read_text("utf-8")
    before, _, after = page.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(tally)}\n\n{END}{after.partition(END)[2]}")


def _lines(left: str, right: str, rows: Sequence[tuple[str, object]]) -> str:
    return "\n".join([f"| {left} | {right} |", "|:--|--:|", *(f"| {a} | {b} |" for a, b in rows)])
