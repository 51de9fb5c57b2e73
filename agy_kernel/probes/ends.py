"""How a prompt has ended within the time that was given: what comes later does not count.

A replay answers at once what the agent has answered when it was too late, and its text with it.
"""

from __future__ import annotations

from ..acp.fields import text
from ..errors import AgentError, AgentExited, exit_status
from .turns import Answer, Turn


def stop_reason(answer: Answer) -> str:
    """Why it ended; empty where it has not, or with an error."""
    return text(answer.fields, "stopReason")


def how(answer: Answer) -> str:
    """How it ended, for a sentence."""
    return stop_reason(answer) or answer.words


def said(turn: Turn, answer: Answer) -> str:
    """The message of a turn that was answered; empty where it was not."""
    return "" if answer.is_silent else turn.text


def in_words(turn: Turn, answer: Answer) -> str:
    """How a turn has ended, and what was said last, for a sentence."""
    words = said(turn, answer)
    return f"{how(answer)}, and {words[-80:]!r}" if words else f"{how(answer)}, and no text"


def in_a_line(error: AgentError) -> str:
    """What has happened to an agent, in a line."""
    if not isinstance(error, AgentExited):
        return str(error)
    status = "" if error.status is None else f" ({exit_status(error.status)})"
    last = error.stderr.strip().rpartition("\n")[2]
    return f"it {error.why}{status}" + (f"; its last words: {last}" if last else "")
