"""Tools of MCP servers: each agent wraps their names in its own way.

Seen are ``mcp__server__tool`` (claude), ``Tool: server/tool`` and ``mcp.server.tool`` (codex),
``tool (server MCP Server)`` and ``mcp_server_tool`` (gemini), ``server/tool`` (fast-agent), and of
Antigravity ``server_tool`` (RC01; the clean name is in ``_meta.mcp.tool``), ``Run mcp_server_tool``
(``agy acp``) and its tool ``call_mcp_tool`` (antigravity.md; seed, phase 2, 3).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..conversation.toolcalls import ToolCall

NAMES = (
    re.compile(r"mcp__(?P<server>.+?)__(?P<tool>\S+)"),
    re.compile(r"Tool: (?P<server>[^/\s]+)/(?P<tool>\S+)"),
    re.compile(r"mcp\.(?P<server>[^.\s]+)\.(?P<tool>\S+)"),
    re.compile(r"(?P<tool>\S+) \((?P<server>[^()]+) MCP Server\)(?::.*)?", re.DOTALL),
    re.compile(r"(?:Run )?mcp_(?P<server>[^_\s]+)_(?P<tool>\S+)"),
)
MARKED_NAMES = (
    re.compile(r"(?P<server>[\w-]+)[/.:](?P<tool>[\w-]+)"),
    re.compile(r"(?P<server>[^_\s]+)_(?P<tool>\S+)"),
)
BARE_NAME = re.compile(r"(?P<server>[\w-]+)/(?P<tool>[\w-]+)")
LONGEST_NAME = 500
SERVER_KEYS = ("server", "ServerName", "serverName", "server_name")
TOOL_KEYS = ("tool", "ToolName", "toolName", "tool_name")
ARGUMENT_KEYS = ("arguments", "Arguments")

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool and its server; the server may be unknown."""

    server: str
    tool: str

    def __str__(self) -> str:
        return f"{self.server}: {self.tool}" if self.server else self.tool


def mcp_tool(call: ToolCall) -> McpTool | None:
    """The MCP tool that is called, if one is."""
    raw = call.raw_input if isinstance(call.raw_input, Mapping) else {}
    meta = call.meta if isinstance(call.meta, Mapping) else {}
    told = _mapping(meta, "mcp")
    if found := _named(raw) if _envelope(raw) else None:
        return found
    if tool := _first(told, TOOL_KEYS):
        server = _first(told, SERVER_KEYS) or _server_in(call.title, tool)
        return McpTool(server, tool)
    names = [_first(_mapping(meta, "claudeCode"), TOOL_KEYS), _first(meta, TOOL_KEYS), call.title]
    is_marked = bool(told) or meta.get("is_mcp_tool_call") is True or set(raw) == {"arguments"}
    patterns = (*NAMES, *MARKED_NAMES) if is_marked else NAMES
    if call.kind == "other" and not call.paths and raw:
        patterns = (*patterns, BARE_NAME)
    return next((found for name in names if (found := _matched(name, patterns))), None)


def unwrapped(raw: Raw) -> Raw:
    """The arguments of a tool without the envelope that an agent puts around them."""
    inner = _envelope(raw)
    return raw if inner is None else inner


def _envelope(raw: Raw) -> Raw | None:
    """The arguments in an envelope, which holds nothing else but the names."""
    key = next((key for key in ARGUMENT_KEYS if isinstance(raw.get(key), Mapping)), None)
    is_envelope = key is not None and not set(raw) - {*SERVER_KEYS, *TOOL_KEYS, key}
    inner: Raw | None = raw[key] if key is not None and is_envelope else None
    return inner


def _named(raw: Raw) -> McpTool | None:
    server, tool = _first(raw, SERVER_KEYS), _first(raw, TOOL_KEYS)
    return McpTool(server, tool) if server and tool else None


def _server_in(title: str, tool: str) -> str:
    """What stands before the tool's name in a title, without what agents put around it."""
    before, found, _ = title.rpartition(tool)
    return re.sub(r"^(?:Run )?(?:mcp_+|mcp\.)?|[_/.: ]+$", "", before) if found else ""


def _matched(name: str, patterns: tuple[re.Pattern[str], ...]) -> McpTool | None:
    if len(name) > LONGEST_NAME:
        return None
    match = next((m for p in patterns if (m := p.fullmatch(name.strip()))), None)
    return McpTool(match["server"], match["tool"]) if match else None


def _mapping(raw: Raw, key: str) -> Raw:
    value = raw.get(key)
    return value if isinstance(value, Mapping) else {}


def _first(raw: Raw, keys: tuple[str, ...]) -> str:
    return next((v for key in keys if isinstance(v := raw.get(key), str) and v), "")
