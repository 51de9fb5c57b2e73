"""What the agent asks of us: permissions, forms and links; everything else we do not serve."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..events import Asked, Event
from ..questions import Answer, Question
from .elicitation import elicitation
from .elicitation import outcome as elicited
from .fields import Raw, text
from .serving import MethodNotFound
from .updates import question

Outcome = dict[str, Any]


class Asker:
    """Turns requests of the agent into questions, and their answers into results.

    Args:
        on_event: called with session id and ``Asked``; the session is empty where the request
            belongs to none.
        prompts: the request id of each session's running prompt.
    """

    def __init__(self, on_event: Callable[[str, Event], None], prompts: Mapping[str, int]) -> None:
        self._on_event, self._prompts = on_event, prompts
        self._open: set[Question] = set()
        self._answered_at = 0.0

    @property
    def waited_until(self) -> float:
        """When somebody was last being asked, which is now while somebody is; monotonic seconds."""
        return time.monotonic() if self._open else self._answered_at

    def serve(self, method: str, params: Any) -> Awaitable[Outcome]:
        """Ask; in wire order, before anything that comes after the request.

        Raises:
            MethodNotFound: nothing that we serve.
            RequestFailed: it asks for something that cannot be.
        """
        if not isinstance(params, dict):
            raise MethodNotFound(method)
        if method == "session/request_permission":
            return self._ask(text(params, "sessionId"), question(params), _permitted)
        if method == "elicitation/create":
            return self._ask(self._session_of(params), elicitation(params), elicited)
        raise MethodNotFound(method)

    def _session_of(self, params: Raw) -> str:
        """An elicitation belongs to a session, or to a request, which may be our prompt."""
        request_id = params.get("requestId")
        asking = (session for session, prompt in self._prompts.items() if prompt == request_id)
        return text(params, "sessionId") or next(asking, "")

    def _ask(
        self, session_id: str, asked: Question, as_result: Callable[[Answer], Outcome]
    ) -> Awaitable[Outcome]:
        self.put(session_id, asked)
        return self._answered(asked, as_result)

    def put(self, session_id: str, asked: Question) -> None:
        """Ask something that is no request of the agent's; the answer is the question's reply."""
        self._open.add(asked)
        asked.reply.add_done_callback(lambda _: self._close(asked))
        self._on_event(session_id, Asked(asked))

    def _close(self, asked: Question) -> None:
        self._answered_at = time.monotonic()
        self._open.discard(asked)

    async def _answered(self, asked: Question, as_result: Callable[[Answer], Outcome]) -> Outcome:
        try:
            return as_result(await asyncio.shield(asyncio.wrap_future(asked.reply)))
        except asyncio.CancelledError:
            asked.answer(Answer(None, by="agent", why="The agent does not wait for it any more."))
            raise


def _permitted(answer: Answer) -> Outcome:
    if answer.option is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": answer.option.id}}
