"""Pictures for a prompt: sniffed, turned the right way up, scaled down, without metadata.

Bytes come from outputs, files and objects, and are never trusted by their name. Pillow does the
work; what it cannot read, and what would be too large to unpack, is said and left out.
"""

from __future__ import annotations

import io
import warnings
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LONGEST_SIDE = 1_568
MOST_PIXELS = 50_000_000
FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
QUALITIES = (85, 70, 50)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much picture goes along: bytes of each and of all, their number, pixels of a side."""

    each: int = 1_000_000
    all: int = 3_000_000
    count: int = 4
    side: int = LONGEST_SIDE


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that is ready to be sent.

    Args:
        data: the file's bytes.
        mime_type: ``image/png`` or ``image/jpeg``.
        label: where it comes from, for people.
        notes: what was changed on the way.
    """

    data: bytes
    mime_type: str
    label: str
    notes: tuple[str, ...] = ()

    def block(self) -> dict[str, Any]:
        """The content block (protocol: ``ContentBlock``, type ``image``)."""
        return {
            "type": "image",
            "mimeType": self.mime_type,
            "data": b64encode(self.data).decode("ascii"),
        }


class NotAPicture(ValueError):
    """These bytes cannot be sent as a picture; says why."""


def prepare(data: bytes, label: str, limits: Limits) -> Picture:
    """Make a picture ready to be sent.

    Args:
        data: a PNG, JPEG, WebP or GIF file; of an animation the first frame is taken.
        label: where it comes from.

    Raises:
        NotAPicture: it is none, is damaged, or would be too large to unpack.
    """
    from PIL import Image, ImageOps

    try:
        with (
            warnings.catch_warnings(),
            Image.open(io.BytesIO(data), formats=list(FORMATS)) as image,
        ):
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            if image.width * image.height > MOST_PIXELS:
                raise NotAPicture(f"it has {image.width} × {image.height} pixels")
            image.load()
            upright = ImageOps.exif_transpose(image)
    except NotAPicture:
        raise
    except Exception as error:  # whatever a hostile file makes of a decoder
        raise NotAPicture(f"it cannot be read ({type(error).__name__})") from None
    scaled, notes = _scaled(upright, limits.side)
    return _encoded(scaled, label, limits.each, notes)


def choose(pictures: Sequence[Picture], limits: Limits) -> tuple[list[Picture], list[str]]:
    """The pictures that go along, of those given newest first, and a note for each that does not."""
    chosen: list[Picture] = []
    notes: list[str] = []
    for picture in pictures:
        size = sum(len(p.data) for p in chosen)
        if len(chosen) >= limits.count:
            notes.append(f"{picture.label} is not sent: at most {limits.count} pictures a turn")
        elif size + len(picture.data) > limits.all:
            notes.append(f"{picture.label} is not sent: more than {limits.all:,} bytes in all")
        else:
            chosen.append(picture)
    return chosen, notes


def _scaled(image: Any, side: int) -> tuple[Any, tuple[str, ...]]:
    from PIL import Image

    if max(image.size) <= side:
        return image, ()
    before = f"{image.width} × {image.height}"
    image = image.convert("RGBA" if image.mode in ("P", "LA", "PA") else image.mode)
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    return image, (f"scaled from {before} to {image.width} × {image.height}",)


def _encoded(image: Any, label: str, limit: int, notes: tuple[str, ...]) -> Picture:
    if image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
        image = image.convert("RGB")
    data = _saved(image, "PNG", optimize=True)
    if len(data) <= limit:
        return Picture(data, "image/png", label, notes)
    flat = _on_white(image)
    while True:
        for quality in QUALITIES:
            data = _saved(flat, "JPEG", quality=quality)
            if len(data) <= limit:
                return Picture(
                    data, "image/jpeg", label, (*notes, f"sent as JPEG, {len(data):,} bytes")
                )
        if min(flat.size) <= 1:
            raise NotAPicture(f"it does not fit in {limit:,} bytes")
        flat = flat.resize((max(1, flat.width // 2), max(1, flat.height // 2)))


def _saved(image: Any, form: str, **options: Any) -> bytes:
    # A new file from the pixels alone: no EXIF, no text, no colour profile comes along.
    out = io.BytesIO()
    clean = image.copy()
    clean.info = {k: v for k, v in image.info.items() if k == "transparency"}
    clean.save(out, form, **options)
    return out.getvalue()


def _on_white(image: Any) -> Any:
    from PIL import Image

    if image.mode in ("RGB", "L"):
        return image
    layered = image.convert("RGBA")
    white = Image.new("RGBA", layered.size, "white")
    return Image.alpha_composite(white, layered).convert("RGB")
