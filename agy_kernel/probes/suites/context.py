"""What is sent along with a prompt: whether embedded resources and links reach the model."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from ...acp.results import capabilities
from ..calls import asked_about, calls_of
from ..ends import in_words, said, stop_reason
from ..probe import Finding, Verdict, probe
from ..prompts import LINKED, SECRET
from ..subject import Subject

ANSWER_SECONDS = 120.0
URI, OTHER_URI = "file:///notes/secret.txt", "file:///notes/weather.txt"
SAYS = "The secret word is {word}."
LINKED_FILE = "linked.txt"
NOT_ADVERTISED = "promptCapabilities.embeddedContext is not true: no resource was sent"


@probe(
    "Does the text of an embedded resource reach the model?",
    sends="a text resource with a secret word, and the question for the word",
    looks_at="whether the answer is the word",
    prompts=1,
)
async def text_resource(agent: Subject) -> Finding:
    resource = _resource(URI, text=SAYS.format(word="ORCHID"))
    return await _told(agent, "ORCHID", "fail", resource)


@probe(
    "Does the second of two resources?",
    sends="two text resources, the second with a secret word, and the question for the word",
    looks_at="whether the answer is the word",
    prompts=1,
)
async def two_resources(agent: Subject) -> Finding:
    first = _resource(OTHER_URI, text="It will rain tomorrow.")
    second = _resource(URI, text=SAYS.format(word="TULIP"))
    return await _told(agent, "TULIP", "fail", first, second)


@probe(
    "Does a resource that is sent as a blob?",
    sends="a text with a secret word as a base64 blob, and the question for the word",
    looks_at="whether the answer is the word",
    prompts=1,
)
async def blob_resource(agent: Subject) -> Finding:
    blob = base64.b64encode(SAYS.format(word="JASMINE").encode()).decode()
    return await _told(agent, "JASMINE", "fallback", _resource(URI, blob=blob))


@probe(
    "Is a file read that a link leads to?",
    sends="a resource_link to a file in the folder, and the question for the secret word in it; "
    "the file may be read",
    looks_at="whether the answer is the word, and which tool calls were made",
    prompts=1,
)
async def linked_file(agent: Subject) -> Finding:
    wire, session = await agent.wire(), await agent.session()
    path = agent.folder / LINKED_FILE
    path.write_text(SAYS.format(word="MAGNOLIA") + "\n")
    link = {"type": "resource_link", "uri": path.as_uri(), "name": LINKED_FILE}
    turn = wire.prompt(
        session,
        link,
        LINKED,
        allow=lambda asked: asked_about(wire, session, asked).is_only("read", path),
    )
    answer = await turn.answer(ANSWER_SECONDS)
    kinds = [call.kind for call in calls_of(wire.recording.frames, session).values()]
    facts = {
        "told": "MAGNOLIA" in said(turn, answer),
        "calls": kinds,
        "stopReason": stop_reason(answer),
    }
    if not facts["told"]:
        words = f"the link is not followed, so a text has to be embedded; {in_words(turn, answer)}"
        return Finding("fallback", words, facts)
    how = f"by a tool ({', '.join(kinds)})" if kinds else "without any tool call"
    return Finding("pass", f"the file is read, {how}", facts)


async def _told(
    agent: Subject, word: str, otherwise: Verdict, *resources: Mapping[str, Any]
) -> Finding:
    wire = await agent.wire()
    if not capabilities(agent.hello).embedded_context:
        return Finding("absent", NOT_ADVERTISED)
    turn = wire.prompt(await agent.session(), *resources, SECRET)
    answer = await turn.answer(ANSWER_SECONDS)
    facts = {"told": word in said(turn, answer).upper(), "stopReason": stop_reason(answer)}
    if facts["told"]:
        return Finding("pass", f"the answer is {word}, which is right", facts)
    return Finding(otherwise, f"the answer should be {word}; {in_words(turn, answer)}", facts)


def _resource(uri: str, **content: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", **content}}
