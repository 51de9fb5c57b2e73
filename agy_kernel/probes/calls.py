"""Tool calls as the wire has them: all that was said of each, in the order in which it came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..acp.fields import as_mapping, mapping, mappings, text
from ..acp.updates import tool_call
from ..conversation.toolcalls import ToolCall, merged
from ..display.calls import command_of
from ..display.mcp import McpTool, mcp_tool
from . import named
from .recording import Evidence
from .wire import Wire

PERMISSION = "session/request_permission"
ANNOUNCED = "tool_call"
OF_ITS_OWN = {"edit", "delete", "move", "execute"}
"""Kinds of what an agent does itself, and no MCP server for it."""


@dataclass(slots=True)
class Call:
    """A tool call.

    Args:
        fields: merged; what was said last of each counts.
        said: each frame's fields, as they came.
        statuses: one after the other, without repetitions.
        said_by: the frames that spoke of it: ``tool_call``, ``tool_call_update``, and
            ``session/request_permission``.
        options: what could be answered when leave was asked for; none where it was not.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    said: list[Mapping[str, Any]] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    said_by: list[str] = field(default_factory=list)
    options: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, said: Mapping[str, Any], by: str) -> None:
        """A frame speaks of it."""
        self.fields |= {k: v for k, v in said.items() if v is not None and k != "sessionUpdate"}
        self.said.append(said)
        self.said_by.append(by)
        status = text(said, "status")
        if status and self.statuses[-1:] != [status]:
            self.statuses.append(status)

    @property
    def kind(self) -> str:
        """What kind of tool."""
        return text(self.fields, "kind")

    @property
    def title(self) -> str:
        """What it is called."""
        return text(self.fields, "title")

    @property
    def status(self) -> str:
        """What was said last of how it goes."""
        return self.statuses[-1] if self.statuses else ""

    @property
    def was_asked(self) -> bool:
        """Whether leave was asked for it."""
        return PERMISSION in self.said_by

    @property
    def content(self) -> list[Mapping[str, Any]]:
        """What it shows: texts, diffs, terminals."""
        return list(mappings(self.fields, "content"))

    @property
    def told(self) -> tuple[ToolCall, ...]:
        """As it is known now, and as each frame told of it."""
        return (_as_shown(self.fields), *map(_as_shown, self.said))

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it touches, as the agent names them anywhere."""
        return tuple(sorted({name for call in self.told for name in named.files(call)}))

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that its arguments name."""
        return tuple(sorted({name for call in self.told for name in named.commands(call)}))

    @property
    def command(self) -> str:
        """The command that it runs, less the shell around it; the title where nothing else is."""
        told = command_of(_as_shown(self.fields))
        is_untold = self.mcp is None and not any(said.get("rawInput") for said in self.said)
        return told or (self.title if self.kind == "execute" and is_untold else "")

    def is_only(self, kind: str, path: Path) -> bool:
        """Whether it is of a kind, and touches this file alone; names are taken in its folder."""
        is_file = [named.leads_to(name, path.parent, path) for name in self.files]
        is_alone = bool(is_file) and all(is_file) and not self.commands
        return self.kind == kind and self._is_of(kind) and is_alone and self._works_in(path.parent)

    def runs_only(self, command: str, folder: Path) -> bool:
        """Whether it runs this command in a folder, and does nothing else."""
        # opencode tells the folder that a command runs in as its place.
        is_here = all(named.leads_to(name, folder, folder) for name in self.files)
        is_alone = {self.command, *self.commands} == {command}
        return self._is_of("execute") and is_alone and is_here and self._works_in(folder)

    def _is_of(self, kind: str) -> bool:
        return {text(said, "kind") for said in self.said} <= {kind, ""}

    def _works_in(self, folder: Path) -> bool:
        names = {name for call in self.told for name in named.folders(call)}
        return all(named.leads_to(name, folder, folder) for name in names)

    @property
    def mcp(self) -> McpTool | None:
        """The tool of an MCP server that it calls; a later frame may tell it in other words."""
        known, *earlier = self.told
        return next(filter(None, map(mcp_tool, (known, *reversed(earlier)))), None)


def calls_of(frames: Iterable[Evidence], session_id: str) -> dict[str, Call]:
    """The tool calls of a session, by their ids."""
    calls: dict[str, Call] = {}
    for by, params in _spoken_of(frames, session_id):
        said = mapping(params, "update" if by != PERMISSION else "toolCall")
        call = calls.setdefault(text(said, "toolCallId"), Call())
        call.add(said, by)
        if by == PERMISSION:
            call.options = list(mappings(params, "options"))
    return calls


def is_only_of_server(told: Sequence[ToolCall], server: str, tool: str) -> bool:
    """Whether all that was told of a call is about a tool of an MCP server, and nothing besides.

    Args:
        told: the call, as it was told of one time after the other.
        server: the server's name.
        tool: the tool's.
    """
    is_named = {*map(mcp_tool, told)} - {None, McpTool("", tool)} == {McpTool(server, tool)}
    is_own = any(call.kind in OF_ITS_OWN for call in told)
    return is_named and not is_own and not any(map(_names_more, told))


def _names_more(call: ToolCall) -> bool:
    return bool(named.files(call) or named.folders(call) or named.commands(call))


def asked_about(wire: Wire, session_id: str, asked: Mapping[str, Any]) -> Call:
    """The tool call that leave is asked for, with all that was said of it before."""
    return calls_of(wire.recording.frames, session_id)[text(asked, "toolCallId")]


def of_session(
    frames: Iterable[Evidence], session_id: str, method: str
) -> Iterator[Mapping[str, Any]]:
    """The params of what an agent sent for a session by a method."""
    for frame in frames:
        message = as_mapping(frame.message)
        params = mapping(message, "params")
        is_sent = frame.direction == "a2c" and text(message, "method") == method
        if is_sent and text(params, "sessionId") == session_id:
            yield params


def _spoken_of(
    frames: Iterable[Evidence], session_id: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for frame in frames:
        for params in of_session((frame,), session_id, "session/update"):
            kind = text(mapping(params, "update"), "sessionUpdate")
            if kind in (ANNOUNCED, "tool_call_update"):
                yield kind, params
        for params in of_session((frame,), session_id, PERMISSION):
            yield PERMISSION, params


def _as_shown(fields: Mapping[str, Any]) -> ToolCall:
    return merged(None, tool_call(fields))
