"""The probes themselves: a module for each notebook in ``notebooks/probes``."""

from __future__ import annotations

import importlib
from types import ModuleType

from ...errors import CommandError

NAMES = (
    "handshake",
    "sign-in",
    "session",
    "options",
    "streaming",
    "cancel",
    "images",
    "lifecycle",
    "tools",
    "mcp",
    "slash",
    "context",
    "errors",
    "parity",
)
"""In the order in which one would ask."""


def find_suite(name: str) -> ModuleType:
    """The suite of a name.

    Raises:
        CommandError: there is none.
    """
    if name not in NAMES:
        raise CommandError(f"there are no probes {name!r}: there are {', '.join(NAMES)}")
    return importlib.import_module(f".{name.replace('-', '_')}", __package__)
