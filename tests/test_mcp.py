"""MCP tools under the names that agents wrap them in, and their arguments for people."""

from __future__ import annotations

from typing import Any

import pytest

from agy_kernel.acp.updates import tool_call
from agy_kernel.conversation.toolcalls import ToolCall
from agy_kernel.conversation.transcript import (
    Transcript,
    fold,
)
from agy_kernel.display.arguments import readable
from agy_kernel.display.calls import arguments_of, command_of
from agy_kernel.display.headings import summary
from agy_kernel.display.mcp import mcp_tool
from agy_kernel.display.place import Place
from agy_kernel.display.tools import as_text, card
from tests.support.renderers import text_of

PLACE = Place("/w")
MARK = {"is_mcp_tool_call": True}


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        # claude: the title, and what the adapter says of the tool
        ({"title": "mcp__my_notes__read_page"}, "my_notes: read_page"),
        (
            {"title": "Read", "_meta": {"claudeCode": {"toolName": "mcp__notes__read"}}},
            "notes: read",
        ),
        # codex
        ({"title": "Tool: notes/read_page"}, "notes: read_page"),
        ({"title": "mcp.notes.read_page", "_meta": MARK, "kind": "execute"}, "notes: read_page"),
        (
            {"title": "x", "rawInput": {"server": "notes", "tool": "read", "arguments": {"a": 1}}},
            "notes: read",
        ),
        # gemini
        ({"title": "read_page (notes MCP Server)"}, "notes: read_page"),
        ({"title": 'read (my notes MCP Server): {"a": 1}'}, "my notes: read"),
        ({"title": "mcp_notes_read_page"}, "notes: read_page"),
        # fast-agent: nothing but the title
        ({"title": "tiny/add", "kind": "other", "rawInput": {"a": 1, "b": 2}}, "tiny: add"),
        # Antigravity: RC01, its later command line, and its native wrapper
        (
            {
                "title": "pi-bridge_bridge_echo",
                "rawInput": {"arguments": {"text": "x"}},
                "_meta": {"mcp": {"tool": "bridge_echo"}, **MARK},
            },
            "pi-bridge: bridge_echo",
        ),
        ({"title": "notes_read", "rawInput": {"arguments": {"text": "x"}}}, "notes: read"),
        ({"title": "Run mcp_notes_read_page"}, "notes: read_page"),
        (
            {"title": "Run mcp_my_notes_read?", "_meta": {"mcp": {"tool": "read"}}},
            "my_notes: read",
        ),
        ({"title": "t", "_meta": {"mcp": {"server": "notes", "tool": "read"}}}, "notes: read"),
        (
            {"rawInput": {"ServerName": "notes", "ToolName": "read", "Arguments": {"a": 1}}},
            "notes: read",
        ),
    ],
    ids=str,
)
def test_the_server_and_the_tool(frame: dict[str, Any], name: str) -> None:
    transcript = fold(Transcript(), tool_call({"toolCallId": "c", "kind": "other", **frame}))
    assert str(mcp_tool(transcript.tool_calls[0])) == name
    assert f"○ tool {name}" in text_of(card(transcript.tool_calls[0], PLACE))
    assert summary(transcript.tool_calls[0], PLACE).startswith(f"tool · {name}")


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("a", title="src/main.py", kind="edit", raw_input={"path": "src/main.py"}),
        ToolCall("a", title="a/b", kind="read", raw_input={"path": "a/b"}),
        ToolCall("a", title="npm test", kind="execute", raw_input={"command": "npm test"}),
        ToolCall("a", title="run_command", kind="execute", raw_input={"command": "ls"}),
        ToolCall("a", title="Modifying critical configuration file", kind="edit"),
        ToolCall("a", title="write_text_file"),
        ToolCall("a", title="mcp__" + "a__" * 100_000 + " "),
        ToolCall("a", raw_input=5, meta=[]),
        ToolCall("a"),
    ],
    ids=range(9),
)
def test_what_is_no_mcp_tool(call: ToolCall) -> None:
    assert mcp_tool(call) is None


def test_a_command_that_an_mcp_tool_takes_is_not_called_a_command_of_the_shell() -> None:
    call = ToolCall("a", title="mcp__ssh__run", raw_input={"command": "rm -rf /", "host": "far"})
    assert command_of(call) == ""
    assert "command: rm -rf /\nhost: far" in text_of(card(call, PLACE))
    assert "command: rm -rf /\nhost: far" in as_text(call, PLACE)


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ({"arguments": {"a": 1}}, {"a": 1}),
        ({"server": "s", "tool": "t", "arguments": {"a": 1}}, {"a": 1}),
        ({"ServerName": "s", "ToolName": "t", "Arguments": {"a": 1}}, {"a": 1}),
        ({"arguments": {"a": 1}, "other": 2}, {"arguments": {"a": 1}, "other": 2}),
        ({"arguments": "a"}, {"arguments": "a"}),
        ({"tool": "hammer"}, {"tool": "hammer"}),
        (["a"], {}),
    ],
    ids=str,
)
def test_arguments_come_out_of_their_envelope(raw: Any, arguments: dict[str, Any]) -> None:
    assert arguments_of(ToolCall("a", raw_input=raw)) == arguments


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"path": "a b.txt", "limit": 3}, "path: a b.txt\nlimit: 3"),
        ({"on": True, "off": None, "half": 0.5}, "on: true\noff: null\nhalf: 0.5"),
        ({"text": "3", "none": "null"}, 'text: "3"\nnone: "null"'),
        ({"text": "", "spaces": " é "}, 'text: ""\nspaces: " é "'),
        ({"code": "a\n\nhost: evil"}, "code:\n    a\n    \n    host: evil"),
        ({"code": "a\rhost: evil"}, "code:\n    a\n    host: evil"),
        ({"code": "a\n"}, "code:\n    a"),
        ({"a\nb": "c"}, '"a\\nb": c'),
        ({"deep": {"a": [1]}}, '{\n "deep": {\n  "a": [\n   1\n  ]\n }\n}'),
        ({}, ""),
    ],
    ids=str,
)
def test_arguments_for_people(arguments: dict[str, Any], text: str) -> None:
    assert readable(arguments) == text
