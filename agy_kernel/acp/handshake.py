"""``initialize``: what we say of ourselves, and what is wrong when it comes to nothing.

Advertised is only what is served: no file system, no terminals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import __version__
from ..errors import AgentStartFailed, after_hint
from .elicitation import CAPABILITY
from .process import Launch

PROTOCOL_VERSION = 1
CLIENT = {"name": "agy-kernel", "title": "agy-kernel for Jupyter", "version": __version__}
CLIENT_CAPABILITIES = {
    "fs": {"readTextFile": False, "writeTextFile": False},
    "terminal": False,
    "session": {"configOptions": {"boolean": {}}},
    "elicitation": CAPABILITY,
    # Not of the protocol: codex and claude then tell what their commands print, as it comes.
    "_meta": {"terminal_output": True},
}
HELLO = {
    "protocolVersion": PROTOCOL_VERSION,
    "clientCapabilities": CLIENT_CAPABILITIES,
    "clientInfo": CLIENT,
}


def check_version(name: str, hello: Mapping[str, Any]) -> None:
    """See whether an agent speaks our version of the protocol.

    Raises:
        AgentStartFailed: it does not.
    """
    if (version := hello.get("protocolVersion")) != PROTOCOL_VERSION:
        raise AgentStartFailed(
            f"{name} speaks version {version!r:.40} of the Agent Client Protocol, "
            f"and this kernel version {PROTOCOL_VERSION}. Update the older of the two."
        )


def start_failed(
    launch: Launch, what: str, status: int | None, streams: Mapping[str, str]
) -> AgentStartFailed:
    """The error for an agent that was started and never said hello.

    Args:
        launch: how it was started.
        what: what happened, in a sentence.
        status: its exit status; None while it is not known.
        streams: its last words, by the name of the stream.
    """
    lines = [f"{what} The command was: {' '.join(launch.argv)}"]
    lines.append("Is that an agent that speaks ACP on its standard input and output?")
    for name, words in streams.items():
        lines += [f"Its last words on {name}:\n{words.strip()}"] if words.strip() else []
    hint = launch.hint(status, "\n".join([what, *streams.values()]))
    if not hint and status == 0:
        hint = (
            f"{launch.argv[0]} ran to its end at once, as a program does that is no "
            "agent, or that wants to be told to be one (acp, --acp)."
        )
    return AgentStartFailed(after_hint(hint, "\n".join(lines)))
