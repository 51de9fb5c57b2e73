"""A difference that is planted on a tape is found twice: by ``tape diff``, and by a verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agy_kernel.probes.probe import Finding, probes_of
from agy_kernel.probes.suites import find_suite
from agy_kernel.tapes.diff import diff
from tests.probes.conftest import Put
from tools.tapes import EVIDENCE

Edit = Callable[[dict[str, Any]], dict[str, Any] | None]
"""What becomes of a frame; None where it is taken out."""


def results(frame: dict[str, Any], field: str) -> dict[str, Any]:
    """A frame's result, where it has a field; an empty object else."""
    result = frame.get("result")
    return result if isinstance(result, dict) and field in result else {}


def no_loading(frame: dict[str, Any]) -> dict[str, Any]:
    results(frame, "agentCapabilities").get("agentCapabilities", {}).pop("loadSession", None)
    return frame


def no_commands(frame: dict[str, Any]) -> dict[str, Any] | None:
    return None if "available_commands_update" in json.dumps(frame) else frame


def with_tokens(frame: dict[str, Any]) -> dict[str, Any]:
    if result := results(frame, "stopReason"):
        result["usage"] = {"totalTokens": 40, "inputTokens": 30, "outputTokens": 10}
    return frame


def ends_as_if_nothing_had_happened(frame: dict[str, Any]) -> dict[str, Any]:
    if result := results(frame, "stopReason"):
        result["stopReason"] = "end_turn"
    return frame


def another_error(frame: dict[str, Any]) -> dict[str, Any]:
    if isinstance(error := frame.get("error"), dict):
        frame["error"] = {"code": -32603, "message": error["message"]}
    return frame


def no_diffs(frame: dict[str, Any]) -> dict[str, Any]:
    told = json.dumps(frame)
    return dict(json.loads(told.replace('"type": "diff"', '"type": "content"')))


def found(put: Put, tape: Path, suite: str, name: str) -> Finding:
    """What a probe finds on a tape; those before it are put first, as they were."""
    prober = put(suite, replay=tape)
    for probe in probes_of(find_suite(suite)):
        prober.ask(probe)
        if probe.name == name:
            break
    return prober.results[-1].finding


@pytest.mark.parametrize(
    ("suite", "probe", "edit", "before", "after", "told"),
    [
        ("session", "commands", no_commands, "pass", "absent", "available_commands_update"),
        ("streaming", "usage", with_tokens, "absent", "pass", "answer session/prompt .usage"),
        (
            "cancel",
            "as_notification",
            ends_as_if_nothing_had_happened,
            "pass",
            "fallback",
            "answer session/prompt .stopReason = cancelled",
        ),
        ("errors", "no_folder", another_error, "pass", "fallback", "error -32603 to session/new"),
        ("tools", "edit", no_diffs, "pass", "fallback", "type = diff"),
    ],
)
def test_a_planted_difference_is_found_by_a_verdict_and_by_the_diff(
    put: Put,
    tmp_path: Path,
    suite: str,
    probe: str,
    edit: Edit,
    before: str,
    after: str,
    told: str,
) -> None:
    tape = EVIDENCE / "simulator" / f"{suite}.jsonl"
    planted = planted_on(tape, tmp_path / tape.name, edit)
    assert found(put, tape, suite, probe).verdict == before
    assert found(put, planted, suite, probe).verdict == after
    assert told in "\n".join(diff(tape, planted, pytest.fail))


def test_a_capability_that_is_gone_is_a_fact_that_has_changed(put: Put, tmp_path: Path) -> None:
    tape = EVIDENCE / "simulator" / "handshake.jsonl"
    planted = planted_on(tape, tmp_path / tape.name, no_loading)
    one, other = (found(put, each, "handshake", "minimal").facts for each in (tape, planted))
    assert set(one["capabilities"]) - set(other["capabilities"]) == {"loadSession"}
    (line,) = diff(tape, planted, pytest.fail)[2:]
    assert line.startswith("- agent: capability .agentCapabilities.loadSession = True")


def planted_on(tape: Path, copy: Path, edit: Edit) -> Path:
    """A copy of a tape on which every frame of the agent's was edited."""
    lines = []
    for text in tape.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        if line.get("dir") == "a2c":
            line["msg"] = edit(line["msg"])
        if line.get("msg", ...) is not None:
            lines.append(json.dumps(line))
    copy.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return copy
