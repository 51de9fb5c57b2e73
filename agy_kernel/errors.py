"""What can go wrong, as a small tree.

AgyError
├── SettingsError              a setting has a bad value
├── CommandError               a ``%agy`` command was given wrong words
├── AgentError                 something about the agent process or its answers
│   ├── AgentNotFound          no program to start
│   ├── AgentStartFailed       it started, but never said hello
│   ├── AgentExited            it was running and is gone
│   ├── AuthenticationRequired it wants a sign-in first
│   └── RequestFailed          it answered a request with an error
└── TurnFailed                 the turn ended, but not well
    └── TurnTimeout            it took longer than it was given

``TurnCancelled`` stands beside the tree: it is a ``KeyboardInterrupt``, so that Run All, nbclient
and ``except Exception`` treat Stop as they treat Stop everywhere else.
"""

from __future__ import annotations

import json
import signal
from typing import Any

from .text import clean

INTERNAL_ERROR = -32603  # JSON-RPC's, and what agents answer when their model fails
LONGEST_WORDS = 8_000


class AgyError(Exception):
    """Anything that agy-kernel tells the person at the notebook about.

    Args:
        words: they may be an agent's, and may be shown on a terminal.
    """

    def __init__(self, words: str = "") -> None:
        super().__init__(clean(words))

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines instead of a Python traceback, which would help nobody."""
        return [f"{type(self).__name__}: {self}"]


class SettingsError(AgyError):
    """A setting has a value that cannot be used."""


class CommandError(AgyError):
    """A ``%agy`` command was not understood."""


class AgentError(AgyError):
    """Something about the agent, often in its own words."""

    def __init__(self, words: str) -> None:
        # JSON can name lone surrogates, and no message of ours could carry them.
        super().__init__(words.encode("utf-8", "replace").decode())


class AgentNotFound(AgentError):
    """There is no program to start."""


class AgentStartFailed(AgentError):
    """The agent was started, but never answered ``initialize``."""


class AgentExited(AgentError):
    """The agent is gone.

    Args:
        why: what was noticed first ("closed its output", ...).
        status: exit status; negative for a signal, None while it is not known.
        stderr: the last lines that the agent wrote to stderr.
        hint: what it has died of and what to do, where that is known: the first thing to read.
    """

    def __init__(
        self, why: str, status: int | None = None, stderr: str = "", hint: str = ""
    ) -> None:
        self.why, self.status, self.stderr, self.hint = why, status, stderr, hint
        super().__init__(after_hint(hint, self._message()))

    def _message(self) -> str:
        status = "" if self.status is None else f" ({exit_status(self.status)})"
        tail = f"\nIts last words on stderr:\n{self.stderr.rstrip()}" if self.stderr.strip() else ""
        return f"the agent {self.why}{status}. Run the cell again to start it anew.{tail}"


class AuthenticationRequired(AgentError):
    """The agent wants a sign-in before it works."""


class RequestFailed(AgentError):
    """The agent answered a request with an error.

    Args:
        code: the JSON-RPC error code.
        message: the agent's message.
        data: whatever the agent sent along.
        hint: what it means and what to do, where that is known: the first thing to read.
    """

    def __init__(self, code: int, message: str, data: Any = None, hint: str = "") -> None:
        self.code, self.message, self.data = code, message, data
        detail = shortened(error_detail(data))
        said = f"{_unwrapped(message)} ({code})" + (f": {detail}" if detail else "")
        super().__init__(after_hint(hint, said))

    def _render_traceback_(self) -> list[str]:
        """After an internal error, such as a model that was not reached, it may work again."""
        hint = ["Run the cell again to try anew; `%agy new` begins a new session."]
        return super()._render_traceback_() + (hint if self.code == INTERNAL_ERROR else [])


class TurnFailed(AgyError):
    """The turn ended, but not well: refused, cut off, or failed inside the agent."""


class TurnTimeout(TurnFailed):
    """The turn took longer than it was given, and was stopped."""


class TurnCancelled(KeyboardInterrupt):
    """The turn was stopped."""

    def _render_traceback_(self) -> list[str]:
        return [f"Interrupted: {self}"]


def after_hint(hint: str, words: str) -> str:
    """What was seen, behind what it means."""
    return f"{hint}\n{words}" if hint else words


def exit_status(status: int) -> str:
    """Say an exit status in words: ``exit status 3`` or ``signal SIGKILL``."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {signal.Signals(-status).name}"
    except ValueError:
        return f"signal {-status}"


def shortened(words: str, most: int = LONGEST_WORDS) -> str:
    """Words of the agent, cut where they have no end."""
    return words if len(words) <= most else f"{words[:most]}… ({len(words):,} characters)"


def error_detail(data: Any) -> str:
    """Find the words for a person in the free-form ``data`` of a JSON-RPC error.

    Agents differ: a plain string, ``message``, ``details``, ``reason``, or pydantic's list of
    ``errors`` with ``loc`` and ``msg`` (both of its generations).
    """
    if isinstance(data, str):
        return data
    if not isinstance(data, dict):
        return ""
    if isinstance(errors := data.get("errors"), list):
        return "; ".join(_field_error(item) for item in errors if isinstance(item, dict))
    for key in ("message", "details", "reason", "error"):
        if isinstance(value := data.get(key), str) and value:
            return _unwrapped(value)
    return error_detail(data.get("error"))


def _unwrapped(message: str) -> str:
    """The words in a message that is JSON itself, as gemini-cli passes its model's errors on."""
    try:
        told = json.loads(message)
    except (ValueError, RecursionError):
        return message
    return error_detail(told) or message


def _field_error(item: dict[str, Any]) -> str:
    where = item.get("loc")
    path = ".".join(str(part) for part in where) if isinstance(where, (list, tuple)) else ""
    return f"{path}: {item.get('msg', '')}".strip(": ")
