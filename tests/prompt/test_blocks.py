"""The content blocks, held against the protocol's own models."""

from typing import Any

import pytest
from acp.schema import PromptRequest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.abilities import Capabilities
from agy_kernel.prompt.blocks import Block, Parcel, build, described
from agy_kernel.prompt.digest import Resource
from agy_kernel.prompt.images import Picture

ALL = Capabilities(image=True, embedded_context=True)
NONE = Capabilities()
PICTURE = Picture(b"png bytes", "image/png", "fig")
CELL = Resource("notebook:///a.ipynb#x", "Cell [1]\n```python\nx\n```", kind="cell")
FILE = Resource("file:///a.txt", "text", "text/plain", "file")
PARCEL = Parcel(
    "the prompt", "<instructions>", [CELL, FILE], [PICTURE, PICTURE], ["a broken picture"]
)


def checked(parcel: Parcel, capabilities: Capabilities) -> list[dict[str, Any]]:
    """The blocks, once the SDK has read them and found nothing that it does not know."""
    blocks: list[Block] = build(parcel, capabilities)[0]
    request = PromptRequest.model_validate({"sessionId": "s", "prompt": blocks})
    dumped = request.model_dump(mode="json", by_alias=True, exclude_none=True)["prompt"]
    assert dumped == blocks
    return blocks


def kinds(blocks: list[Block]) -> list[str]:
    return [block["type"] for block in blocks]


def test_images_then_resources_then_text() -> None:
    blocks = checked(PARCEL, ALL)
    assert kinds(blocks) == ["image", "image", "resource", "resource", "text", "text", "text"]
    assert blocks[0] == {"type": "image", "mimeType": "image/png", "data": "cG5nIGJ5dGVz"}
    assert blocks[3]["resource"] == {
        "uri": "file:///a.txt",
        "mimeType": "text/plain",
        "text": "text",
    }
    assert [block["text"] for block in blocks[4:]] == [
        "[A picture that you cannot see: a broken picture]",
        "<instructions>",
        "the prompt",
    ]
    assert build(PARCEL, ALL)[1] == []


def test_without_embedded_context_the_same_goes_as_fenced_text() -> None:
    blocks = checked(PARCEL, Capabilities(image=True))
    assert kinds(blocks) == ["image", "image", "text", "text", "text", "text"]
    assert blocks[2]["text"] == (
        "notebook:///a.ipynb#x\n````\nCell [1]\n```python\nx\n```\n````\n\n"
        "file:///a.txt\n```\ntext\n```"
    )


def test_without_images_there_is_a_notice_and_a_stand_in() -> None:
    blocks = checked(PARCEL, Capabilities(embedded_context=True))
    assert kinds(blocks) == ["resource", "resource", "text", "text", "text", "text", "text"]
    assert [block["text"] for block in blocks[2:5]] == [
        "[A picture that you cannot see: a broken picture]",
        "[A picture that you cannot see: fig]",
        "[A picture that you cannot see: fig]",
    ]
    notices = build(PARCEL, Capabilities(embedded_context=True))[1]
    assert notices == ["fig is not sent: this agent takes no images"] * 2


def test_a_prompt_alone() -> None:
    assert checked(Parcel("hello"), ALL) == [{"type": "text", "text": "hello"}]


def test_what_no_wire_can_carry_is_replaced() -> None:
    assert checked(Parcel("a\ud800b"), ALL) == [{"type": "text", "text": "a?b"}]


@pytest.mark.parametrize(
    ("parcel", "capabilities", "said"),
    [
        (PARCEL, ALL, "sent 1 cell, 1 file, 2 images, 0.0 kB"),
        (PARCEL, NONE, "sent 1 cell, 1 file, 0.0 kB"),
        (Parcel("x"), ALL, ""),
        (Parcel("x", "instructions"), ALL, ""),
        (Parcel("x", pictures=[PICTURE]), NONE, ""),
        (Parcel("x", resources=[Resource("u", "x" * 4_100)]), ALL, "sent 4.1 kB"),
        (
            Parcel("x", resources=[CELL] * 3, pictures=[PICTURE]),
            ALL,
            "sent 3 cells, 1 image, 0.1 kB",
        ),
        (
            Parcel("x", resources=[Resource("u", "é" * 500, kind="variable")]),
            ALL,
            "sent 1 variable, 1.0 kB",
        ),
    ],
)
def test_the_footer_says_what_went(parcel: Parcel, capabilities: Capabilities, said: str) -> None:
    assert described(parcel, capabilities) == said


RESOURCES = st.builds(
    Resource, st.sampled_from(["file:///a", "notebook:///b#c"]), st.text(min_size=1)
)


@given(
    st.builds(
        Parcel,
        st.text(st.characters()),
        st.text(),
        st.lists(RESOURCES, max_size=3),
        st.lists(st.builds(Picture, st.binary(), st.just("image/png"), st.text()), max_size=3),
        st.lists(st.text(), max_size=2),
    ),
    st.builds(Capabilities, image=st.booleans(), embedded_context=st.booleans()),
)
def test_any_parcel_is_a_prompt(parcel: Parcel, capabilities: Capabilities) -> None:
    blocks = checked(parcel, capabilities)
    order = ["image", "resource", "text"]
    assert kinds(blocks) == sorted(kinds(blocks), key=order.index)
