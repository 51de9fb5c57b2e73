"""An agent as it presents itself: who it is, what it can do, and how one signs in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """Who the agent says it is."""

    name: str = ""
    title: str = ""
    version: str = ""

    @property
    def label(self) -> str:
        """What a person calls it."""
        return self.title or self.name or "agent"


@dataclass(frozen=True, slots=True)
class AuthMethod:
    """A way to sign in.

    Args:
        id: to be sent back as it is.
        name: what the person reads.
        description: more about it.
        variables: the environment variables that it needs, if told.
        type: ``agent`` (it does all by itself), ``terminal`` (a command of the person's),
            ``env_var``, or unknown.
        args: what a ``terminal`` method adds to the agent's own command.
        env: what it adds to the environment, name and value.
        link: where to get what ``env_var`` needs.
    """

    id: str
    name: str
    description: str = ""
    variables: tuple[str, ...] = ()
    type: str = "agent"
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    link: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the agent says it can do."""

    load_session: bool = False
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    mcp_http: bool = False
    mcp_sse: bool = False
    logout: bool = False
    sessions: frozenset[str] = frozenset()
    """Of ``list``, ``resume``, ``close``, ``fork``, ``delete``: what it says that it has."""
