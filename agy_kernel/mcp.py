"""MCP servers that the person wants an agent to have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server; a program (``stdio``), or an address (``http``, ``sse``).

    Args:
        type: how the agent reaches it.
        command: the program, for stdio.
        args: its arguments.
        env: its variables; their values may be secrets.
        url: the address.
        headers: sent with each request; their values may be secrets.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    type: Literal["stdio", "http", "sse"] = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.type == "stdio" and not self.command:
            raise ValueError("a stdio server needs a command")
        if self.type != "stdio" and not self.url.startswith(("http://", "https://")):
            raise ValueError(f"a server of type {self.type} needs a url (http or https)")

    @property
    def described(self) -> str:
        """What it is, in a line without secrets."""
        if self.type != "stdio":
            names = "".join(f" --header {name}: ***" for name in self.headers)
            return f"{self.type} {self.url}{names}"
        names = "".join(f" {name}=***" for name in self.env)
        return " ".join([self.command, *self.args]) + names
