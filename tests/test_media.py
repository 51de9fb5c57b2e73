"""Pictures are known by their bytes; what is none is named."""

from __future__ import annotations

import base64

import pytest

from agy_kernel.display.media import MAX_BYTES, describe, picture, sniff
from agy_kernel.events import Content
from tests.support.renderers import text_of

HEADS = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\x00\x00\x00\x00WEBP",
}


def image(data: bytes, mime_type: str = "image/png", name: str = "") -> Content:
    return Content("image", data=base64.b64encode(data).decode(), mime_type=mime_type, name=name)


@pytest.mark.parametrize(("kind", "head"), HEADS.items(), ids=HEADS.keys())
def test_a_picture_is_shown_as_what_it_is(kind: str, head: bytes) -> None:
    assert sniff(head) == kind
    shown = picture(image(head, mime_type="text/html", name='"><script>'))
    assert f'src="data:{kind};base64,' in shown
    assert "<script" not in shown


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (image(b"<svg onload='alert(1)'/>", "image/svg+xml"), "not a PNG, JPEG, GIF or WebP"),
        (image(b""), "not a PNG"),
        (Content("image", data="not base64!", mime_type="image/png"), "not base64"),
        (Content("image", data="é"), "not base64"),
        (image(HEADS["image/png"] + b"x" * MAX_BYTES), "bytes"),
        (Content("image", uri="https://evil.example/"), "not a PNG"),
    ],
    ids=["svg", "nothing", "no base64", "no ASCII", "too large", "an address only"],
)
def test_what_is_not_shown_says_why(content: Content, why: str) -> None:
    shown = picture(content)
    assert "<img" not in shown
    assert why in text_of(shown)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (Content("resource_link", name="a.pdf", uri="file:///a.pdf"), "resource link: a.pdf"),
        (Content("resource", uri="file:///b"), "resource: file:///b"),
        (Content("audio", mime_type="audio/wav"), "audio: audio/wav"),
        (Content(""), "content: without a name"),
    ],
)
def test_anything_else_is_named(content: Content, says: str) -> None:
    assert text_of(describe(content)) == says
