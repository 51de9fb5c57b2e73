"""A ``session/update`` as received, to a typed event, and nothing else.

Tolerant as the protocol asks (agentclientprotocol.com, "session/update"): a bad value of an
optional field is as good as none, a bad member of a list is passed over, unknown kinds are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..errors import shortened
from ..events import (
    Command,
    CommandsChanged,
    Compaction,
    ConfigChanged,
    ContentChunk,
    ModeChanged,
    NothingNew,
    Notice,
    PlanEntry,
    PlanUpdate,
    Role,
    SessionInfoChanged,
    TextChunk,
    ToolCallUpdate,
    UnknownUpdate,
    Update,
    UsageChanged,
)
from ..questions import Option, Permission
from .contents import content, exit_status, locations, printed, tool_contents
from .fields import Raw, mapping, mappings, piece, text, well_formed
from .options import choices_of

ROLES: dict[str, Role] = {
    "agent_message_chunk": "agent",
    "agent_thought_chunk": "thought",
    "user_message_chunk": "user",
}
WARNING_KEY = "agy.security.warning"


def update_event(update: Raw) -> Update:
    """The event that an update tells of."""
    kind = text(update, "sessionUpdate")
    if role := ROLES.get(kind):
        return _chunk(role, update)
    if reader := READERS.get(kind):
        return reader(update)
    return UnknownUpdate(kind, update)


def question(params: Raw) -> Permission:
    """The question that a ``session/request_permission`` asks."""
    call = mapping(params, "toolCall")
    options = tuple(_option(item) for item in mappings(params, "options"))
    return Permission(tool_call(call, asked=True), options, _warning(params) or _warning(call))


def tool_call(update: Raw, asked: bool = False) -> ToolCallUpdate:
    """What a frame says of a tool call; ``tool_call`` and ``tool_call_update`` are read alike.

    Agents re-send ``tool_call`` for a call that is known, and update calls that were never
    announced, so the id alone tells which call it is.
    """
    return ToolCallUpdate(
        id=well_formed(str(update.get("toolCallId", ""))),
        title=text(update, "title") or None,
        kind=text(update, "kind") or None,
        status=text(update, "status") or None,
        content=tool_contents(update),
        locations=locations(update),
        raw_input=update.get("rawInput"),
        raw_output=update.get("rawOutput"),
        printed=printed(mapping(update, "_meta")),
        exit_status=exit_status(mapping(update, "_meta")),
        meta=mapping(update, "_meta"),
        announces=update.get("sessionUpdate") == "tool_call",
        asked=asked,
    )


# -- the kinds of update


def _chunk(role: Role, update: Raw) -> TextChunk | ContentChunk:
    block = update.get("content")
    message_id = update.get("messageId")
    message_id = message_id if isinstance(message_id, str) else None
    if not isinstance(block, dict):
        return TextChunk(role, block if isinstance(block, str) else "", message_id)
    if block.get("type", "text") == "text":
        return TextChunk(role, piece(block, "text"), message_id)
    return ContentChunk(role, content(block), message_id)


def _plan(update: Raw) -> PlanUpdate:
    return PlanUpdate(tuple(_plan_entry(item) for item in mappings(update, "entries")))


def _one_of_several_plans(update: Raw) -> PlanUpdate:
    # The schema says planId, the proposal id.
    plan = mapping(update, "plan")
    return PlanUpdate(
        tuple(_plan_entry(item) for item in mappings(plan, "entries")),
        text(plan, "planId") or text(plan, "id"),
        text(plan, "content"),
        text(plan, "uri"),
    )


def _plan_removed(update: Raw) -> PlanUpdate:
    return PlanUpdate(id=text(update, "planId") or text(update, "id"))


def _compaction(update: Raw) -> Compaction:
    return Compaction(text(update, "compactionId"), text(update, "status") or "in_progress")


def _commands(update: Raw) -> CommandsChanged:
    return CommandsChanged(
        tuple(
            Command(name, text(item, "description"), text(mapping(item, "input"), "hint"))
            for item in mappings(update, "availableCommands")
            if (name := text(item, "name").removeprefix("/"))
        )
    )


def _mode(update: Raw) -> ModeChanged:
    # The schema says currentModeId, the specification's own page modeId.
    return ModeChanged(text(update, "currentModeId") or text(update, "modeId"))


def _config(update: Raw) -> ConfigChanged:
    return ConfigChanged(choices_of(mappings(update, "configOptions")))


def _session_info(update: Raw) -> Update:
    if "title" not in update:
        return NothingNew()  # the time of the last change, or what other clients want to know
    return SessionInfoChanged(text(update, "title") or None)


def _usage(update: Raw) -> UsageChanged:
    cost = mapping(update, "cost")
    amount, currency = cost.get("amount"), text(cost, "currency")
    is_price = isinstance(amount, (int, float)) and 0 < abs(amount) < 1e9  # and a number at all
    price = f"{amount:.4f} {currency}".strip() if is_price else ""
    return UsageChanged(_count(update, "used"), _count(update, "size"), price)


def _notice(update: Raw) -> Notice:
    parts = (text(update, "title"), text(update, "description"))
    return Notice(" ".join(p for p in parts if p), text(update, "severity") or "info")


READERS: dict[str, Callable[[Raw], Update]] = {
    "tool_call": tool_call,
    "tool_call_update": tool_call,
    "plan": _plan,
    "plan_update": _one_of_several_plans,
    "plan_removed": _plan_removed,
    "compaction_update": _compaction,
    "compaction_summary_chunk": _compaction,
    "available_commands_update": _commands,
    "current_mode_update": _mode,
    "config_option_update": _config,
    "session_info_update": _session_info,
    "usage_update": _usage,
    "notice": _notice,
}


# -- parts


def _plan_entry(item: Raw) -> PlanEntry:
    status, priority = text(item, "status"), text(item, "priority")
    return PlanEntry(text(item, "content"), status or "pending", priority or "medium")


def _count(raw: Raw, key: str) -> int:
    value = raw.get(key)
    return value if isinstance(value, int) and value >= 0 else 0


def _option(item: Raw) -> Option:
    option_id = well_formed(str(item.get("optionId", "")))
    return Option(option_id, text(item, "name") or option_id, text(item, "kind"), _warning(item))


def _warning(raw: Raw) -> str:
    """Antigravity's security warning: ``{title, message}``, or a plain string (report 30)."""
    value = mapping(raw, "_meta").get(WARNING_KEY)
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, Mapping):
        parts = (text(value, "title"), text(value, "message"))
        return shortened(": ".join(p for p in parts if p))
    return ""
