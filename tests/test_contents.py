"""Resources and links: what they are called, how large they are, and nothing that runs."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agy_kernel.acp.contents import content
from agy_kernel.display.contents import block, line
from agy_kernel.display.place import Place
from agy_kernel.events import Content
from tests.support.renderers import RENDERERS, harm_in, text_of

PLACE = Place("/w")
BYTES = base64.b64encode(b"\x00" * 3_000).decode()


@pytest.mark.parametrize(
    ("wire", "says"),
    [
        (
            {
                "type": "resource_link",
                "uri": "file:///w/a.pdf",
                "name": "a.pdf",
                "title": "The paper",
                "mimeType": "application/pdf",
                "description": "all of it",
                "size": 1_234_567,
            },
            "link: The paper · a.pdf · application/pdf · 1.2 MB · all of it",
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///w/b.bin", "blob": BYTES}},
            "resource: b.bin · 3.0 kB",
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///etc/x", "text": "x"}},
            "resource: /etc/x",
        ),
        ({"type": "audio", "mimeType": "audio/wav"}, "audio: audio/wav"),
        ({"type": "hologram"}, "hologram: without a name"),
        ({}, "content: without a name"),
        ({"type": "resource_link", "size": "x", "name": 5}, "link: without a name"),
    ],
)
def test_a_block_in_one_line(wire: dict[str, object], says: str) -> None:
    assert line(content(wire), PLACE) == says


def test_a_text_resource_is_folded_with_its_name_and_type() -> None:
    shown = block(
        Content("resource", text="x = 1\n\n<b>$y$", uri="file:///w/a", mime_type="text/x-python"),
        PLACE,
        "a",
    )
    assert shown.startswith("<details><summary>")
    assert text_of(shown) == "resource: a · text/x-pythonx = 1\n\n<b>$y$"


def test_a_long_text_resource_shows_its_ends_and_counts_the_rest() -> None:
    text = "".join(f"line {i}\n" for i in range(100_000))
    shown = text_of(block(Content("resource", text=text, uri="a"), PLACE, "a"))
    assert len(shown) < 21_000
    assert "line 0\n" in shown
    assert shown.endswith("line 99999")
    assert f"{len(text) - 20_000:,}"[:3] in shown


def test_a_picture_in_a_resource_is_shown_and_other_bytes_are_named() -> None:
    gif = base64.b64encode(
        b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01"
        b"\x00\x00\x02\x02D\x01\x00;"
    ).decode()
    assert "data:image/gif" in block(Content("resource", data=gif, uri="a.gif"), PLACE, "a")
    other = block(Content("resource", data=BYTES, uri="a.bin"), PLACE, "a")
    assert text_of(other) == "resource: a.bin · 3.0 kB"
    broken = block(Content("resource", data="!", uri="a.bin"), PLACE, "a")
    assert "not shown: its data is not base64" in text_of(broken)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_link_to_a_page_can_be_followed(scheme: str) -> None:
    shown = block(Content("resource_link", uri=f"{scheme}://x.example/?a&b", name="X"), PLACE, "a")
    assert f'<a href="{scheme}://x.example/?a&amp;b" rel="noopener noreferrer">X</a>' in shown
    assert f"{scheme}://x.example/?a&b" in text_of(shown)  # where it leads can be read


@pytest.mark.parametrize(
    "uri", ["javascript:alert(1)", "data:text/html,x", "file:///w/a", "JaVaScRiPt:x", "vscode:x"]
)
def test_no_other_link_can(uri: str) -> None:
    shown = block(Content("resource_link", uri=uri, name="click me"), PLACE, "a")
    assert "<a " not in shown
    assert "click me" in text_of(shown)


NASTY = st.sampled_from(
    ["<img src=x onerror=a()>", "a\n\nb", "$x$ \\\\(", '"', "é\ud800", "https://x/\"onclick='", ""]
)


@given(
    st.builds(
        Content,
        type=st.sampled_from(["resource", "resource_link", "image", "audio"]) | NASTY,
        **dict.fromkeys(("text", "data", "mime_type", "uri", "name", "description"), NASTY),
    )
)
def test_whatever_an_agent_says_the_block_holds(one: Content) -> None:
    shown = block(one, PLACE, "a")
    assert "\n" not in shown
    assert "\n" not in line(one, PLACE)
    for render in RENDERERS:
        assert not harm_in(render(f"<div>{shown}</div>"))
