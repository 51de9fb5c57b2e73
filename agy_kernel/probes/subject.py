"""The build that is probed: over several starts, in a folder of its own, or as a tape has it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..acp.fields import as_mapping, text
from ..acp.results import auth_methods, capabilities
from ..acp.signin import SignIn, wants_sign_in
from ..signin import antigravity
from .probe import NotAsked
from .runs import Runs, Stage
from .turns import Answer
from .wire import MINIMAL, Wire

START_SECONDS = 120.0


class Subject(Runs):
    """What probes are put to that speak frame by frame."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._wire: Wire | None = None
        self._mute = self._opens_none = ""
        self.hello: Mapping[str, Any] = {}

    # -- life

    async def wire(self) -> Wire:
        """The running agent, which has said hello; started where it is not there."""
        if self._wire is None or not self._wire.alive:
            await self.start()
        assert self._wire is not None
        if not self._wire.hello.is_result:
            raise NotAsked(f"initialize got {self._wire.hello.words}")
        return self._wire

    async def start(self, hello: Mapping[str, Any] | None = MINIMAL) -> Wire:
        """Start the agent anew, the one before having been ended politely.

        Args:
            hello: the params of ``initialize``; None sends none.

        Raises:
            AgentError: it cannot be started, or ends at once.
            NotAsked: it has kept silent before.
            TapeError: the tape that is played has no such start.
        """
        if self._mute:
            raise NotAsked(self._mute)
        await self.stop()
        launch, recording = self._new_run()
        wire = Wire(launch, str(self.folder), recording)
        self._wire = await wire.__aenter__()
        if hello is not None:
            answer = await wire.greet(START_SECONDS, hello)
            self.hello = answer.fields or self.hello
            self._mute = f"initialize got {answer.words}" if answer.is_silent else ""
        return wire

    async def stop(self) -> None:
        """End the agent, politely at first, and whatever it started."""
        wire, self._wire = self._wire, None
        if wire is not None:
            await wire.recording.caught_up()
            await wire.__aexit__()
            wire.recording.close()

    async def settle(self) -> None:
        """Leave nothing running that the next probe would hear of."""
        if self._wire is not None and (self._wire.is_busy or not self._wire.alive):
            await self.stop()

    # -- sessions

    async def session(self, within: float = 60.0) -> str:
        """A new session's id, in the folder; signed in where that needs no person.

        Raises:
            NotAsked: none can be had.
        """
        if self._opens_none:
            raise NotAsked(self._opens_none)
        answer = await self.open("session/new", {}, within)
        if session_id := text(answer.fields, "sessionId"):
            return session_id
        said = f"no session could be opened: {answer.words}"
        # It is not waited for as long again by every probe.
        self._opens_none = said if answer.is_silent else ""
        raise NotAsked(said)

    async def open(self, method: str, params: Mapping[str, Any], within: float = 60.0) -> Answer:
        """``session/new``, ``load`` or ``resume``, signed in where that needs no person.

        Args:
            method: which.
            params: what it takes besides ``cwd`` and ``mcpServers``, which may be among them.
            within: seconds for the answer.
        """
        wire = await self.wire()
        params = {"cwd": str(self.folder), "mcpServers": [], **params}
        answer = await wire.ask(method, params, within)
        if answer.error is None or not wants_sign_in(answer.error):
            return answer
        method_id = self.unattended_method()
        if method_id is None:
            said = answer.error.message
            raise NotAsked(f"it wants a sign-in first: {said}. `%agy auth` signs in")
        await wire.ask("authenticate", {"methodId": method_id}, within)
        return await wire.ask(method, params, within)

    def unattended_method(self) -> str | None:
        """The sign-in method whose variables are all set; None where a person has to sign in."""
        return self.observe("sign-in method", self._method_without_person) or None

    def _method_without_person(self) -> str:
        env = {**os.environ, **self._stage.launch.env}
        offered = auth_methods(self.hello)
        # Google's server does not tell what its methods need; of some, one of two groups will do.
        known = antigravity.NEEDS if self.info.get("name") == antigravity.SERVER else {}
        for method in offered:
            if any(all(map(env.get, names)) for names in known.get(method.id, ())):
                return method.id
        return SignIn(offered, self._stage.launch.auth).method(env) or ""

    def needs(self, capability: str) -> None:
        """See whether the build advertises something.

        Args:
            capability: ``load``, or a name in ``sessionCapabilities``.

        Raises:
            NotAsked: it does not.
        """
        told = capabilities(self.hello)
        if not (told.load_session if capability == "load" else capability in told.sessions):
            raise NotAsked(f"session/{capability} is not advertised")

    @property
    def info(self) -> Mapping[str, Any]:
        """Who it says it is: ``name``, ``title``, ``version``."""
        return as_mapping(self.hello.get("agentInfo"))
