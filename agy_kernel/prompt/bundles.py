"""MIME bundles, Jupyter's way to say what something looks like."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from .cells import CellOutput, OutputKind
from .tidy import html_as_text

PICTURE_TYPES = ("image/png", "image/jpeg")
# What Python says of an object that has nothing to say of itself.
ADDRESS = re.compile(r"<[^<>\n]*(?: object| at 0x[0-9a-f]+)>\Z")
LARGEST_MARKUP = 1_000_000  # characters; more is a program, not a table


def from_bundle(kind: OutputKind, bundle: Mapping[str, Any], display_id: str = "") -> CellOutput:
    """A cell output of a MIME bundle: its text, and its picture if it has one."""
    return CellOutput(kind, _text(bundle), picture_in(bundle), display_id)


def picture_in(bundle: Mapping[str, Any]) -> bytes | None:
    """The bytes of the picture in a MIME bundle; None if it has none."""
    return next((p for t in PICTURE_TYPES if (p := decoded(bundle.get(t)))), None)


def decoded(data: Any) -> bytes | None:
    """The bytes of a picture that is given as bytes or base64; None if it is neither."""
    if isinstance(data, bytes):
        return data
    try:
        return b64decode(data) if isinstance(data, str) else None
    except ValueError:
        return None


def _text(bundle: Mapping[str, Any]) -> str:
    markdown, plain, markup = (
        text if isinstance(text := bundle.get(mime_type), str) else ""
        for mime_type in ("text/markdown", "text/plain", "text/html")
    )
    if markdown or not markup or (plain and not ADDRESS.match(plain)):
        return markdown or plain
    return html_as_text(markup) if len(markup) <= LARGEST_MARKUP else plain
