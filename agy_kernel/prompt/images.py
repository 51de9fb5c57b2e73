"""Pictures for a prompt: sniffed, turned the right way up, scaled down, without metadata.

Bytes come from outputs, files and objects, and are never trusted by their name. Pillow does the
work; what it cannot read, and what would be too large to unpack, is said and left out.
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

LONGEST_SIDE = 1_568
MOST_PIXELS = 50_000_000
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
JPEGS = ("JPEG", "MPO")  # phones put several pictures in a file, and call it the same
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


def choose(
    candidates: Iterable[tuple[str, bytes]], limits: Limits
) -> tuple[list[Picture], list[tuple[str, str]]]:
    """The pictures that go along, and what does not, with the reason.

    Args:
        candidates: labels and bytes, in order of worth; what is over the count is not even read.
    """
    chosen: list[Picture] = []
    refused: list[tuple[str, str]] = []
    too_many: list[str] = []
    for label, data in candidates:
        if len(chosen) >= limits.count:
            too_many.append(label)
            continue
        try:
            picture = prepare(data, label, limits)
        except NotAPicture as problem:
            refused.append((label, str(problem)))
            continue
        if len(picture.data) + sum(len(p.data) for p in chosen) <= limits.all:
            chosen.append(picture)
        else:
            refused.append((label, f"with it there would be more than {limits.all:,} bytes"))
    if too_many:
        label = too_many[0] if len(too_many) == 1 else f"{len(too_many)} more pictures"
        refused.append((label, f"at most {limits.count} go with a prompt"))
    return chosen, refused


def prepare(data: bytes, label: str, limits: Limits) -> Picture:
    """Make a picture ready to be sent.

    Args:
        data: a PNG, JPEG, WebP or GIF file; of an animation the first frame is taken.
        label: where it comes from.

    Raises:
        NotAPicture: it is none, is damaged, or is too large to unpack or to send.
    """
    image, is_jpeg = _opened(data)
    scaled = _scaled(image, limits.side)
    if not is_jpeg and len(png := _encoded(scaled, "PNG")) <= limits.each:
        return Picture(png, "image/png", label, _notes(image, scaled))
    scaled, jpeg = _as_jpeg(scaled, limits.each)
    notes = _notes(image, scaled) + (() if is_jpeg else ("sent as JPEG",))
    return Picture(jpeg, "image/jpeg", label, notes)


def _opened(data: bytes) -> tuple[Any, bool]:
    """The pixels of a picture, the right way up, in 8 bits a channel; and whether it is a JPEG."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise NotAPicture(f"it has {image.width} × {image.height} pixels")
            return _plain(ImageOps.exif_transpose(image)), image.format in JPEGS
    except NotAPicture:
        raise
    except UnidentifiedImageError:
        raise NotAPicture("it is not a PNG, JPEG, WebP or GIF file") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise NotAPicture("it has too many pixels") from None
    except Exception as error:  # whatever a hostile file makes of a decoder
        raise NotAPicture(f"it is damaged ({type(error).__name__})") from None


def _plain(image: Any) -> Any:
    if image.mode.startswith("I"):
        image = image.point(lambda value: value * (1 / 256))  # 16 bits; convert() would clip them
        return image.convert("L")
    if image.mode not in ("L", "RGB", "RGBA") or image.has_transparency_data:
        return image.convert("RGBA" if image.has_transparency_data else "RGB")
    return image


def _scaled(image: Any, side: int) -> Any:
    from PIL import Image

    if max(image.size) <= side:
        return image
    scaled = image.copy()
    scaled.thumbnail((side, side), Image.Resampling.LANCZOS)
    return scaled


def _as_jpeg(image: Any, limit: int) -> tuple[Any, bytes]:
    image = _on_white(image)
    while True:
        for quality in QUALITIES:
            data = _encoded(image, "JPEG", quality=quality)
            if len(data) <= limit:
                return image, data
        if max(image.size) == 1:
            raise NotAPicture(f"it does not fit in {limit:,} bytes")
        image = image.resize((max(1, image.width // 2), max(1, image.height // 2)))


def _encoded(image: Any, form: str, **options: Any) -> bytes:
    # From the pixels alone: no EXIF, no text, no colour profile comes along.
    image.info = {}
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def _on_white(image: Any) -> Any:
    from PIL import Image

    if image.mode != "RGBA":
        return image
    white = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(white, image).convert("RGB")


def _notes(before: Any, after: Any) -> tuple[str, ...]:
    if before.size == after.size:
        return ()
    return (f"scaled from {before.width} × {before.height} to {after.width} × {after.height}",)
