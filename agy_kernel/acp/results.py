"""What the results of ``initialize`` and ``session/prompt`` say."""

from __future__ import annotations

from typing import Any

from ..abilities import (
    AgentInfo,
    AuthMethod,
    Capabilities,
)
from ..events import (
    TurnEnded,
    Usage,
)
from .fields import Raw, as_mapping, mapping, mappings, text


def agent_info(result: Raw, fallback: str) -> AgentInfo:
    """Who the agent says it is; ``fallback`` is its name where it does not."""
    raw = mapping(result, "agentInfo")
    return AgentInfo(text(raw, "name") or fallback, text(raw, "title"), text(raw, "version"))


def capabilities(result: Raw) -> Capabilities:
    """What the agent says it can do."""
    raw = mapping(result, "agentCapabilities")
    prompt, sessions = mapping(raw, "promptCapabilities"), mapping(raw, "sessionCapabilities")
    return Capabilities(
        load_session=raw.get("loadSession") is True,
        image=prompt.get("image") is True,
        audio=prompt.get("audio") is True,
        embedded_context=prompt.get("embeddedContext") is True,
        mcp_http=mapping(raw, "mcpCapabilities").get("http") is True,
        mcp_sse=mapping(raw, "mcpCapabilities").get("sse") is True,
        logout=isinstance(mapping(raw, "auth").get("logout"), dict),
        sessions=frozenset(name for name, value in sessions.items() if isinstance(value, dict)),
    )


def auth_methods(result: Raw) -> tuple[AuthMethod, ...]:
    """How one can sign in."""
    return tuple(_auth_method(raw) for raw in mappings(result, "authMethods"))


def turn_ended(result: Any) -> TurnEnded:
    """How a turn ended, with its tokens where they are reported."""
    raw = as_mapping(result)
    return TurnEnded(text(raw, "stopReason") or "unknown", _usage(raw))


def _usage(raw: Raw) -> Usage | None:
    """A turn's tokens: in ``usage``, as drafted, or where gemini-cli puts them."""
    usage, keys = mapping(raw, "usage"), ("inputTokens", "outputTokens", "totalTokens")
    if not usage:
        usage = mapping(mapping(mapping(raw, "_meta"), "quota"), "token_count")
        keys = ("input_tokens", "output_tokens", "total_tokens")
    counts = [usage.get(key) for key in keys]
    return Usage(*(c if isinstance(c, int) else None for c in counts)) if usage else None


def _auth_method(raw: Raw) -> AuthMethod:
    method_id = text(raw, "id")
    args, env = raw.get("args"), mapping(raw, "env")
    return AuthMethod(
        method_id,
        text(raw, "name") or method_id,
        text(raw, "description"),
        tuple(text(v, "name") for v in mappings(raw, "vars") if v.get("optional") is not True),
        text(raw, "type") or "agent",
        tuple(str(arg) for arg in args) if isinstance(args, list) else (),
        tuple((name, text(env, name)) for name in env if text(env, name)),
        text(raw, "link"),
    )
