"""P7: whether pictures in a prompt reach the model.

Some agents advertise pictures and deliver none: gemini-cli is seen to do so (real-agents.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...acp.results import capabilities
from ..ends import in_words, said, stop_reason
from ..pictures import named_in, picture
from ..probe import Finding, probe
from ..prompts import COLOUR, SEVERAL, TWO_TONE, WHICH
from ..subject import Subject
from ..turns import Answer, Turn

ANSWER_SECONDS = 120.0
NOT_ADVERTISED = Finding("absent", "promptCapabilities.image is not true: no picture was sent")
COLOURS = "the colours that the answer names"


@probe(
    "Does it see a picture of a single pixel?",
    sends="a red PNG of 1 × 1 pixel, and the question which colour it is",
    looks_at=COLOURS,
    prompts=1,
)
async def one_pixel(agent: Subject) -> Finding:
    return await _named(agent, ["red"], picture("red", size=1), COLOUR)


@probe(
    "Does it see what is where?",
    sends="a PNG of 64 × 64 pixels, red above and blue below, and the question what is where",
    looks_at=COLOURS,
    prompts=1,
)
async def two_tone(agent: Subject) -> Finding:
    return await _named(agent, ["red", "blue"], picture("red", "blue"), TWO_TONE)


@probe(
    "Does it see several pictures, in their order?",
    sends="a blue, a red and a green PNG, and the question which colours they are",
    looks_at=COLOURS,
    prompts=1,
)
async def several(agent: Subject) -> Finding:
    colours = ["blue", "red", "green"]
    return await _named(agent, colours, *map(picture, colours), SEVERAL)


@probe(
    "Does a picture stay at its place among texts?",
    sends="“Image A:”, a red PNG, “Image B:”, a blue one, and the question which is blue",
    looks_at="the letter that the answer names",
    prompts=1,
)
async def among_texts(agent: Subject) -> Finding:
    parts = ("Image A:", picture("red"), "Image B:", picture("blue"), WHICH.format(colour="blue"))
    shown = await _shown(agent, *parts)
    if shown is None:
        return NOT_ADVERTISED
    turn, answer = shown
    letters = sorted(set(re.findall(r"\b[AB]\b", said(turn, answer))))
    facts = {"letters": letters, "stopReason": stop_reason(answer)}
    if letters == ["B"]:
        return Finding("pass", "it names B, which is right", facts)
    return Finding("fail", f"it should name B; {in_words(turn, answer)}", facts)


async def _named(agent: Subject, right: list[str], *parts: str | Mapping[str, Any]) -> Finding:
    shown = await _shown(agent, *parts)
    if shown is None:
        return NOT_ADVERTISED
    turn, answer = shown
    named = named_in(said(turn, answer))
    facts = {"named": named, "stopReason": stop_reason(answer)}
    if named == right:
        return Finding("pass", f"it names {', '.join(named)}, which is right", facts)
    return Finding("fail", f"it should name {', '.join(right)}; {in_words(turn, answer)}", facts)


async def _shown(agent: Subject, *parts: str | Mapping[str, Any]) -> tuple[Turn, Answer] | None:
    """A turn with pictures, ended; None where the build does not take any."""
    wire = await agent.wire()
    if not capabilities(agent.hello).image:
        return None
    turn = wire.prompt(await agent.session(), *parts)
    return turn, await turn.answer(ANSWER_SECONDS)
