"""What an agent says first: each verdict follows what it does, and a tape confirms it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agy_kernel.probes.suites import handshake
from tests.agents.scripted import Step, answer, expect, fail, hello, opening, raw, send
from tests.probes.answering import answering
from tests.probes.asked import found, script, simulator, verdicts

REFUSES: list[Step] = [expect("initialize"), fail("initialize", -32602, "not you")]


def says(version: Any) -> list[Step]:
    return [expect("initialize"), answer("initialize", {"protocolVersion": version})]


def test_the_simulator_passes(tmp_path: Path) -> None:
    told = found("handshake", simulator(tmp_path), tmp_path)
    assert set(verdicts(told).values()) == {"pass"}


def test_who_refuses_initialize_neither_starts_nor_speaks(tmp_path: Path) -> None:
    told = found("handshake", script(REFUSES), tmp_path)
    assert verdicts(told) == {
        "minimal": "fail",
        "newer_version": "fallback",
        "only_frames": "skipped",
        "start_time": "fail",
        "memory_taken": "skipped",
        "sign_in_methods": "skipped",
    }
    refusal = "initialize was answered by error not you (-32602)"
    assert told["minimal"].words == told["start_time"].words == refusal
    assert told["newer_version"].words == (
        "it refuses instead of offering its own: error not you (-32602)"
    )


@pytest.mark.parametrize(
    ("version", "minimal", "newer"),
    [(1, "pass", "pass"), (2, "fail", "pass"), (999, "fail", "fail")],
)
def test_versions(tmp_path: Path, version: int, minimal: str, newer: str) -> None:
    told = found("handshake", script(says(version)), tmp_path, "minimal", "newer_version")
    assert verdicts(told) == {"minimal": minimal, "newer_version": newer}


@pytest.mark.parametrize(
    ("line", "first"),
    [
        (raw(b"Loading ...\n"), "'Loading ...'"),
        (send({"level": "info", "message": "up"}), '\'{"level": "info", "message": "up"}\''),
        (send({"id": 7}), "'{\"id\": 7}'"),
    ],
)
def test_what_is_no_frame_is_told(tmp_path: Path, line: Step, first: str) -> None:
    told = found("handshake", script([line], hello()), tmp_path, "only_frames")["only_frames"]
    assert (told.verdict, told.words) == ("fallback", f"1 other lines, the first one: {first}")


def test_notifications_and_batches_are_frames(tmp_path: Path) -> None:
    news = {"jsonrpc": "2.0", "method": "_news", "params": {}}
    agent = script([send(news, [news, news])], hello())
    assert found("handshake", agent, tmp_path, "only_frames")["only_frames"].verdict == "pass"


def test_it_may_take_too_much_memory(tmp_path: Path) -> None:
    agent = script(opening())
    told = found("handshake", agent, tmp_path, "memory_taken", memory_mb=1.0)["memory_taken"]
    assert told.verdict == "fail"


def test_memory_that_cannot_be_read_is_no_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "memory", lambda _: 0)
    told = found("handshake", answering({}), tmp_path, "memory_taken")["memory_taken"]
    assert (told.verdict, told.words) == ("skipped", "the memory of its process cannot be read")
