"""What a conversation needs of an engine, and nothing of how it talks.

Events come through ``EventSink`` on the agent's loop, in the order in which the agent sent them.
``SessionOpened`` and ``TurnEnded`` are among them, so that what follows them on the wire is
already seen as following them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from ..abilities import (
    AgentInfo,
    AuthMethod,
    Capabilities,
)
from ..errors import AgentError
from ..events import (
    Choices,
    Event,
    SessionInfo,
    SessionState,
)

Opening = Literal["new", "load", "resume", "fork"]

EventSink = Callable[[str, Event], None]
"""Called with a session id and an event; must not wait."""


class Engine(Protocol):
    """One running agent."""

    @property
    def info(self) -> AgentInfo:
        """Who it says it is."""

    @property
    def capabilities(self) -> Capabilities:
        """What it says it can do."""

    @property
    def auth_methods(self) -> tuple[AuthMethod, ...]:
        """How one signs in."""

    @property
    def alive(self) -> bool:
        """Whether it can be asked anything."""

    @property
    def pid(self) -> int | None:
        """Its process, if it has one."""

    @property
    def bad_frames(self) -> Mapping[str, int]:
        """How many frames were passed over, by what was wrong with them."""

    @property
    def last_words(self) -> str:
        """The end of what it wrote for people, and not to us."""

    async def start(self) -> None:
        """Start it; cancelling this ends it again."""

    async def authenticate(self, method_id: str) -> None:
        """Sign in; may take as long as a person does."""

    async def logout(self) -> None:
        """Forget the sign-in."""

    async def open_session(self, how: Opening, cwd: str, session_id: str = "") -> SessionState:
        """Open a session in a folder; the history of a loaded one comes as events before."""

    async def list_sessions(self, cwd: str) -> list[SessionInfo]:
        """The agent's own list of sessions in a folder."""

    async def delete_session(self, session_id: str) -> None:
        """Delete a session for good."""

    async def prompt(self, session_id: str, blocks: Sequence[dict[str, Any]]) -> None:
        """Send a prompt, and wait until its turn has ended."""

    def cancel(self, session_id: str) -> None:
        """Ask that the running turn end."""

    def cancel_request(self, session_id: str) -> None:
        """Ask that the prompt request itself be cancelled."""

    async def close_session(self, session_id: str) -> None:
        """Close a session; what runs in it ends."""

    async def choose(self, session_id: str, what: str, choices: Choices, value: str) -> Choices:
        """Choose a model, a mode or another value; returns the choices as they are then."""

    def terminate(self) -> None:
        """Ask the process to end."""

    def kill(self) -> None:
        """End the process."""

    async def wait_lost(self) -> AgentError:
        """Wait until the agent is gone; returns how."""

    async def close(self) -> None:
        """End it politely, and all that it started."""


EngineFactory = Callable[[EventSink], Engine]
