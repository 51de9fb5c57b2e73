"""The engines that parity is asked of: those that a conversation can stand on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..acp.connection import Connection
from ..acp.process import Launch
from ..acp.tape import Tape
from ..conversation.engine import Engine, EventSink
from ..errors import CommandError
from ..mcp import McpServer


@dataclass(frozen=True, slots=True)
class Place:
    """What an engine is made for.

    Args:
        launch: how to start the agent.
        folder: absolute path of the folder that it works in.
        tape: records the wire, where there is one.
        servers: the MCP servers that each session gets, by name.
        auth: the method to sign in by; None for one that needs no person.
    """

    launch: Launch
    folder: str
    tape: Tape
    servers: Mapping[str, McpServer] = field(default_factory=dict)
    auth: str | None = None


@dataclass(frozen=True, slots=True)
class EngineKind:
    """A way to speak to an agent.

    Args:
        name: as in the settings.
        make: makes an engine that is not started yet.
        is_taped: whether it is an ACP agent's, whose wire is on the tape: that can be replayed. Of
            other engines the prompts and events are noted.
    """

    name: str
    make: Callable[[Place, EventSink], Engine]
    is_taped: bool = False


def _acp(place: Place, on_event: EventSink) -> Engine:
    return Connection(
        place.launch,
        place.folder,
        on_event,
        auth=place.auth,
        servers=place.servers,
        tape=place.tape,
    )


ENGINES = {"acp": EngineKind("acp", _acp, is_taped=True)}


def find_engine(name: str) -> EngineKind:
    """The engine of a name.

    Raises:
        CommandError: there is none.
    """
    if name not in ENGINES:
        raise CommandError(f"there is no engine {name!r}: there are {', '.join(ENGINES)}")
    return ENGINES[name]
