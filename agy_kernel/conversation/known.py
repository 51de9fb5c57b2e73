"""What is known of a conversation: its agent, its session, and what is chosen there."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import MutableMapping, Sequence
from typing import Any

from ..abilities import AgentInfo
from ..events import (
    Choices,
    Command,
    UsageChanged,
)
from .chosen import Chosen
from .engine import Engine, EngineFactory
from .lifecycle import Lifecycle
from .listener import Listener
from .opening import Openings
from .processes import Processes

GREETING = "The session that this notebook had before goes on. `%agy new` begins another."


class Known:
    """A conversation, as far as it can be looked at.

    Args:
        make_engine: makes an engine that is not started yet.
        cwd: absolute path of the folder that the agent works in.
        name: what to call the agent before it has said who it is.
        session_id: an earlier session to go on with; None begins a new one.
        wishes: what the user wanted there: id of the choice by what it is of.
        rungs: by agent build, the rung of the ladder that was needed to stop it; learned here.
    """

    def __init__(
        self,
        make_engine: EngineFactory,
        cwd: str,
        name: str,
        *,
        session_id: str | None = None,
        wishes: dict[str, str] | None = None,
        rungs: MutableMapping[str, str] | None = None,
    ) -> None:
        self.cwd, self.name = cwd, name
        self._listener = Listener(Chosen(wishes))
        self._listener.session_id = session_id
        self.life = Lifecycle()
        self._processes = Processes(make_engine, name, self._listener.hear, self._let_go, self.life)
        self._openings = Openings(self._listener, cwd)
        self._openings.greeting = GREETING if session_id else ""
        self._doubt = ""
        self.rungs = {} if rungs is None else rungs
        self._one_at_a_time = asyncio.Lock()
        self._callers: set[asyncio.Task[Any]] = set()

    @property
    def engine(self) -> Engine | None:
        """The agent that runs; None where none does."""
        return self._processes.engine

    @property
    def info(self) -> AgentInfo:
        """Who the agent says it is."""
        return self._processes.info

    @property
    def build(self) -> str:
        """The agent's name and version."""
        return f"{self.info.name} {self.info.version}".strip()

    @property
    def restarts(self) -> Sequence[str]:
        """Why processes were replaced, the last one last."""
        return self._processes.ends

    @property
    def bad_frames(self) -> Counter[str]:
        """How many frames of all its processes were passed over, by what was wrong with them."""
        return self.life.bad_frames + Counter(self.engine.bad_frames if self.engine else {})

    @property
    def last_words(self) -> str:
        """The end of the agent's stderr; of the last one where none runs."""
        return self.engine.last_words if self.engine is not None else self.life.last_words

    @property
    def is_open(self) -> bool:
        """Whether its session is open in the agent that runs."""
        return self._listener.is_open

    @property
    def session_id(self) -> str | None:
        """The session; None before there is one."""
        return self._listener.session_id

    @property
    def choices(self) -> dict[str, Choices]:
        """The models, modes and other options on offer, and what is chosen."""
        return self._listener.chosen.known

    @property
    def wishes(self) -> dict[str, str]:
        """What the user wants to be chosen."""
        return self._listener.chosen.wishes

    @property
    def commands(self) -> tuple[Command, ...]:
        """The agent's slash commands."""
        return self._listener.commands

    @property
    def title(self) -> str | None:
        """The session's title."""
        return self._listener.title

    @property
    def context(self) -> UsageChanged | None:
        """How full the context window is, as last reported."""
        return self._listener.context

    def _let_go(self) -> None:
        self._listener.is_open = False
