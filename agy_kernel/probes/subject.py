"""The build that is probed: over several starts, in a folder of its own, or as a tape has it."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ..acp.fields import as_mapping, text
from ..acp.process import Launch
from ..acp.results import auth_methods, capabilities
from ..acp.signin import SignIn, wants_sign_in
from ..signin import antigravity
from .probe import NotAsked
from .recording import Evidence, Recording, told_of_run
from .turns import Answer
from .wire import MINIMAL, Wire

T = TypeVar("T")
START_SECONDS = 120.0
BEGINNING, END = float("-inf"), float("inf")
Place = tuple[int, float]
"""The number of a start, from 1, and a place on its recording."""
ABOUT = "probing"
"""The note that a run begins with: which suite, whether live, and the thresholds."""


class Subject:
    """What probes are put to.

    Args:
        launch: how to start the agent.
        folder: where it works; nothing else is in there at first.
        tape: where everything is recorded; None for nowhere.
        replay: the tape to play in place of the agent.
        about: noted at each start.
    """

    def __init__(
        self,
        launch: Launch,
        folder: Path,
        tape: Path | None = None,
        replay: Path | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self._launch, self.folder = launch, folder
        self._tape, self._replay = tape, replay
        self._about = dict(about or {})
        self._wire: Wire | None = None
        self._recordings: list[Recording] = []
        self._seen_before: list[Evidence] = []
        self._once: dict[str, tuple[Any, tuple[Evidence, ...]]] = {}
        self._mute = ""
        self.hello: Mapping[str, Any] = {}

    # -- life

    @property
    def is_replay(self) -> bool:
        """Whether a tape is played, and no agent there."""
        return self._replay is not None

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
        number = len(self._recordings) + 1
        told = told_of_run(self._replay, number) if self._replay is not None else None
        recording = Recording(self._tape, told)
        wire = Wire(self._launch_of_run(number), str(self.folder), recording)
        self._wire = await wire.__aenter__()
        self._recordings.append(recording)
        recording.note(ABOUT, self._about)
        if hello is not None:
            answer = await wire.greet(START_SECONDS, hello)
            self.hello = answer.fields or self.hello
            # It is not waited for as long again by every probe.
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

    def _launch_of_run(self, number: int) -> Launch:
        if self._replay is None:
            return self._launch
        command = (sys.executable, "-m", "agy_kernel.cli", "replay", str(self._replay))
        return Launch("replay", (*command, "--run", str(number)))

    # -- sessions

    async def session(self, within: float = 60.0) -> str:
        """A new session's id, in the folder; signed in where that needs no person.

        Raises:
            NotAsked: none can be had.
        """
        answer = await self.open("session/new", {}, within)
        if session_id := text(answer.fields, "sessionId"):
            return session_id
        raise NotAsked(f"no session could be opened: {answer.words}")

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
        env = {**os.environ, **self._launch.env}
        offered = auth_methods(self.hello)
        # Google's server does not tell what its methods need; of some, one of two groups will do.
        known = antigravity.NEEDS if self.info.get("name") == antigravity.SERVER else {}
        for method in offered:
            if any(all(map(env.get, names)) for names in known.get(method.id, ())):
                return method.id
        return SignIn(offered, self._launch.auth).method(env) or ""

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

    # -- what is seen

    def observe(self, name: str, measure: Callable[[], T]) -> T:
        """See something that does not pass on the wire, and note it; of a replay, as it was noted.

        Args:
            name: what it is.
            measure: returns it; JSON.

        Raises:
            NotAsked: the tape that is played has no such note.
        """
        recording = self._recordings[-1]
        if not recording.is_replay:
            value = measure()
        else:
            try:
                value = recording.noted(name)
            except LookupError:
                raise NotAsked(f"the tape does not tell the {name}") from None
        recording.note(name, value)
        return value

    async def once(self, what: str, make: Callable[[], Awaitable[T]]) -> T:
        """What several probes look at, made by the first of them; all have its evidence."""
        if what not in self._once:
            begin = await self.here()
            value = await make()
            self._once[what] = value, self.between(begin, await self.here())
        else:
            self._seen_before += self._once[what][1]
        return self._once[what][0]  # type: ignore[no-any-return]  # of the same make

    async def here(self) -> Place:
        """Where everything is now: the same frame in a replay."""
        recordings = len(self._recordings)
        return recordings, await self._recordings[-1].part_ends() if recordings else BEGINNING

    def between(self, begin: Place, end: Place) -> tuple[Evidence, ...]:
        """What has passed between two places."""
        found: list[Evidence] = []
        for number in range(max(begin[0], 1), end[0] + 1):
            first = begin[1] if number == begin[0] else BEGINNING
            last = end[1] if number == end[0] else END
            found += self._recordings[number - 1].between(first, last)
        return tuple(found)

    async def probed(self, ask: Awaitable[T]) -> tuple[T, tuple[Evidence, ...]]:
        """Put a question; returns what was found, and all that has passed meanwhile."""
        self._seen_before = []
        begin = await self.here()
        found = await ask
        evidence = self.between(begin, await self.here())
        await self.settle()
        return found, (*self._seen_before, *evidence)

    def history(self) -> tuple[Evidence, ...]:
        """All that has passed, over all starts."""
        return tuple(frame for recording in self._recordings for frame in recording.frames)

    @property
    def info(self) -> Mapping[str, Any]:
        """Who it says it is: ``name``, ``title``, ``version``."""
        return as_mapping(self.hello.get("agentInfo"))
