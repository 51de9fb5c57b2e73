"""The report and the comparison: made of verdicts alone, whatever the agents have said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.cli import main
from agy_kernel.probes import report
from agy_kernel.probes.compare import compare
from agy_kernel.probes.verdicts import GATES, RC01, Verdicts, load
from tests.support.tapes import answered, opening, prompt, said, write

BUILD = {"name": "an-agent", "version": "1.0"}


def record(verdict: str, gate: str = "", words: str = "seen", **facts: Any) -> dict[str, Any]:
    told = {"verdict": verdict, "gate": gate, "words": words, "question": "Is it so?"}
    return {**told, "facts": facts}


def verdicts(suites: dict[str, Any], **build: Any) -> Verdicts:
    return Verdicts("an-agent --acp", BUILD | build, suites, {"date": "2026-11-30"})


def kept(folder: Path, suites: dict[str, Any], **build: Any) -> Path:
    folder.mkdir(parents=True)
    told = {"format": 1, "agent": "an-agent", "build": BUILD | build, "suites": suites}
    (folder / "verdicts.json").write_text(json.dumps(told | {"about": {}}))
    return folder


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (["pass", "pass"], "pass"),
        (["pass", "fallback"], "fallback"),
        (["fallback", "absent"], "absent"),
        (["absent", "fail", "pass"], "fail"),
        (["pass", "skipped"], "pass"),
        (["skipped"], "skipped"),
    ],
)
def test_a_gate_has_the_worst_verdict_of_its_probes(told: list[str], expected: str) -> None:
    probes = {f"p{n}": record(verdict, "A") for n, verdict in enumerate(told)}
    one = {"one": probes, "other": {"q": record("fail"), "r": record("absent", "B")}}
    assert verdicts(one).gates() == {"A": expected, "B": "absent"}


def test_the_page_has_a_column_for_each_build_and_the_seeds_own() -> None:
    one = verdicts({"cancel": {"as_notification": record("fail", "D")}})
    two = verdicts({"cancel": {"as_notification": record("pass", "D")}}, version="2.0")
    page = report.render([("one", one), ("two", two)])
    assert "<th>an-agent 1.0</th><th>an-agent 2.0</th><th>RC01, as seen by others</th>" in page
    (row,) = (line for line in page.split("<tr>") if line.startswith("<th>D:"))
    assert "✘ fail</td>" in row.split("<td")[1]
    assert "✔ pass</td>" in row.split("<td")[2]
    assert RC01["D"] in row
    assert page.count("not asked") == 2 * (len(GATES) - 1)
    assert '<a href="two/cancel.ipynb">' in page


def test_builds_that_call_themselves_the_same_differ_by_command_and_folder() -> None:
    one = verdicts({"cancel": {"as_notification": record("fail", "D")}})
    other = replace(one, agent="an-agent --fast")
    page = report.render([("an-agent-1.0", one), ("an-agent-1.0-2", other)])
    (head,) = (line for line in page.split("<tr>") if line.startswith("<th>gate"))
    assert [cell.split("<br>")[0] for cell in head.split("<th>")[2:4]] == ["an-agent 1.0"] * 2
    assert "<code>an-agent --acp</code><br>an-agent-1.0</small>" in head
    assert "<code>an-agent --fast</code><br>an-agent-1.0-2</small>" in head


def test_no_word_of_an_agent_is_html_in_the_page() -> None:
    evil = '"><script>alert(1)</script>\x1b[31m'
    probes = {evil: record(evil, "A", evil) | {"question": evil}}
    page = report.render([(evil, verdicts({evil: probes}, name=evil, version=evil))])
    assert "<script" not in page
    assert "\x1b" not in page


def test_what_changed_is_named_with_what_was_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {
        "cancel": {"a": record("pass", words="soon", code=1), "b": record("pass")},
        "gone": {"c": record("absent")},
    }
    after = {"cancel": {"a": record("fail", words="never", code=2), "b": record("pass")}}
    one, two = kept(tmp_path / "one", before), kept(tmp_path / "two", after, version="2.0")
    assert main(["probe", "compare", str(one), str(two)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "--- an-agent 1.0",
        "+++ an-agent 2.0",
        "cancel",
        "  a: pass -> fail",
        "    - soon",
        "    + never",
        "  a: code: 1 -> 2",
        "gone",
        "  c: only in the first",
    ]
    assert main(["probe", "compare", str(one), str(one)]) == 0
    assert capsys.readouterr().out == "No verdict, fact or shape differs.\n"


def test_what_only_one_of_the_tapes_shows_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suites = {"streaming": {"a": record("pass")}}
    one, two = kept(tmp_path / "one", suites), kept(tmp_path / "two", suites)
    end = {"stopReason": "end_turn"}
    usage = said("session/update", sessionId="s1", update={"sessionUpdate": "usage_update"})
    write(one / "streaming.jsonl", [*opening(), prompt(3, "x"), answered(3, end)])
    write(two / "streaming.jsonl", [*opening(), prompt(3, "x"), usage, answered(3, end)])
    assert main(["probe", "compare", str(one), str(two)]) == 1
    out = capsys.readouterr().out
    assert "+ agent: notification session/update usage_update   (line 7)" in out


def test_tapes_on_which_nothing_was_sent_are_passed_over(tmp_path: Path) -> None:
    one, two = kept(tmp_path / "one", {"cancel": {}}), kept(tmp_path / "two", {"cancel": {}})
    for folder in (one, two):
        (folder / "cancel.jsonl").touch()
    assert compare(one, two, pytest.fail) == []


@pytest.mark.parametrize("there", [True, False])
def test_verdicts_that_are_not_there_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], there: bool
) -> None:
    one = kept(tmp_path / "one", {})
    other = tmp_path / "two"
    if there:
        other.mkdir()
    assert main(["probe", "compare", str(one), str(other)]) == 1
    assert "agy-kernel: " in capsys.readouterr().err
    assert load(one).title == "an-agent 1.0"
