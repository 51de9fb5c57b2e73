"""A bridge, which parity is asked with: a server of ours with a tool for the agent to call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from ..mcp import McpServer
from .loopback import HEADER, TOOL, HttpServer, echoed


class Bridge(Protocol):
    """A server of ours with one tool that takes a text; the engine is to call it.

    Args:
        name: the server's.
        tool: the tool's.
    """

    name: str
    tool: str

    @property
    def calls(self) -> int:
        """How often the tool was called."""

    @property
    def server(self) -> McpServer:
        """Where it is."""

    def result(self, text: str) -> str:
        """What a call with a text results in: not the text itself."""


MakeBridge = Callable[[], AbstractAsyncContextManager[Bridge]]


class EchoBridge:
    """Our own MCP server, over HTTP.

    Args:
        http: it, running.
    """

    name, tool = "probe", TOOL

    def __init__(self, http: HttpServer) -> None:
        self._http = http

    @property
    def calls(self) -> int:
        """How often the tool was called."""
        return self._http.asked.count("tools/call")

    @property
    def server(self) -> McpServer:
        """Where it is."""
        return McpServer("http", url=self._http.url, headers={HEADER["name"]: HEADER["value"]})

    def result(self, text: str) -> str:
        """What a call with a text results in."""
        return echoed(text)


@asynccontextmanager
async def echo_bridge() -> AsyncIterator[EchoBridge]:
    """Start one."""
    async with HttpServer() as http:
        yield EchoBridge(http)
