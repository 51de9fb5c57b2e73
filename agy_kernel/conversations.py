"""The conversations of one kernel, one with each agent that is asked, and what outlives them."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_core.paths import jupyter_data_dir

from .acp.connection import Connection
from .acp.tape import Tape
from .agents import catalogue
from .context import Context, notebook_folder
from .conversation.conversation import Conversation
from .conversation.engine import Engine, EventSink
from .conversation.store import Home, Saved, Store, Told
from .errors import SettingsError
from .events import MODE
from .kernels import runs_elsewhere, this_kernel

if TYPE_CHECKING:
    from .configuration import Configuration


class Conversations:
    """The conversations of one kernel.

    Args:
        configuration: the settings.
        context: what each session was told.
        notebook: tells the notebook's path; empty where it is not known.
        room: awaited between reads, to hold a fast agent back.
    """

    def __init__(
        self,
        configuration: Callable[[], Configuration],
        context: Context,
        notebook: Callable[[], str],
        room: Callable[[int], Awaitable[None]],
    ) -> None:
        self._configuration, self._context = configuration, context
        self._notebook, self._room = notebook, room
        self._known: dict[str, tuple[Home, Conversation]] = {}
        self._rungs: dict[str, str] = {}
        self._remembering = threading.Lock()
        self.warnings: list[str] = []

    @cached_property
    def store(self) -> Store:
        """What is remembered of sessions, by all kernels."""
        return Store(
            Path(jupyter_data_dir()) / "agy_kernel" / "sessions.json", self.warnings.append
        )

    @cached_property
    def tape(self) -> Tape:
        """The record of the wire."""
        return Tape(self._configuration().settings.tape)

    @property
    def all(self) -> list[Conversation]:
        """Those that anybody has needed, the last one last."""
        return [conversation for _, conversation in self._known.values()]

    def with_agent(self, agent: str = "") -> Conversation:
        """The conversation with an agent, which is started by the first prompt.

        Args:
            agent: a name from the catalogue or a command line; empty for the settings'.

        Raises:
            AgentNotFound: it is not installed.
            SettingsError: it is neither.
        """
        name = agent or self._configuration().settings.agent
        if name not in self._known:
            self._known[name] = self._new(name)
        return self._known[name][1]

    def home(self, conversation: Conversation) -> Home:
        """Where a conversation lives."""
        return next(home for home, known in self._known.values() if known is conversation)

    def remember(self, conversation: Conversation) -> None:
        """Keep what has to outlive this kernel: a prompt goes out, or a turn is over."""
        with self._remembering:  # from two threads; what is kept last is what is known last
            if (session_id := conversation.session_id) is None:
                return
            home = self.home(conversation)
            # A mode may allow more than was asked for: it is not chosen again in another kernel.
            wishes = {what: value for what, value in conversation.wishes.items() if what != MODE}
            told = self._context.told(home.agent, session_id)
            title, kernel = conversation.title or "", this_kernel()
            saved = Saved(home, session_id, title, told, wishes, kernel=kernel)
            self.store.remember(saved, self._rungs)

    def is_remembered(self, conversation: Conversation) -> bool:
        """Whether a conversation's session has had a prompt, of this or an earlier kernel."""
        home, session_id = self.home(conversation), conversation.session_id or ""
        return self.store.find(home.engine, home.agent, session_id) is not None

    def resumed(self, conversation: Conversation) -> int | None:
        """A session was opened again that the person named; the other kernel that uses it, too."""
        home, session_id = self.home(conversation), conversation.session_id or ""
        saved = self.store.find(home.engine, home.agent, session_id)
        if saved is not None and self._context.told(home.agent, session_id) == Told():
            self._context.was_told(home.agent, session_id, saved.told)
        self.remember(conversation)
        return runs_elsewhere(saved.kernel) if saved is not None else None

    def take_warnings(self) -> list[str]:
        """What went wrong with what is remembered; asked again, it is nothing."""
        warnings, self.warnings[:] = list(self.warnings), []
        return warnings

    def _earlier(self, home: Home) -> Saved | None:
        """The session to go on with: the last one that no other kernel is using."""
        pids: list[int] = []
        for saved in self.store.at(home):
            if (pid := runs_elsewhere(saved.kernel)) is None:
                return saved
            pids.append(pid)
        if pids:
            self.warnings.append(
                f"Another kernel of this notebook (process {pids[0]}) uses its session, so a new "
                "one begins here."
            )
        return None

    def _new(self, agent: str) -> tuple[Home, Conversation]:
        settings = self._configuration().settings
        try:
            launch = catalogue.find(agent, settings.acp_bin)
        except SettingsError as error:
            source = self._configuration().origins.get("agent")
            is_set = source is not None and agent == settings.agent
            raise SettingsError(f"{source}: {error}" if is_set else str(error)) from None
        home = Home(settings.engine, agent, notebook_folder(), self._notebook())
        saved = self._earlier(home)
        for build, rung in self.store.rungs.items():
            self._rungs.setdefault(build, rung)
        if saved is not None:
            self._context.was_told(agent, saved.session_id, saved.told)

        def make_engine(on_event: EventSink) -> Engine:
            now = self._configuration().settings
            return Connection(
                launch,
                home.folder,
                on_event,
                auth=now.auth,
                start_timeout=now.start_timeout,
                servers=now.mcp,
                gate=self._room,
                tape=self.tape,
            )

        return home, Conversation(
            make_engine,
            home.folder,
            launch.name,
            session_id=saved.session_id if saved else None,
            wishes=dict(saved.wishes) if saved else None,
            rungs=self._rungs,
        )
