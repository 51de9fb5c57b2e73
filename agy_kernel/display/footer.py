"""What a turn leaves behind: a line for people, a record for programs, and how the cell ends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..abilities import AgentInfo
from ..conversation.toolcalls import ToolCall
from ..conversation.transcript import (
    Message,
    Transcript,
)
from ..errors import AgyError, TurnCancelled, TurnFailed, shortened
from ..events import (
    TurnBroken,
    TurnEnded,
)
from ..text import clean
from .approval import strayed
from .html import block, escape, faint

LONGEST_PART = 300  # characters
RECORD_TYPE = "application/vnd.agy-kernel.turn+json"
AGENT_FAILURE = re.compile(r"\s*(Agent execution error:.*)")
# Antigravity says so in the text of a turn that looks successful (public report 14).
SERVER_FAILURE = re.compile(r"^The MCP server '([^'\n]{1,80})' failed to initialize", re.MULTILINE)

CUT_OFF = {
    "refusal": (
        "The agent refused to go on. It drops this prompt and its answer: "
        "the next prompt will not see them."
    ),
    "max_tokens": "The answer was cut off: the model reached its limit of tokens.",
    "max_turn_requests": "The turn was cut off: the agent reached its limit of model requests.",
}


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a turn ran with; empty strings for what is not known."""

    agent: AgentInfo
    session_id: str = ""
    model: str = ""
    mode: str = ""
    seconds: float = 0.0
    sent: str = ""


def footer(transcript: Transcript, ending: TurnEnded | TurnBroken, how: Circumstances) -> str:
    """The line for people, as Markdown."""
    said = faint(escape(line(transcript, ending, how)))
    servers = failed_servers(transcript)
    warning = f"⚠ MCP server failed: {escape(', '.join(servers))}<br>" if servers else ""
    return block(warning + said)


def failed_servers(transcript: Transcript) -> list[str]:
    """The MCP servers that did not start, as far as the agent tells."""
    return list(dict.fromkeys(SERVER_FAILURE.findall(transcript.text)))


def line(transcript: Transcript, ending: TurnEnded | TurnBroken, how: Circumstances) -> str:
    """The line for people, as text."""
    parts = [how.agent.label, how.model, how.mode and f"mode {how.mode}", f"{how.seconds:.1f} s"]
    parts += [_tokens(transcript), how.sent]
    if isinstance(ending, TurnBroken):
        parts.append("failed")
    elif ending.stop_reason != "end_turn":
        parts.append(f"stop reason {ending.stop_reason}")
    words = (shortened(part, LONGEST_PART) for part in parts if part)
    return clean(" · ".join(words)).replace("\n", " ")


def record(
    transcript: Transcript, ending: TurnEnded | TurnBroken, how: Circumstances
) -> dict[str, Any]:
    """The record for programs; a bundle for the footer's output."""
    usage = transcript.usage
    return {
        RECORD_TYPE: {
            "version": 1,
            "session_id": how.session_id,
            "agent": {"name": how.agent.name, "version": how.agent.version},
            "model": how.model,
            "mode": how.mode,
            "sent": how.sent,
            "stop_reason": shortened(getattr(ending, "stop_reason", None) or "") or None,
            "error": str(ending.error) if isinstance(ending, TurnBroken) else None,
            "failed_mcp_servers": failed_servers(transcript),
            "tool_calls": [_call(call) for call in transcript.tool_calls],
            "permissions": [_decision(c) for c in transcript.tool_calls if c.answer],
            "usage": usage and {"input": usage.input, "output": usage.output, "total": usage.total},
            "context": transcript.context
            and {"used": transcript.context.used, "size": transcript.context.size},
            "seconds": round(how.seconds, 3),
        },
        "text/plain": line(transcript, ending, how),
    }


def problem(
    transcript: Transcript, ending: TurnEnded | TurnBroken, stopped: bool
) -> BaseException | None:
    """What the cell ends with: None, an error, or the one-line interruption.

    Args:
        stopped: whether the person pressed Stop.
    """
    if isinstance(ending, TurnBroken):
        return (
            ending.error if isinstance(ending.error, AgyError) else TurnFailed(repr(ending.error))
        )
    if ending.stop_reason == "cancelled":
        return TurnCancelled(
            "the turn was stopped." if stopped else "the agent ended the turn as cancelled."
        )
    if reason := CUT_OFF.get(ending.stop_reason):
        return TurnFailed(reason)
    # Antigravity reports a failing backend as text of an ordinary turn (public report 13).
    said = (e for e in transcript.entries if isinstance(e, Message) and e.role == "agent")
    if failure := next(filter(None, (AGENT_FAILURE.match(e.text) for e in said)), None):
        return TurnFailed(failure[1])
    return None


def _tokens(transcript: Transcript) -> str:
    parts = []
    if (usage := transcript.usage) is not None:
        counts = {"in": usage.input, "out": usage.output}
        parts += [f"{n} tokens {way}" for way, n in counts.items() if n is not None]
    if (context := transcript.context) is not None and context.size:
        parts.append(f"context {context.used:,} of {context.size:,}")
        parts += [f"session {context.cost}"] if context.cost else []
    return ", ".join(parts) or "tokens not reported"


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": shortened(call.id),
        "kind": shortened(call.kind),
        "title": shortened(call.title),
        "status": shortened(call.status),
        "superseded": call.superseded,
        "unfinished": call.unfinished,
        "ran_without_asking": call.unasked,
        "changed_after_approval": strayed(call),
    }


def _decision(call: ToolCall) -> dict[str, Any]:
    assert call.answer is not None
    option = call.answer.option
    return {
        "tool_call": call.id,
        "option": option.id if option else None,
        "kind": option.kind if option else "cancelled",
        "by": call.answer.by,
        "why": call.answer.why,
    }
