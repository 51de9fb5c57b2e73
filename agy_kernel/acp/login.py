"""A sign-in in a browser that the agent begins, whichever way it tells of the page.

Antigravity RC01 writes ``Open the following link to authenticate the ACP server: URL`` to stdout
and 1.2.1 to stderr, or opens a browser; it does so for ``authenticate``, and inside ``session/new``
where a method was chosen before (antigravity.md, "Auth, settings, paths"; public report 51).
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ..errors import AuthenticationRequired, RequestFailed
from ..events import Event, Notice
from ..questions import Answer, Question, SignInPage
from .callback import Callback, NotDelivered, callback_of, is_page
from .masks import masked
from .signin import AUTHENTICATION_REQUIRED

T = TypeVar("T")
LINE = re.compile(r"Open the following link to authenticate[^:\n]{0,80}:\s*(\S+)")
LISTENS = 300.0  # seconds
REMEMBERED = 8
NOBODY = RequestFailed(AUTHENTICATION_REQUIRED, "Signing in needs a person and a browser")


class Login:
    """Asks the person to sign in, while a request waits for that.

    Args:
        ask: puts a question to whoever waits in a session; empty for no session.
        tell: tells an event there.
        required: the error for a sign-in that was refused.
    """

    def __init__(
        self,
        ask: Callable[[str, Question], None],
        tell: Callable[[str, Event], None],
        required: Callable[[RequestFailed], AuthenticationRequired],
    ) -> None:
        self._ask, self._tell, self._required = ask, tell, required
        self._waiting: str | None = None
        """The session of the request that waits, empty for none yet; None where none waits."""
        self._refused: asyncio.Future[None] | None = None
        self._early, self._early_at = "", 0.0
        self._asked: set[str] = set()
        self._past: deque[str] = deque(maxlen=REMEMBERED)
        self._open: SignInPage | None = None
        self._delivery: asyncio.Task[None] | None = None

    # -- the ways in which an agent tells

    def heard_line(self, line: str) -> None:
        """Take a line that the agent wrote for people."""
        if (found := LINE.search(line)) and is_page(found[1]):
            self._begin(found[1])

    def opened_page(self, url: str) -> None:
        """Take the address of a page that the agent wanted to be opened."""
        if not is_page(url):
            return
        if self._waiting and callback_of(url) is None:
            words = f"The agent wants this page to be opened in a browser: {masked(url)}"
            self._tell(self._waiting, Notice(words))
        else:
            self._begin(url)

    # -- the request that waits

    async def during(self, request: Awaitable[T], session_id: str = "") -> T:
        """Wait for the answer to a request, and ask the person to sign in meanwhile.

        Args:
            session_id: of the prompt that it is; empty for what comes before a session.

        Raises:
            AuthenticationRequired: nobody can or wants to sign in, so there is no use in waiting;
                a prompt is waited for all the same.
        """
        waiting = asyncio.ensure_future(request)
        refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting, self._refused = session_id, None if session_id else refused
        try:
            self._begin_what_came_early()
            await _first(waiting, refused)
            if not waiting.done():
                raise self._required(NOBODY)
            return await waiting
        finally:
            self._waiting = self._refused = None
            self._settle(waiting)
            waiting.cancel()

    def _settle(self, request: asyncio.Future[T]) -> None:
        """The request has an answer, or is given up: the page leads nowhere any more."""
        page, self._open = self._open, None
        self._past.extend(self._asked)
        self._asked.clear()
        if page is not None:
            failed = not request.done() or request.cancelled() or request.exception() is not None
            why = "it came to nothing" if failed else ""
            page.answer(Answer(None, "agent", why, None if failed else {}))

    # -- asking

    def _begin_what_came_early(self) -> None:
        early, self._early = self._early, ""
        if early and time.monotonic() - self._early_at < LISTENS:
            self._begin(early)

    def _begin(self, url: str) -> None:
        if self._waiting is None:
            if url not in self._past:  # told in two ways, and done already
                self._early, self._early_at = url, time.monotonic()
        elif url not in self._asked:
            self._asked.add(url)
            self._show(url, self._waiting)

    def _show(self, url: str, session_id: str) -> None:
        callback = callback_of(url)
        page = (
            SignInPage(url, LISTENS, callback.listener, callback.refusal)
            if callback is not None
            else SignInPage(url, LISTENS)
        )
        before, self._open = self._open, page
        if before is not None:
            before.answer(Answer(None, "agent", "the agent has begun anew"))
        loop = asyncio.get_running_loop()
        page.reply.add_done_callback(
            lambda reply: loop.call_soon_threadsafe(self._answered, page, callback, reply.result())
        )
        self._ask(session_id, page)

    def _answered(self, page: SignInPage, callback: Callback | None, answer: Answer) -> None:
        if page is not self._open:
            return
        if answer.accepted and page.pasted and callback is not None:
            delivery = self._deliver(callback, page.pasted)
            self._delivery = asyncio.create_task(delivery, name="agy callback")
        elif not answer.accepted:
            self._give_up()

    async def _deliver(self, callback: Callback, pasted: str) -> None:
        try:
            await asyncio.to_thread(callback.deliver, pasted)
        except NotDelivered as error:
            words = f"The address could not be handed over: {error}."
            self._tell(self._waiting or "", Notice(words, "warning"))
            self._give_up()

    def _give_up(self) -> None:
        if self._refused is not None and not self._refused.done():
            self._refused.set_result(None)


async def _first(*futures: asyncio.Future[T] | asyncio.Future[None]) -> None:
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
