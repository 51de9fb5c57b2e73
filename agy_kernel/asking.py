"""``ask``: the agent as a function, in a cell, in a function, or in a plain script."""

from __future__ import annotations

import atexit
import inspect
import sys
from functools import cache
from types import FrameType
from typing import Any

from .host import Host, Manner
from .prompt.gather import Request
from .reply import Reply


def ask(
    prompt: str,
    *values: Any,
    timeout: float | None = None,
    agent: str = "",
    context: bool = True,
    quiet: bool = False,
) -> Reply:
    """Ask the agent, and wait for its reply.

    In IPython this is the same conversation as ``%agy``'s; elsewhere it has one of its own.

    Args:
        prompt: what to ask; ``@names`` in it are looked up as in ``%agy``.
        values: objects that go along: pictures as images, all else by its ``repr``.
        timeout: seconds that the turn may take.
        agent: a name from the catalogue or a command line; empty for the settings'.
        context: whether what ran in the notebook goes along.
        quiet: show nothing but questions.

    Returns:
        The reply; it shows itself as Markdown.

    Raises:
        AgentNotFound, AuthenticationRequired, AgentStartFailed, AgentExited: see ``errors``.
        TurnFailed: the turn was refused, cut off or failed; ``TurnTimeout`` after ``timeout``.
        TurnCancelled: it was stopped.
    """
    frame = inspect.currentframe()
    assert frame is not None
    named = [(_name_of(value, frame.f_back, n), value) for n, value in enumerate(values, 1)]
    request = Request(prompt, named, context=context)
    return _host().prompt(request, Manner(agent, timeout, quiet))


def _name_of(value: Any, caller: FrameType | None, number: int) -> str:
    """What the caller calls a value; its number where it has no name."""
    names = {**caller.f_globals, **caller.f_locals} if caller else {}
    found = (name for name, known in names.items() if known is value and name.isidentifier())
    return next((name for name in found if not name.startswith("_")), f"value {number}")


def _host() -> Host:
    from .magics import AgyMagics, load

    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return _own_host()
    magics = shell.magics_manager.registry.get(AgyMagics.__name__) or load(shell)
    host: Host = magics.host
    return host


@cache
def _own_host() -> Host:
    host = Host()
    atexit.register(host.close)
    return host
