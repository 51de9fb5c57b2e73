"""The permissions of one kernel: its settings and rules, applied to what agents tell of calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .configuration import PREFIX, Configuration
from .conversation.permissions import Permissions, Policy
from .conversation.toolcalls import ToolCall
from .display.calls import all_files_of, command_of
from .display.mcp import mcp_tool
from .rules import Facts


def permissions(configuration: Callable[[], Configuration], folder: str) -> Permissions:
    """The permissions of a conversation that works in ``folder``."""

    def policy() -> tuple[Policy, str]:
        now = configuration()
        policy, origin = now.settings.permissions, now.origins.get("permissions", "default")
        if origin.startswith(PREFIX):
            return policy, f"{origin} is {policy}"
        return policy, f"permissions is {policy} ({origin})"

    return Permissions(
        policy, lambda: configuration().settings.rules, lambda call: facts_of(call, folder)
    )


def facts_of(call: ToolCall, folder: str) -> Facts:
    """What a call is about, as far as the agent tells; paths are seen from ``folder``."""
    tool = mcp_tool(call)
    return Facts(
        kind=call.kind,
        tool=tool.tool if tool else "",
        server=tool.server if tool else "",
        paths=tuple(dict.fromkeys(str(Path(folder) / path) for path in all_files_of(call))),
        command=command_of(call),
    )
