"""The user's MCP servers as ``mcpServers``: those that the agent can reach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..abilities import Capabilities
from ..mcp import McpServer


def as_params(servers: Mapping[str, McpServer], can: Capabilities) -> list[dict[str, Any]]:
    """The servers as the wire has them; a stdio server has no type (acp-v1.md, 1.4)."""
    return [_param(name, server) for name, server in servers.items() if _fits(server, can)]


def dropped(servers: Mapping[str, McpServer], can: Capabilities) -> tuple[str, ...]:
    """A sentence for each server that the agent cannot reach."""
    return tuple(
        f"The MCP server {name!r} was not given to the agent: it does not take servers of type "
        f"{server.type}."
        for name, server in servers.items()
        if not _fits(server, can)
    )


def _fits(server: McpServer, can: Capabilities) -> bool:
    return {"http": can.mcp_http, "sse": can.mcp_sse}.get(server.type, True)


def _param(name: str, server: McpServer) -> dict[str, Any]:
    if server.type == "stdio":
        return {
            "name": name,
            "command": server.command,
            "args": list(server.args),
            "env": _pairs(server.env),
        }
    return {
        "type": server.type,
        "name": name,
        "url": server.url,
        "headers": _pairs(server.headers),
    }


def _pairs(values: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
