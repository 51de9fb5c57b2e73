"""Pictures in a prompt: the verdicts follow what an agent names."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from agy_kernel.probes.pictures import named_in, picture, png
from tests.agents.scripted import Step, expect, fail, hello, new_session, turn
from tests.probes.asked import found, script, verdicts

SEES = {"agentCapabilities": {"promptCapabilities": {"image": True}}}


def seeing(*answers: str) -> str:
    """An agent that sees pictures, and answers the prompts that come."""
    sessions: list[list[Step]] = [
        [*new_session(f"s{n}"), *turn(words, session=f"s{n}")] for n, words in enumerate(answers)
    ]
    return script(hello(**SEES), *sessions)


def test_an_agent_that_sees_passes(tmp_path: Path) -> None:
    agent = seeing("Red", "Top: Red, Bottom: Blue", "Blue, red, green.", "B")
    told = found("images", agent, tmp_path)
    assert set(verdicts(told).values()) == {"pass"}
    assert {name: finding.words for name, finding in told.items()} == {
        "one_pixel": "it names red, which is right",
        "two_tone": "it names red, blue, which is right",
        "several": "it names blue, red, green, which is right",
        "among_texts": "it names B, which is right",
    }
    assert told["several"].facts == {"named": ["blue", "red", "green"], "stopReason": "end_turn"}
    assert told["among_texts"].facts == {"letters": ["B"], "stopReason": "end_turn"}


def test_an_agent_to_which_nothing_was_delivered_fails(tmp_path: Path) -> None:
    agent = seeing("I see no image.", "Top: Blue, Bottom: Red", "Blue, red", "A or B")
    told = found("images", agent, tmp_path)
    assert set(verdicts(told).values()) == {"fail"}
    assert told["one_pixel"].words == "it should name red; end_turn, and 'I see no image.'"
    assert told["two_tone"].facts["named"] == ["blue", "red"]
    assert told["among_texts"].facts["letters"] == ["A", "B"]


def test_what_is_not_advertised_is_not_sent(tmp_path: Path) -> None:
    told = found("images", script(hello()), tmp_path)
    assert set(verdicts(told).values()) == {"absent"}
    assert "promptCapabilities.image" in told["one_pixel"].words


def test_a_refused_picture_is_told_with_the_error(tmp_path: Path) -> None:
    refusal = [expect("session/prompt"), fail("session/prompt", -32602, "no images")]
    agent = script(hello(**SEES), new_session(), refusal)
    told = found("images", agent, tmp_path, "one_pixel")["one_pixel"]
    assert told.verdict == "fail"
    assert told.words == "it should name red; error no images (-32602), and no text"


@pytest.mark.parametrize("size", [1, 64])
def test_a_picture_is_a_png_that_others_read(size: int) -> None:
    image = Image.open(io.BytesIO(png("red", "blue", size=size))).convert("RGB")
    assert image.size == (size, size)
    assert image.getpixel((0, 0)) == (255, 0, 0)
    assert image.getpixel((size - 1, size - 1)) == ((255, 0, 0) if size == 1 else (0, 0, 255))
    halves = {(2048, (255, 0, 0)), (2048, (0, 0, 255))}
    assert set(image.getcolors() or ()) == ({(1, (255, 0, 0))} if size == 1 else halves)


def test_a_picture_is_the_same_bytes_everywhere() -> None:
    assert picture("red", size=1) == {
        "type": "image",
        "mimeType": "image/png",
        "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAMAAAAoyzS7AAAAA1BMVEX/AAAZ4gk3AAAADUlEQVR4"
        "AQECAP3/AAAAAgABfgUN0gAAAABJRU5ErkJggg==",
    }


def test_colours_are_named_once() -> None:
    assert named_in("Red. The image is RED; not greenish, but blue-ish, and blue.") == [
        "red",
        "blue",
    ]
