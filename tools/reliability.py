"""Run the tests that stand for public reports, and write what came of it into a page.

The reports are in tests/reports.toml; a test names the rows that it stands for with
``@pytest.mark.report``. Only the part of docs/reliability.md between the two marks is written.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- public reports -->", "<!-- end of public reports -->"
HEAD = (
    "| row | public report | what goes wrong there | tests here | verdict |\n|--:|:--|:--|:--|:--|"
)
HOLDS, NOT_YET = "holds", "not yet"


@dataclass(frozen=True, slots=True)
class Report:
    """A row of tests/reports.toml; ``note`` says what the tests do not."""

    row: int
    area: str
    source: str
    symptom: str
    note: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Test:
    """A test function; ``file`` is relative to the repository."""

    file: str
    name: str

    @property
    def node(self) -> str:
        """What pytest calls it."""
        return f"{self.file}::{self.name}"


def reports() -> list[Report]:
    """The reports, in the order of their rows."""
    told = tomllib.loads((ROOT / "tests" / "reports.toml").read_text("utf-8"))["report"]
    return sorted((Report(**fields) for fields in told), key=lambda report: report.row)


def marked_tests() -> dict[int, list[Test]]:
    """The tests that are marked, by row; read from their source, which takes no time."""
    found: dict[int, list[Test]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        if "node_modules" not in path.parts:
            for name, row in _marks(ast.parse(path.read_text("utf-8"))):
                found[row].append(Test(path.relative_to(ROOT).as_posix(), name))
    return found


def _marks(module: ast.Module) -> Iterator[tuple[str, int]]:
    for function in module.body:
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in function.decorator_list:
                if ast.unparse(decorator).startswith("pytest.mark.report("):
                    assert isinstance(decorator, ast.Call)
                    yield from ((function.name, ast.literal_eval(arg)) for arg in decorator.args)


class _Outcomes:
    """A plugin for pytest: how each test ended, whatever its parameters; the worst counts."""

    def __init__(self) -> None:
        self._all: dict[str, set[str]] = defaultdict(set)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._all[report.nodeid.partition("[")[0]].add(report.outcome)

    def of(self, tests: Sequence[Test]) -> str:
        """What the tests of a row say together."""
        outcomes = {outcome for test in tests for outcome in self._all[test.node] or {"no outcome"}}
        return HOLDS if outcomes == {"passed"} else ", ".join(sorted(outcomes - {"passed"}))


def table(tests: Mapping[int, Sequence[Test]], verdicts: Mapping[int, str]) -> str:
    """The table, as Markdown.

    Args:
        tests: by row.
        verdicts: by row.
    """
    return "\n".join([HEAD, *(_line(r, tests.get(r.row, ()), verdicts) for r in reports())])


def _line(report: Report, tests: Sequence[Test], verdicts: Mapping[int, str]) -> str:
    links = "<br>".join(f"[`{test.name}`](../{test.file})" for test in sorted(tests))
    verdict = verdicts.get(report.row, NOT_YET)
    if report.note:
        verdict += f"; {report.note}"
    cells = (report.row, report.source, report.symptom, links, verdict)
    return f"| {' | '.join(map(str, cells))} |"


def section(page: str) -> str:
    """The part of the page between the marks."""
    return page.partition(BEGIN)[2].partition(END)[0].strip()


def main() -> int:
    """Run the tests and write the section; the exit status is pytest's."""
    tests, outcomes = marked_tests(), _Outcomes()
    nodes = sorted({test.node for some in tests.values() for test in some})
    status = pytest.main(["-q", "-p", "no:cacheprovider", *nodes], plugins=[outcomes])
    verdicts = {row: outcomes.of(some) for row, some in tests.items()}
    page = PAGE.read_text("utf-8")
    made = f"{BEGIN}\n\n{table(tests, verdicts)}\n\n{END}"
    PAGE.write_text(page.replace(f"{BEGIN}{page.partition(BEGIN)[2].partition(END)[0]}{END}", made))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
