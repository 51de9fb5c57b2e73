"""Tool calls as the wire has them: all that was said of each, in the order in which it came."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..acp.fields import as_mapping, mapping, mappings, text
from ..acp.updates import tool_call
from ..conversation.toolcalls import ToolCall, merged
from ..display.calls import command_of, files_of
from ..display.mcp import McpTool, mcp_tool
from .recording import Evidence
from .wire import Wire

PERMISSION = "session/request_permission"
ANNOUNCED = "tool_call"


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
    def files(self) -> tuple[str, ...]:
        """The files that it touches, as the agent names them."""
        return files_of(_as_shown(self.fields))

    def is_only(self, kind: str, path: Path) -> bool:
        """Whether it is of a kind, and touches this file alone; names are taken in its folder."""
        files = {os.path.normpath(path.parent / file) for file in self.files}
        return self.kind == kind and files == {str(path)}

    @property
    def command(self) -> str:
        """The command that it runs, less the shell around it; the title where nothing else is."""
        told = command_of(_as_shown(self.fields))
        return told or (self.title if self.kind == "execute" and self.mcp is None else "")

    @property
    def mcp(self) -> McpTool | None:
        """The tool of an MCP server that it calls; a later frame may tell it in other words."""
        told = (mcp_tool(_as_shown(fields)) for fields in (self.fields, *reversed(self.said)))
        return next(filter(None, told), None)


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
