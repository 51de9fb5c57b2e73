"""docs/reliability.md says what the tests say now, and no report of these areas goes untested."""

from __future__ import annotations

import re

from tools.reliability import HEAD, HOLDS, NOT_YET, PAGE, marked_tests, reports, section

TESTED_AREAS = {
    *("framing", "streaming", "permission", "diff", "images", "widgets", "performance"),
    *("security", "install", "session", "cancel", "auth"),
}


def told_in_the_page() -> dict[int, tuple[str, str, set[tuple[str, str]], str]]:
    """Row, source, symptom, tests (file and name) and verdict of each line."""
    head, _, body = section(PAGE.read_text("utf-8")).partition(HEAD)
    assert not head.strip()
    told = {}
    for line in body.strip().splitlines():
        row, source, symptom, links, verdict = line.strip("| ").split(" | ")
        tests = set(re.findall(r"\[`(\w+)`\]\(\.\./([\w/.]+)\)", links))
        told[int(row)] = source, symptom, {(file, name) for name, file in tests}, verdict
    return told


def test_the_page_lists_every_report_with_the_tests_that_stand_for_it_now() -> None:
    tests = marked_tests()
    wanted = {
        report.row: (
            report.source,
            report.symptom,
            {(test.file, test.name) for test in tests.get(report.row, ())},
        )
        for report in reports()
    }
    assert {row: told[:3] for row, told in told_in_the_page().items()} == wanted, "make reliability"


def test_every_report_of_these_areas_has_a_test_and_it_holds() -> None:
    told = told_in_the_page()
    for report in reports():
        if report.area in TESTED_AREAS:
            assert told[report.row][2], f"report {report.row} has no test"
        verdict = f"{HOLDS if told[report.row][2] else NOT_YET}; {report.note}".removesuffix("; ")
        assert told[report.row][3] == verdict


def test_no_test_stands_for_a_report_that_is_not_listed() -> None:
    assert set(marked_tests()) <= {report.row for report in reports()}
