"""Pictures that the agent sends, shown in place; bytes are sniffed, never trusted by label."""

from __future__ import annotations

import base64
import binascii

from ..events import Content
from .html import escape, faint

MAGIC = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
MAX_BYTES = 4 * 1024 * 1024


def picture(content: Content) -> str:
    """An image block as HTML, or a line that says why it is not shown."""
    try:
        data = base64.b64decode(content.data, validate=True)
    except (binascii.Error, ValueError):
        return _not_shown(content, "its data is not base64")
    kind = sniff(data)
    if kind is None:
        return _not_shown(content, "it is not a PNG, JPEG, GIF or WebP image")
    if len(data) > MAX_BYTES:
        return _not_shown(content, f"it has {len(data)} bytes")
    encoded = base64.b64encode(data).decode()
    name = escape(content.name or "image")
    return f'<img alt="{name}" style="max-width:100%" src="data:{kind};base64,{encoded}">'


def describe(content: Content) -> str:
    """A content block that has no picture, as a line of HTML."""
    label = content.name or content.uri or content.mime_type or "without a name"
    return faint(escape(f"{content.type.replace('_', ' ') or 'content'}: {label}"))


def sniff(data: bytes) -> str | None:
    """The type of an image by its first bytes."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in MAGIC.items() if data.startswith(magic)), None)


def _not_shown(content: Content, why: str) -> str:
    return faint(escape(f"an image ({content.mime_type or 'no type'}) is not shown: {why}"))
