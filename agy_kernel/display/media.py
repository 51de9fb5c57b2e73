"""Pictures and sounds that the agent sends, shown in place; known by their bytes, not by label.

Nothing is loaded from elsewhere: an address could carry out what the agent has read. A path is
looked at only if it leads into the session's folder (public report 63).
"""

from __future__ import annotations

import base64
import binascii
import io
import os
import stat
from collections.abc import Hashable
from hashlib import blake2b
from urllib.parse import unquote, urlsplit

from ..errors import shortened
from ..events import Content
from .html import escape, faint
from .place import Place

IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
SOUNDS = {
    b"OggS": "audio/ogg",
    b"fLaC": "audio/flac",
    b"ID3": "audio/mpeg",
    b"\xff\xfb": "audio/mpeg",
    b"\xff\xfa": "audio/mpeg",
    b"\xff\xf3": "audio/mpeg",
    b"\xff\xf2": "audio/mpeg",
}
IN_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
WANTED = {
    "image": "it is not a PNG, JPEG, GIF or WebP image",
    "audio": "it is not a WAV, MP3, Ogg or FLAC sound",
}
FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
LONGEST_WORDS = 1_000
MOST_PIXELS = 50_000_000  # a few kilobytes can unpack to more than a browser has


class NotShown(Exception):
    """This cannot be shown; says why."""


def medium(content: Content, place: Place, owner: Hashable) -> str:
    """An image or audio block as HTML, or a line that says why it is not shown.

    Args:
        owner: the entry that it stands in.
    """
    try:
        data = _bytes_of(content, place)
        kind = sniff(data)
        if kind is None or not kind.startswith(f"{content.type}/"):
            raise NotShown(WANTED[content.type])
        return embedded(data, kind, content.name, place, owner)
    except NotShown as problem:
        kind = shortened(content.mime_type or "no type", LONGEST_WORDS)
        article = "an image" if content.type == "image" else "a sound"
        where = (
            f" at {shortened(place.relative(content.uri), LONGEST_WORDS)}" if content.uri else ""
        )
        return faint(escape(f"{article} ({kind}){where} is not shown: {problem}"))


def embedded(data: bytes, kind: str, name: str, place: Place, owner: Hashable) -> str:
    """A file of a kind that ``sniff`` has told, as HTML.

    Raises:
        NotShown: it is too large, or this turn has shown enough.
    """
    if why := place.album.refuses((owner, blake2b(data).digest()), len(data)):
        raise NotShown(why)
    source = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    if kind.startswith("audio/"):
        label = escape(shortened(name, LONGEST_WORDS) or "sound")
        return f'<div><audio controls src="{source}">{label}</audio></div>'
    if why := _why_not_drawn(data):
        raise NotShown(why)
    label = escape(shortened(name, LONGEST_WORDS) or "image")
    return f'<img alt="{label}" style="max-width:100%" src="{source}">'


def sniff(data: bytes) -> str | None:
    """The type of a picture or a sound by its first bytes; None for anything else."""
    if data[:4] == b"RIFF":
        return IN_RIFF.get(data[8:12])
    known = {**IMAGES, **SOUNDS}
    return next((kind for magic, kind in known.items() if data.startswith(magic)), None)


def decoded(text: str, place: Place) -> bytes:
    """The bytes behind base64, which may be a ``data:`` address.

    Raises:
        NotShown: it is no base64, or so long that nobody needs to look into it.
    """
    if len(text) * 3 // 4 > 2 * place.album.each:
        raise NotShown(f"it has about {len(text) * 3 // 4:,} bytes")
    if text.startswith("data:"):
        text = text.partition(",")[2]
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise NotShown("its data is not base64") from None


def path_of(uri: str) -> str:
    """The path that a ``file:`` address or a bare path names; nothing for any other address."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    if parts.scheme == "file":
        return unquote(parts.path) if parts.netloc in ("", "localhost") else ""
    return "" if parts.scheme or parts.netloc else uri


def read_inside(path: str, place: Place) -> bytes:
    """The bytes of a file that lies in the session's folder.

    Raises:
        NotShown: it lies elsewhere, is missing, no plain file, or too large.
    """
    file = place.inside(path)
    if file is None:
        raise NotShown("it lies outside the session's folder")
    try:
        # Resolved just now: what has become a link since is not followed, a pipe not waited for.
        with os.fdopen(os.open(file, FLAGS), "rb") as opened:
            state = os.fstat(opened.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise NotShown("it is no file")
            data = opened.read(place.album.each + 1)
    except OSError as error:
        raise NotShown((error.strerror or "it cannot be read").lower()) from None
    if why := place.album.is_too_large(max(len(data), state.st_size)):
        raise NotShown(why)
    return data


def _bytes_of(content: Content, place: Place) -> bytes:
    if content.data:
        return decoded(content.data, place)
    if path := path_of(content.uri):
        return read_inside(path, place)
    raise NotShown("it is somewhere else, and is not fetched" if content.uri else "it is empty")


def _why_not_drawn(data: bytes) -> str:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            too_many = image.width * image.height > MOST_PIXELS
            return f"it has {image.width} × {image.height} pixels" if too_many else ""
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return "it has too many pixels"
    except Exception as error:  # whatever a hostile file makes of a decoder
        return f"it is damaged ({type(error).__name__})"
