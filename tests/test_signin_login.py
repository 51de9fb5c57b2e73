"""Which page is shown, to whom and how often, while a request waits for a sign-in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agy_kernel.acp.login import Login
from agy_kernel.errors import AuthenticationRequired
from agy_kernel.events import Event, Notice
from agy_kernel.questions import Answer, Question, SignInPage

LINE = "Open the following link to authenticate the ACP server: "
OAUTH = "https://accounts.example.org/auth?redirect_uri=http%3A%2F%2F127.0.0.1%3A{}%2F&state=s"
ONE, TWO = OAUTH.format(9), OAUTH.format(10)


class Person:
    """Whoever is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, SignInPage]] = []
        self.told: list[tuple[str, Event]] = []
        self.login = Login(self._ask, self._tell, lambda error: AuthenticationRequired(str(error)))

    def _ask(self, session_id: str, question: Question) -> None:
        assert isinstance(question, SignInPage)
        self.asked.append((session_id, question))

    def _tell(self, session_id: str, event: Event) -> None:
        self.told.append((session_id, event))

    @property
    def urls(self) -> list[str]:
        return [page.url for _, page in self.asked]

    @property
    def page(self) -> SignInPage:
        return self.asked[-1][1]

    async def during(self, agent: Callable[[], Any], session_id: str = "") -> Any:
        """A request, during which the agent does something, and then answers."""
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        waiting = asyncio.create_task(self.login.during(answer, session_id))
        await asyncio.sleep(0)
        agent()
        answer.set_result("answer")
        return await waiting


async def test_a_page_that_is_told_in_two_ways_is_shown_once() -> None:
    person = Person()

    def agent() -> None:
        person.login.heard_line(f"[info] {LINE}{ONE}")
        person.login.opened_page(ONE)

    assert await person.during(agent) == "answer"
    assert person.urls == [ONE]
    assert person.page.listener == "127.0.0.1:9"
    assert person.page.reply.result() == Answer(None, by="agent", values={})
    person.login.opened_page(ONE)  # it comes late, and is over
    await person.during(lambda: None)
    assert person.urls == [ONE]


async def test_another_page_takes_the_place_of_the_first() -> None:
    person = Person()

    def agent() -> None:
        person.login.heard_line(LINE + ONE)
        person.login.heard_line(LINE + TWO)

    assert await person.during(agent) == "answer"
    assert person.urls == [ONE, TWO]
    assert person.asked[0][1].reply.result().why == "the agent has begun anew"


async def test_a_page_that_came_early_is_shown_with_the_next_request() -> None:
    person = Person()
    person.login.heard_line(LINE + ONE)
    assert person.urls == []
    await person.during(lambda: None)
    assert person.urls == [ONE]


@pytest.mark.parametrize(
    "line",
    [
        f"Open {ONE}",
        f"{LINE}http://example.org/",
        f"{LINE}javascript:alert(1)",
        LINE,
        f"Open the following link to authenticate{'x' * 100}: {ONE}",
    ],
)
async def test_other_lines_are_none(line: str) -> None:
    person = Person()
    await person.during(lambda: person.login.heard_line(line))
    assert person.urls == []


async def test_who_cannot_sign_in_is_not_waited_for() -> None:
    person = Person()
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(person.login.during(answer))
    await asyncio.sleep(0)
    person.login.heard_line(LINE + ONE)
    person.page.answer(Answer(None, by="nobody", declined=True))
    with pytest.raises(AuthenticationRequired, match="needs a person and a browser"):
        await waiting
    assert answer.cancelled()


async def test_where_nobody_listens_any_more_it_is_said_and_not_waited_for() -> None:
    person = Person()
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(person.login.during(answer))
    await asyncio.sleep(0)
    person.login.heard_line(LINE + ONE)  # port 9, at which nobody listens
    assert person.page.paste("http://127.0.0.1:9/?code=c&state=s") == ""
    person.page.answer(Answer(None, by="you", values={}))
    with pytest.raises(AuthenticationRequired):
        await waiting
    ((_, notice),) = person.told
    assert isinstance(notice, Notice)
    assert notice.text.startswith("The address could not be handed over: nobody listens at")


async def test_in_a_turn_a_page_that_is_no_sign_in_is_only_told() -> None:
    person = Person()

    def agent() -> None:
        person.login.opened_page("https://example.org/docs?code=secret")
        person.login.opened_page(ONE)

    assert await person.during(agent, "s1") == "answer"
    words = "The agent wants this page to be opened in a browser: https://example.org/docs?code=…"
    assert person.told == [("s1", Notice(words))]
    assert [(session, page.url) for session, page in person.asked] == [("s1", ONE)]


async def test_a_prompt_goes_on_although_nobody_signs_in() -> None:
    person = Person()

    def agent() -> None:
        person.login.opened_page(ONE)
        person.page.answer(Answer(None, by="nobody", declined=True))

    assert await person.during(agent, "s1") == "answer"


async def test_a_request_that_is_given_up_takes_its_page_along() -> None:
    person = Person()
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(person.login.during(answer))
    await asyncio.sleep(0)
    person.login.heard_line(LINE + ONE)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert person.page.reply.result().why == "it came to nothing"
    assert answer.cancelled()
