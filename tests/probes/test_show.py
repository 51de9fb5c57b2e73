"""What a result looks like: hostile words are text, private ones left out, chunks counted."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agy_kernel.acp.privacy import Privacy
from agy_kernel.acp.tape import Direction
from agy_kernel.probes.lines import MOST_LINES
from agy_kernel.probes.probe import Finding, Verdict, probe
from agy_kernel.probes.recording import Evidence
from agy_kernel.probes.result import Result
from agy_kernel.probes.show import COLOURS, MARKS, Show
from agy_kernel.probes.subject import Subject
from tests.support.tapes import chunk

SHOW = Show("/tmp/agy-probe-x", Privacy({"MY_TOKEN": "hunter2hunter2"}, "/home/mary", "mary"))


@probe("Is <b>it</b> so?", sends="a frame", looks_at="its answer", gate="D")
async def asked(_: Subject, *, patience: float = 2.5) -> Finding:
    raise NotImplementedError


def result(finding: Finding, *frames: Any) -> Result:
    evidence = [Evidence(0.1 * n, "a2c", frame) for n, frame in enumerate(frames)]
    return Result(asked, finding, {"patience": 2.5}, tuple(evidence))


@pytest.mark.parametrize("verdict", list(MARKS))
def test_a_verdict_comes_first_with_all_that_decided(verdict: Verdict) -> None:
    shown = SHOW.result(result(Finding(verdict, "it was seen"), {"method": "x"}))
    assert shown["text/plain"].splitlines() == [
        f"{verdict}: Is <b>it</b> so? (gate D)",
        "it was seen",
        "  sends: a frame",
        "  looks at: its answer",
        "  thresholds: patience = 2.5",
        "     0.000 ← x",
    ]
    html = shown["text/markdown"]
    assert f"{MARKS[verdict]} {verdict}</b>" in html
    assert COLOURS[verdict] in html
    assert "\n\n" not in html
    assert "Is &lt;b&gt;it&lt;/b&gt; so?" in html


def test_what_an_agent_says_is_text_and_nothing_else() -> None:
    evil = "<img src=x onerror=alert(1)>\x1b[31m$x$ ![a](https://b/c.png)\u202e"
    shown = SHOW.result(result(Finding("fail", evil), {"method": evil}, evil))
    assert "<img" not in shown["text/markdown"]
    assert "&lt;img" in shown["text/markdown"]
    for text in shown.values():
        assert not {"\x1b", "\u202e"} & set(text)
    table = SHOW.table([result(Finding("fail", evil))])
    assert "<img" not in table["text/markdown"]
    assert "\x1b" not in table["text/plain"]


def test_what_is_private_is_left_out() -> None:
    frame = {"params": {"cwd": "/tmp/agy-probe-x/a", "token": "t0ps3cret", "path": "/home/mary/b"}}
    words = "hunter2hunter2 in /tmp/agy-probe-x, of /home/mary"
    finding = SHOW.settled(Finding("pass", words, {"where": [words]}))
    assert finding.facts == {"where": [finding.words]}
    shown = SHOW.result(result(finding, frame, "said /home/mary"))
    for text in shown.values():
        assert "hunter2" not in text
        assert "t0ps3cret" not in text
        assert not re.search(r"\bmary\b", text)
        assert "agy-probe-x" not in text
    assert "in <folder>, of <home>" in shown["text/plain"]
    assert '"cwd": "<folder>/a"' in shown["text/plain"]


def test_a_run_of_chunks_is_its_first_its_last_and_a_number() -> None:
    pieces = [chunk(f"piece {n:03}")["msg"] for n in range(100)]
    lines = SHOW.evidence(result(Finding("pass", ""), {"id": 1}, *pieces, {"id": 2}).evidence)
    assert len(lines) == 5
    assert "piece 000" in lines[1]
    assert lines[2].strip() == "… 98 more such chunks, 882 letters"
    assert "piece 099" in lines[3]


def test_long_evidence_and_long_frames_are_cut_with_their_numbers() -> None:
    frames = [{"id": n, "method": "m"} for n in range(1_000)]
    lines = SHOW.evidence(result(Finding("pass", ""), *frames).evidence)
    assert len(lines) == MOST_LINES + 1
    assert lines[MOST_LINES // 2].strip() == "… 960 more lines: all are on the tape"
    (line,) = SHOW.evidence(result(Finding("pass", ""), {"text": "x" * 5_000}).evidence)
    assert line.endswith("… (5,012 letters)")
    assert len(line) < 300


SESSION = "c6d4be3e-d224-4e8a-aa0f-776e1e870356"


@pytest.mark.parametrize(
    ("direction", "message", "line"),
    [
        ("c2a", {"id": 1, "method": "initialize", "params": {"a": 1}}, '→ initialize #1 {"a": 1}'),
        ("a2c", {"id": "x", "result": {"b": 2}}, '← #"x" result {"b": 2}'),
        ("a2c", {"id": 1, "error": {"code": 3}}, '← #1 error {"code": 3}'),
        ("c2a", {"method": "m", "params": {"sessionId": SESSION}}, "→ m {} in c6d4be3e"),
        (
            "a2c",
            {"method": "session/update", "params": {"sessionId": SESSION, "update": {"u": 1}}},
            '← session/update {"u": 1} in c6d4be3e',
        ),
        ("stderr", "a line\nof two", "! a line⏎of two"),
        ("note", {"memory": 5}, '# {"memory": 5}'),
        ("a2c", {"method": 42, "params": [1]}, "← 42 [1]"),
        ("a2c", [1, None], "← [1, null]"),
        ("a2c", {"jsonrpc": "2.0"}, '← {"jsonrpc": "2.0"}'),
    ],
)
def test_a_frame_is_a_line_with_what_matters_first(
    direction: Direction, message: Any, line: str
) -> None:
    assert SHOW.evidence([Evidence(1.5, direction, message)]) == [f"     1.500 {line}"]
