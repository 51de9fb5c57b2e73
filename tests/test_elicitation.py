"""``elicitation/create`` on the wire, with the SDK's schema as the independent judge."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from acp.schema import CreateElicitationResponse
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from agy_kernel.acp.elicitation import elicitation, outcome
from agy_kernel.display.yes_no import link_words
from agy_kernel.errors import RequestFailed
from agy_kernel.events import Asked, LinkVisited
from agy_kernel.forms import Field, Item
from agy_kernel.questions import Answer, Form, Link, Question
from tests.agents import scripted
from tests.agents.scripted import answer, expect, expect_response, opening, send
from tests.support.cells import (
    Cell,
    patient_stop,  # noqa: F401
    talking,
)
from tests.support.connections import Heard
from tests.support.leaks import nothing_is_left  # noqa: F401

PROMPTED = expect("session/prompt")
END_TURN = answer("session/prompt", {"stopReason": "end_turn"})
RESPONSE: TypeAdapter[Any] = TypeAdapter(CreateElicitationResponse)

PROPERTIES = {
    "s": {"type": "string", "enum": ["a", "b"], "default": "a"},
    "t": {"type": "string", "oneOf": [{"const": "x", "title": "X", "description": "the X"}]},
    "n": {"type": "integer", "minimum": 1, "title": "How many"},
    "f": {"type": "number", "maximum": 2.5, "default": 1},
    "b": {"type": "boolean", "default": True, "description": "Really?"},
    "m": {"type": "array", "items": {"type": "string", "enum": ["p", "q"]}, "minItems": 1},
    "u": {"type": "array", "items": {"anyOf": [{"const": "p", "title": "P"}]}, "default": ["p"]},
    "e": {"type": "string", "format": "email", "minLength": 3, "maxLength": 9, "pattern": "@"},
}
FORM = {
    "sessionId": "s1",
    "mode": "form",
    "message": "Which?",
    "requestedSchema": {
        "type": "object",
        "title": "Q",
        "properties": PROPERTIES,
        "required": ["s", "n"],
    },
}
LINK = {"mode": "url", "elicitationId": "e1", "url": "https://h/x", "message": "Authorize"}


def test_every_type_of_field_is_read() -> None:
    form = elicitation(FORM)
    assert isinstance(form, Form)
    assert (form.message, form.title) == ("Which?", "Q")
    assert form.fields == (
        Field("s", "choice", required=True, default="a", items=(Item("a", "a"), Item("b", "b"))),
        Field("t", "choice", items=(Item("x", "X", "the X"),)),
        Field("n", "integer", "How many", required=True, least=1),
        Field("f", "number", most=2.5, default=1),
        Field("b", "yes_no", description="Really?", default=True),
        Field("m", "choices", items=(Item("p", "p"), Item("q", "q")), least=1),
        Field("u", "choices", items=(Item("p", "P"),), default=["p"]),
        Field("e", least=3, most=9, pattern="@", format="email"),
    )


def test_a_link_is_read() -> None:
    link = elicitation({"requestId": 1, **LINK})
    assert isinstance(link, Link)
    assert (link.message, link.url, link.id) == ("Authorize", "https://h/x", "e1")


@pytest.mark.parametrize(
    "bad",
    [
        {**LINK, "url": "javascript:alert(1)"},
        {**LINK, "url": "file:///etc/passwd"},
        {**LINK, "url": "https://"},
        {**LINK, "url": "http://[bad"},
        {**LINK, "url": "https://evil.example\\@good.example/"},
        {**LINK, "url": "https://evil.example\\.good.example/"},
        {**LINK, "url": "https://good.example\t.evil.example/"},
        {**LINK, "url": "https://good.example\u202e.evil.example/"},
        {**LINK, "url": "https://good.example .evil.example/"},
        {**FORM, "mode": "telepathy"},
        {**FORM, "requestedSchema": {"properties": {str(n): {} for n in range(101)}}},
    ],
)
def test_what_cannot_be_asked_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(RequestFailed) as failed:
        elicitation(bad)
    assert failed.value.code == -32602


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"type": "colour"}, Field("x")),
        ({"type": "integer", "default": True, "minimum": "1"}, Field("x", "integer")),
        ({"type": "string", "enum": ["a", 5, None]}, Field("x", "choice", items=(Item("a", "a"),))),
        ({"type": "string", "default": 5, "maxLength": []}, Field("x")),
        ({"type": "boolean", "default": "yes"}, Field("x", "yes_no")),
    ],
)
def test_a_bad_value_is_as_good_as_none(fields: dict[str, Any], field: Field) -> None:
    form = elicitation({"mode": "form", "requestedSchema": {"properties": {"x": fields}}})
    assert isinstance(form, Form)
    assert form.fields == (field,)


def test_no_words_of_a_form_are_without_an_end() -> None:
    words = dict.fromkeys(("title", "description"), "x" * 1_000_000)
    fields = {"a": {**words, "type": "string", "oneOf": [{**words, "const": "v"}]}}
    schema = {**words, "properties": fields}
    form = elicitation({**words, "mode": "form", "message": "x" * 10**6, "requestedSchema": schema})
    assert isinstance(form, Form)
    assert len(repr(form.fields) + form.message + form.title + form.description) < 50_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "enum", "items", "oneOf", "anyOf", "const", "default", "minimum", "title"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(JSON, JSON)
def test_no_schema_raises(one: Any, other: Any) -> None:
    schema = {"properties": {"a": one, "b": other}, "required": one}
    form = elicitation({"mode": "form", "requestedSchema": schema})
    assert isinstance(form, Form)
    assert [field.name for field in form.fields] == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "result"),
    [
        (
            Answer(None, "you", values={"s": "a", "n": 2, "b": True, "m": ["p"]}),
            {"action": "accept", "content": {"s": "a", "n": 2, "b": True, "m": ["p"]}},
        ),
        (Answer(None, "you", values={}), {"action": "accept"}),
        (Answer(None, "you", declined=True), {"action": "decline"}),
        (Answer(None, "stop"), {"action": "cancel"}),
    ],
)
def test_an_answer_is_sent_as_the_schema_wants_it(given: Answer, result: dict[str, Any]) -> None:
    assert outcome(given) == result
    RESPONSE.validate_python(result)


# -- through the client


def create(request_id: object, **params: object) -> dict[str, Any]:
    return scripted.request(request_id, "elicitation/create", {**FORM, **params})


async def asked(heard: Heard) -> Question:
    event = await heard.until(lambda e: isinstance(e, Asked))
    assert isinstance(event, Asked)
    return event.question


async def test_the_answer_goes_back_and_the_turn_goes_on() -> None:
    script = [PROMPTED, send(create("q")), expect_response("q"), END_TURN]
    async with talking([*opening(), *script]) as talk:
        cell = talk.ask()
        (await asked(cell)).answer(Answer(None, "you", values={"s": "b", "n": 1}))
        await cell.end()
        assert talk.wire.answers()["q"]["result"] == {
            "action": "accept",
            "content": {"s": "b", "n": 1},
        }


@pytest.mark.usefixtures("patient_stop")
async def test_stop_cancels_what_is_asked() -> None:
    script = [PROMPTED, send(create("q")), expect_response("q"), END_TURN]
    async with talking([*opening(), *script]) as talk:
        cell = talk.ask()
        question = await asked(cell)
        await cell.stop()
        assert question.reply.result().by == "stop"
        assert talk.wire.answers()["q"]["result"] == {"action": "cancel"}


async def test_a_request_before_there_is_a_session_asks_the_turn_that_waits_for_it() -> None:
    new = opening()
    early = create("early", requestId=2)
    del early["params"]["sessionId"]
    at = next(i for i, step in enumerate(new) if "session/new" in str(step)) + 1
    script = [*new[:at], send(early), expect_response("early"), *new[at:], PROMPTED, END_TURN]
    async with talking(script) as talk:
        cell = talk.ask()
        (await asked(cell)).answer(Answer(None, "you", declined=True))
        await cell.end()
        assert talk.wire.answers()["early"]["result"] == {"action": "decline"}


async def test_what_was_done_at_a_link_is_told_to_the_cell_that_asked() -> None:
    link = scripted.request("q", "elicitation/create", {"sessionId": "s1", **LINK})
    done = {"method": "elicitation/complete", "params": {"elicitationId": "e1"}}
    script = [PROMPTED, send(link), expect_response("q"), send(done), END_TURN]
    async with talking([*opening(), *script]) as talk:
        cell: Cell = talk.ask()
        (await asked(cell)).answer(Answer(None, "you", values={}))
        await cell.end()
        await asyncio.wait_for(cell.until(lambda e: isinstance(e, LinkVisited)), 5)
        assert talk.wire.answers()["q"]["result"] == {"action": "accept"}


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://someone@one.example:8443/a?b=\\", "one.example"),
        ("https://gооgle.example/", "xn--ggle-55da.example, written gооgle.example"),  # noqa: RUF001
        ("https://" + "ö" * 80 + ".example/", "ö" * 80 + ".example"),
    ],
)
def test_a_link_names_the_host_that_a_browser_goes_to(url: str, host: str) -> None:
    link = elicitation({**LINK, "url": url})
    assert isinstance(link, Link)
    assert link_words(link).text.endswith(f"(at {host})")
