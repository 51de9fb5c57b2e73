"""Tool calls, as frames tell of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agy_kernel.display.mcp import McpTool
from agy_kernel.probes.calls import PERMISSION, calls_of
from agy_kernel.probes.recording import Evidence


def said(by: str, /, session: str = "s1", **fields: Any) -> Evidence:
    fields = {"toolCallId": "c1", **fields}
    if by == PERMISSION:
        params = {"sessionId": session, "toolCall": fields, "options": [{"optionId": "yes"}, 7]}
        message = {"id": 1, "method": PERMISSION, "params": params}
    else:
        update = {"sessionUpdate": by, **fields}
        message = {
            "method": "session/update",
            "params": {"sessionId": session, "update": update},
        }
    return Evidence(0.0, "a2c", message)


def test_all_that_was_said_of_a_call_is_merged_in_order() -> None:
    frames = [
        said("tool_call", kind="edit", status="pending", title="Write", rawInput={"a": 1}),
        said("tool_call", session="s2", kind="read"),
        said(PERMISSION, title="Write?", status="pending", rawInput=None),
        said("tool_call_update", status="in_progress"),
        said("tool_call_update", status="in_progress"),
        said("tool_call_update", status="completed"),
    ]
    (call,) = calls_of(frames, "s1").values()
    assert (call.kind, call.title, call.status) == ("edit", "Write?", "completed")
    assert call.statuses == ["pending", "in_progress", "completed"]
    assert call.said_by == ["tool_call", PERMISSION, *["tool_call_update"] * 3]
    assert call.fields["rawInput"] == {"a": 1}
    assert call.options == [{"optionId": "yes"}]
    assert call.was_asked


def test_frames_that_make_no_sense_are_no_calls() -> None:
    frames = [
        Evidence(0.0, "a2c", "no JSON"),
        Evidence(0.0, "a2c", {"method": "session/update", "params": [1]}),
        Evidence(0.0, "c2a", said("tool_call").message),
        said("agent_message_chunk"),
    ]
    assert calls_of(frames, "s1") == {}
    (call,) = calls_of([said("tool_call", toolCallId=7, kind=8, content="x")], "s1").values()
    assert (call.kind, call.content, call.files, call.command, call.mcp) == ("", [], (), "", None)


def test_codex_names_the_tool_when_it_announces_it_and_not_when_it_asks() -> None:
    frames = [
        said(
            "tool_call",
            title="Tool: probe/echo",
            rawInput={"server": "probe", "tool": "echo", "arguments": {"text": "x"}},
        ),
        said(PERMISSION, title="Approve MCP tool call", rawInput={"server_name": "probe"}),
    ]
    assert calls_of(frames, "s1")["c1"].mcp == McpTool("probe", "echo")


@pytest.mark.parametrize(
    ("names", "is_only"),
    [
        (["a.txt"], True),
        (["/w/a.txt"], True),
        (["/w/x/../a.txt", "a.txt"], True),
        (["a.txt", "b.txt"], False),
        (["../a.txt"], False),
        ([], False),
    ],
)
def test_whether_a_call_touches_one_file_alone(names: list[str], is_only: bool) -> None:
    frame = said("tool_call", kind="edit", locations=[{"path": name} for name in names])
    call = calls_of([frame], "s1")["c1"]
    assert call.is_only("edit", Path("/w/a.txt")) is is_only
    assert not call.is_only("read", Path("/w/a.txt"))
