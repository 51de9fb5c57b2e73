"""A Jupyter kernel and IPython extension for agents that speak the Agent Client Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .asking import ask
    from .errors import (
        AgentExited,
        AgentNotFound,
        AgentStartFailed,
        AgyError,
        AuthenticationRequired,
        TurnCancelled,
        TurnFailed,
        TurnTimeout,
    )
    from .reply import Reply

__version__ = "0.1.0"

__all__ = [
    "AgentExited",
    "AgentNotFound",
    "AgentStartFailed",
    "AgyError",
    "AuthenticationRequired",
    "Reply",
    "TurnCancelled",
    "TurnFailed",
    "TurnTimeout",
    "__version__",
    "ask",
    "load_ipython_extension",
    "unload_ipython_extension",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = {"ask": ".asking", "Reply": ".reply"}.get(name, ".errors")
    return getattr(import_module(home, __name__), name)


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext agy_kernel``: add ``%agy`` and ``%%agy`` to a notebook's own kernel."""
    from .magics import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext agy_kernel``: end the agent, and take the magics away."""
    from .magics import unload

    unload(shell)
