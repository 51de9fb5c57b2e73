"""What a person does to a conversation between turns: choose, resume, fork, sign in, end."""

from __future__ import annotations

import asyncio

from ..errors import CommandError, RequestFailed
from ..events import Event, Notice, SessionInfo
from .chosen import match
from .opening import METHOD_NOT_FOUND
from .readiness import Readiness, silent_turn
from .turn import Turn

FAREWELL = 0.3  # seconds for session/close, of the two that Jupyter gives a kernel to end


class Upkeep(Readiness):
    """A conversation, as far as commands change it."""

    async def choose(self, what: str, value: str) -> str:
        """Choose a model, a mode, or a value of another option.

        Args:
            what: ``model``, ``mode``, ``effort``, or the option's own id.
            value: the choice's id or name, or a part that only it has.

        Returns:
            The name of what is chosen now.

        Raises:
            CommandError: there is no such choice; names the nearest ones.
        """
        async with self._alone():
            engine, session_id = await self._ready(silent_turn())
            if (choices := self.choices.get(what)) is None:
                others = f" It offers: {', '.join(self.choices)}." if self.choices else ""
                raise CommandError(f"{engine.info.label} offers no choice of {what}.{others}")
            chosen = await engine.choose(session_id, what, choices, match(what, value, choices))
            self._listener.chosen.want(what, chosen)
            return chosen.name()

    # -- sessions

    def new_session(self) -> None:
        """Let the next prompt begin a new session; the agent will not remember this one."""
        self._listener.forget_session()
        self._processes.forgive()

    async def resume(self, session_id: str) -> tuple[Event, ...]:
        """Go on with an earlier session; returns what was said there, where the agent replays it.

        Raises:
            CommandError: the agent cannot; the session there was stays.
        """
        async with self._alone():
            engine = await self._running(turn := silent_turn())
            await self._openings.reopen(engine, session_id, self._waiting(turn))
            self.life.note(f"session opened again: {self.session_id}")
            await self._fulfil_wishes(engine)
            history, self._openings.history = self._openings.history, ()
            self._doubt = "it was opened again"
            return history

    async def fork(self) -> str:
        """Go on in a copy of the session; returns its id.

        Raises:
            RequestFailed: the agent cannot.
        """
        async with self._alone():
            engine, session_id = await self._ready(turn := silent_turn())
            await self._openings.fork(engine, session_id, self._waiting(turn))
            self.life.note(f"session forked: {session_id} to {self.session_id}")
            await self._fulfil_wishes(engine)
            return self.session_id or ""

    async def sessions(self) -> list[SessionInfo] | None:
        """The agent's own list of sessions in this folder; None where it keeps none."""
        async with self._alone():
            engine = await self._running(silent_turn())
            if "list" not in engine.capabilities.sessions:
                return None
            return await engine.list_sessions(self.cwd)

    async def close_session(self) -> None:
        """Close the session; it can be resumed where the agent keeps it.

        Raises:
            RequestFailed: the agent does not close sessions; it is let go of all the same.
        """
        async with self._alone():
            engine, session_id = self.engine, self.session_id
            is_open = self._listener.is_open
            self._listener.forget_session()
            if engine is not None and session_id is not None and is_open:
                await engine.close_session(session_id)

    async def delete_session(self, session_id: str) -> None:
        """Delete a session for good.

        Raises:
            CommandError: the agent cannot.
            RequestFailed: it does not want to.
        """
        async with self._alone():
            engine = await self._running(silent_turn())
            try:
                await engine.delete_session(session_id)
            except RequestFailed as error:
                if error.code != METHOD_NOT_FOUND:
                    raise
                raise CommandError(f"{engine.info.label} cannot delete sessions.") from None
            if session_id == self.session_id:
                self._listener.forget_session()

    # -- signing in

    async def authenticate(self, method_id: str, turn: Turn) -> None:
        """Sign in by a method of the agent; may take as long as a person does.

        Args:
            turn: is asked, and told what is waited for.

        Raises:
            AuthenticationRequired: nobody can or wants to sign in.
            RequestFailed: the agent refuses, or it came to nothing.
        """
        async with self._alone():
            engine = await self._running(turn)
            with self._no_listening_on(engine), self._listener.waits(turn):
                await self._waiting(turn)("signing in", engine.authenticate(method_id))

    async def logout(self) -> None:
        """Let the agent forget its sign-in, and with it the session.

        Raises:
            RequestFailed: the agent cannot.
        """
        async with self._alone():
            await (await self._running(silent_turn())).logout()
            self._listener.is_open = False

    # -- the process

    async def restart(self) -> None:
        """End the agent; the next prompt starts another and opens the session again."""
        async with self._alone():
            if (engine := self.engine) is not None:
                self._processes.replace(engine, Notice("The agent was started anew, as asked."))
            self._processes.forgive()

    async def close(self) -> None:
        """End the agent and everything of this conversation."""
        if (turn := self._listener.routes.current) is not None:
            turn.stop()
        for task in self._callers:
            task.cancel()
        async with self._one_at_a_time:
            await self._say_goodbye()
            await self._processes.close()

    async def _say_goodbye(self) -> None:
        engine, session_id = self.engine, self.session_id
        if engine is None or session_id is None or not (engine.alive and self._listener.is_open):
            return
        if "close" in engine.capabilities.sessions:
            closing = asyncio.create_task(engine.close_session(session_id), name="agy goodbye")
            await asyncio.wait((closing,), timeout=FAREWELL)
            closing.cancel()
            await asyncio.gather(closing, return_exceptions=True)
