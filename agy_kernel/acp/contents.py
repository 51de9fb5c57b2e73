"""Content blocks and what a tool call shows, as received, to typed values.

Tolerant like the updates that they come in: a bad value is as good as none.
"""

from __future__ import annotations

from ..events import Content, Diff, Location, Terminal, ToolContent
from .fields import Raw, mapping, mappings, text

OLD_PATHS = ("oldPath", "old_path", "movedFrom", "previousPath")


def content(block: Raw) -> Content:
    """A content block."""
    resource = mapping(block, "resource") or block
    return Content(
        type=text(block, "type"),
        text=text(resource, "text"),
        data=text(block, "data") or text(resource, "blob"),
        mime_type=text(resource, "mimeType"),
        uri=text(resource, "uri"),
        name=text(block, "title") or text(block, "name"),
        description=text(block, "description"),
        size=_size(block),
        raw=block,
    )


def tool_contents(update: Raw) -> tuple[ToolContent, ...] | None:
    """The contents of a tool call; None where the frame does not speak of them."""
    if not isinstance(update.get("content"), list):
        return None
    return tuple(_tool_content(item) for item in mappings(update, "content"))


def locations(update: Raw) -> tuple[Location, ...] | None:
    """The files of a tool call; None where the frame does not speak of them."""
    if not isinstance(update.get("locations"), list):
        return None
    return tuple(_location(item) for item in mappings(update, "locations") if text(item, "path"))


def printed(meta: Raw) -> str:
    """What a terminal of the agent's own printed, as codex and claude tell it in ``_meta``."""
    parts = (mapping(meta, key) for key in ("terminal_output", "terminal_output_delta"))
    return "".join(text(part, "data") for part in parts)


def exit_status(meta: Raw) -> int | None:
    """The exit status of the command in an agent's own terminal, once it has ended."""
    value = mapping(meta, "terminal_exit").get("exit_code")
    return value if isinstance(value, int) else None


def _tool_content(item: Raw) -> ToolContent:
    kind = text(item, "type")
    if kind == "diff":
        return _diff(item)
    if kind == "terminal":
        return Terminal(text(item, "terminalId"), text(item, "output"))
    return content(mapping(item, "content") or item)


def _diff(item: Raw) -> Diff:
    # A new file's oldText is null, absent or empty, agent by agent (real-agents.md, lesson 6);
    # with "" only _meta can tell a new file from one that was empty.
    meta = mapping(item, "_meta")
    kind = text(meta, "kind")
    old = item.get("oldText")
    is_new = not isinstance(old, str) or (old == "" and kind in ("", "add"))
    old_text = None if is_new else old
    new = item.get("newText")
    return Diff(
        path=text(item, "path"),
        old=old_text,
        new=new if isinstance(new, str) else "",
        deleted=kind == "delete" or (not isinstance(new, str) and old_text is not None),
        moved_from=next((p for key in OLD_PATHS if (p := text(meta, key) or text(item, key))), ""),
    )


def _location(item: Raw) -> Location:
    line = item.get("line")
    return Location(text(item, "path"), line if isinstance(line, int) else None)


def _size(block: Raw) -> int | None:
    value = block.get("size")
    return value if isinstance(value, int) and value >= 0 else None
