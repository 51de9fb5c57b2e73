"""A prompt and what comes of it, frame by frame."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from ..acp.fields import as_mapping, mapping, mappings, text
from ..errors import RequestFailed
from ..tapes.arrived import is_departure
from ..tapes.reading import TapeError
from .recording import Recording

CANCELLED = {"outcome": {"outcome": "cancelled"}}
Allow = Callable[[Mapping[str, Any]], bool]
"""Whether a tool call, as the agent asks about it, is what the probe has asked for."""


class Answer:
    """The answer to a request: a result, an error, or nothing within the time that was given.

    Args:
        answered: where it comes; None where nothing was asked.
        seconds: it took so long; where there is none, so long was waited.
    """

    def __init__(self, answered: asyncio.Future[Any] | None, seconds: float) -> None:
        self.seconds = seconds
        self.is_silent = answered is None or not answered.done()
        failed = None if answered is None or self.is_silent else answered.exception()
        self.error = failed if isinstance(failed, RequestFailed) else None
        self.result: Any = None
        if answered is not None and self.is_result:
            self.result = answered.result()

    @property
    def fields(self) -> Mapping[str, Any]:
        """The result's fields; none where it is no object, or there is none."""
        return as_mapping(self.result)

    @property
    def is_result(self) -> bool:
        """Whether it is a result."""
        return not self.is_silent and self.error is None

    @property
    def words(self) -> str:
        """What it was, for a sentence."""
        if self.error is not None:
            return f"error {self.error}"
        return f"no answer in {self.seconds:g} s" if self.is_silent else "an answer"


class Request:
    """A request that was sent.

    Args:
        number: its id on the wire.
        answered: its answer.
        recording: what passes on the wire, and when.
    """

    def __init__(self, number: int, answered: asyncio.Future[Any], recording: Recording) -> None:
        self.number, self._answered, self._recording = number, answered, recording
        self.began = recording.now()

    @property
    def is_answered(self) -> bool:
        """Whether its answer has come."""
        return self._answered.done()

    async def answer(self, within: float) -> Answer:
        """Wait for the answer, for so many seconds.

        Raises:
            AgentError: the agent has ended.
            TapeError: a tape is played that has no such request.
        """
        begins = self._recording.now()
        await self._wait(within)
        if not self._answered.done():
            await self._recording.caught_up(time=begins + within)
        if not self._answered.done():
            return Answer(self._answered, within)
        failed = self._answered.exception()
        if failed is not None and not isinstance(failed, RequestFailed):
            raise failed
        if failed is not None and self._recording.is_replay and is_departure(failed):
            raise TapeError(failed.message)
        ended = self._recording.answered_at(self.number)
        # A replay answers at once what the agent has answered when it was too late.
        if ended - begins > within:
            return Answer(None, within)
        return Answer(self._answered, ended - self.began)

    async def _wait(self, within: float) -> None:
        """Wait for the answer, unless a replay has nothing more to say."""
        ends = asyncio.create_task(self._recording.all_came.wait(), name="the tape's end")
        try:
            waits = (self._answered, ends)
            await asyncio.wait(waits, timeout=within, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ends.cancel()


class Turn(Request):
    """A prompt that was sent.

    Args:
        session_id: where.
        allow: which tool calls are allowed, once; what is asked besides is refused.
        holds: whether permission requests stay open until ``withdraw``.
    """

    def __init__(  # what was sent, and how what is asked is answered
        self,
        number: int,
        answered: asyncio.Future[Any],
        recording: Recording,
        session_id: str,
        allow: Allow,
        holds: bool,
    ) -> None:
        super().__init__(number, answered, recording)
        self.session_id, self._allow, self._holds = session_id, allow, holds
        self._is_withdrawn = False
        self._news = asyncio.Event()
        self._open: list[asyncio.Future[Any]] = []
        self.first_text: float | None = None
        self.updates: list[Mapping[str, Any]] = []
        self.asked: list[Mapping[str, Any]] = []
        self.given: list[str] = []
        answered.add_done_callback(lambda _: self._news.set())

    # -- what came

    def of_kind(self, *kinds: str) -> list[Mapping[str, Any]]:
        """The updates of these kinds, in order."""
        return [update for update in self.updates if text(update, "sessionUpdate") in kinds]

    @property
    def chunks(self) -> list[str]:
        """The pieces of the agent's message, as they came."""
        contents = (mapping(u, "content") for u in self.of_kind("agent_message_chunk"))
        return [text(c, "text") for c in contents if text(c, "text")]

    @property
    def text(self) -> str:
        """The agent's message."""
        return "".join(self.chunks)

    async def until(self, came: Callable[[Turn], bool], within: float) -> bool:
        """Wait until something has come; false where it has not, in time or before the end."""
        begins = self._recording.now()
        try:
            async with asyncio.timeout(within):
                while not came(self) and not self.is_answered:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            await self._recording.caught_up(time=begins + within)
        return came(self)

    # -- what the agent says and asks

    def take(self, update: Mapping[str, Any]) -> None:
        """An update has come."""
        self.updates.append(update)
        if self.first_text is None and text(update, "sessionUpdate") == "agent_message_chunk":
            self.first_text = self._recording.now() - self.began
        self._news.set()

    async def answer_permission(self, params: Mapping[str, Any]) -> Any:
        """Answer a permission request; waits where the turn holds them open."""
        self.asked.append(params)
        self._news.set()
        if self._is_withdrawn:
            return self._cancel()
        if self._holds:
            held: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self._open.append(held)
            return await held
        return self._decide(params)

    def withdraw(self) -> None:
        """Answer every open permission request with "cancelled", and those that will come."""
        self._is_withdrawn = True
        for held in self._open:
            if not held.done():
                held.set_result(self._cancel())

    def _decide(self, params: Mapping[str, Any]) -> Any:
        wanted = "allow_once" if self._allow(mapping(params, "toolCall")) else "reject_once"
        options = mappings(params, "options")
        found = next((text(o, "optionId") for o in options if text(o, "kind") == wanted), "")
        if not found:
            return self._cancel()
        self.given.append(found)
        return {"outcome": {"outcome": "selected", "optionId": found}}

    def _cancel(self) -> Any:
        self.given.append("cancelled")
        return CANCELLED


def blocks(*parts: str | Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Content blocks; a string stands for a text block."""
    return [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts]
